"""Lines that an edit would make longer than any line of their file, broken as their author would break them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from dataloader_lint.edits.arguments import add_argument
from dataloader_lint.edits.editor import Editor, has_comment
from dataloader_lint.edits.repair import Edit
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.source.decoding import split_lines

# What PEP 8 gives a line, a file of shorter ones has room up to there; longer ones than the other are no model.
_SHORTEST_LIMIT, _LONGEST_LIMIT = 79, 120
_NO_JOIN = re.compile(r"""\\|\"{3}|'{3}|,\s*[)\]}]""")  # a comma before a bracket asks for lines of their own
_LINE_BREAK = re.compile(r"[ \t]{0,20}(?:\r\n|\r|\n)[ \t]*")


def pass_flag(editor: Editor, call: cst.Call, flag: str) -> tuple[Edit, ...]:
    """The edits that pass a flag, `non_blocking=True`, to a call, and break the line where it would grow too long.

    The limit is the file's own longest line. `a, b = x.cuda(), y.cuda()` becomes two statements, also where it already
    takes several lines; in `model(x.cuda(), y.cuda())` the arguments get a line of their own. The breaks are those that
    a statement needs whose calls of this method all get the flag, so that their repairs agree.
    """
    tree = editor.tree
    line = next((each for each in tree.ancestors(call) if isinstance(each, cst.SimpleStatementLine)), None)
    added = add_argument(editor, call, flag)
    if line is None or len(line.body) != 1:
        return (added,)
    statement, method = line.body[0], last_name(call.func)
    start, end = editor.start(statement), editor.end(statement)
    indentation = editor.text[editor.line_start(start) : start]
    if indentation.strip() or has_comment(editor.text[start : editor.line_end(end)]):
        return (added,)
    longest = editor.once("longest", lambda: max(map(len, split_lines(editor.text)), default=0))
    limit = max(min(longest, _LONGEST_LIMIT), _SHORTEST_LIMIT)
    growth = len(f", {flag}")
    calls = sum(last_name(each.func) == method for each in tree.find(line, cst.Call))
    parts = _parts(editor, statement, method)
    if end > editor.line_end(start):
        joins = [each for _, value in parts for each in _joins(editor, value)]
        widths = [len(f"{name} = {_LINE_BREAK.sub(' ', editor.code(value))}") for name, value in parts]
        is_odd = _NO_JOIN.search(editor.text, start, end) is not None
        if is_odd or not joins or not call.args or len(indentation) + max(widths) + growth > limit:
            return (added,)
        behind = editor.outer(call.args[-1].value)[1]
        return (Edit(behind, behind, f", {flag}"), *joins, *_apart(editor, statement, parts, indentation))
    if len(indentation) + end - start + growth * calls <= limit:
        return (added,)
    if any(isinstance(each, cst.FormattedString) for each in tree.ancestors(call)):
        return (added,)
    return (added, *(_apart(editor, statement, parts, indentation) or _wrapped(editor, call, indentation)))


def _parts(editor: Editor, statement: Node, method: str) -> list[tuple[str, cst.BaseExpression]]:
    """The names and values of `a, b = x.cuda(), y.cuda()`, if no value can read a name that an earlier one binds."""
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return []
    target, value = statement.targets[0].target, statement.value
    if not isinstance(target, cst.Tuple) or not isinstance(value, cst.Tuple):
        return []
    if editor.is_in_parentheses(target) or editor.is_in_parentheses(value):
        return []
    plain = [each for each in target.elements if isinstance(each, cst.Element) and isinstance(each.value, cst.Name)]
    names = [dotted(each.value) for each in plain]
    values = [each.value for each in value.elements if isinstance(each, cst.Element)]
    if not len(names) == len(values) == len(target.elements) == len(value.elements):
        return []
    for number, each in enumerate(values):
        calls_others = any(last_name(call.func) != method for call in editor.tree.find(each, cst.Call))
        if calls_others or any(name.value in names[:number] for name in editor.tree.find(each, cst.Name)):
            return []
    return list(zip(names, values, strict=True))


def _apart(
    editor: Editor, statement: Node, parts: list[tuple[str, cst.BaseExpression]], indentation: str
) -> tuple[Edit, ...]:
    """Each name and value as a statement of its own."""
    if not parts:
        return ()
    places = [editor.outer(value) for _, value in parts]
    head = Edit(editor.start(statement), places[0][0], f"{parts[0][0]} = ")
    breaks = (
        Edit(above[1], below[0], f"{editor.newline}{indentation}{name} = ")
        for (above, below), (name, _) in zip(pairwise(places), parts[1:], strict=True)
    )
    return (head, *breaks)


def _joins(editor: Editor, value: cst.BaseExpression) -> Iterator[Edit]:
    """The edits that put a value on one line."""
    start, end = editor.outer(value)
    for found in _LINE_BREAK.finditer(editor.text, start, end):
        is_inside = editor.text[found.start() - 1] in "([{" or editor.text[found.end()] in ")]}."
        yield Edit(found.start(), found.end(), "" if is_inside else " ")


def _wrapped(editor: Editor, call: cst.Call, indentation: str) -> tuple[Edit, ...]:
    """The arguments of the outermost call that a call is an argument of on a line of their own."""
    outer = next((each for each in reversed(list(editor.tree.ancestors(call))) if isinstance(each, cst.Call)), None)
    if outer is None or any(each is call for each in editor.tree.walk(outer.func)):
        return ()
    opening, closing = editor.text.index("(", editor.outer(outer.func)[1]) + 1, editor.end(outer) - 1
    return (
        Edit(opening, opening, f"{editor.newline}{indentation}{editor.indent}"),
        Edit(closing, closing, f"{editor.newline}{indentation}"),
    )
