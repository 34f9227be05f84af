"""Lines that an edit would make longer than any line of their file, broken as their author would break them."""

from __future__ import annotations

from itertools import pairwise

import libcst as cst

from dataloader_lint.edits.editor import Editor, has_comment
from dataloader_lint.edits.repair import Edit
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.source.decoding import split_lines

# What PEP 8 gives a line; a file of shorter ones has room up to there.
_SHORTEST_LIMIT = 79


def keep_width(editor: Editor, call: cst.Call, argument: str) -> tuple[Edit, ...]:
    """The edits that break the line of a statement where each call of a method, such as `call`, gets one argument more.

    None where it still fits: the file's own longest line is the limit. `a, b = x.cuda(), y.cuda()` becomes two
    statements; in `model(x.cuda(), y.cuda())` the arguments get a line of their own. The same for each call of the
    statement, so that its repairs agree.
    """
    tree = editor.tree
    line = next((each for each in tree.ancestors(call) if isinstance(each, cst.SimpleStatementLine)), None)
    if line is None or len(line.body) != 1:
        return ()
    start, end = editor.start(line.body[0]), editor.end(line.body[0])
    first, last = editor.line_start(start), editor.line_end(start)
    method = last_name(call.func)
    added = len(argument) * sum(last_name(each.func) == method for each in tree.find(line, cst.Call))
    longest = editor.once("longest", lambda: max(map(len, split_lines(editor.text)), default=0))
    if end > last or last - first + added <= max(longest, _SHORTEST_LIMIT) or has_comment(editor.text[end:last]):
        return ()
    indentation = editor.text[first:start]
    if indentation.strip() or any(isinstance(each, cst.FormattedString) for each in tree.ancestors(call)):
        return ()
    return _apart(editor, line.body[0], method, indentation) or _wrapped(editor, call, indentation)


def _apart(editor: Editor, statement: Node, method: str, indentation: str) -> tuple[Edit, ...]:
    """`a, b = x.cuda(), y.cuda()` as one statement for each name, if none can read a name that an earlier one binds."""
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return ()
    target, value = statement.targets[0].target, statement.value
    if not isinstance(target, cst.Tuple) or not isinstance(value, cst.Tuple):
        return ()
    if editor.is_in_parentheses(target) or editor.is_in_parentheses(value):
        return ()
    plain = [each for each in target.elements if isinstance(each, cst.Element) and isinstance(each.value, cst.Name)]
    names = [dotted(each.value) for each in plain]
    values = [each.value for each in value.elements if isinstance(each, cst.Element)]
    if not len(names) == len(values) == len(target.elements) == len(value.elements):
        return ()
    for number, each in enumerate(values):
        calls_others = any(last_name(call.func) != method for call in editor.tree.find(each, cst.Call))
        if calls_others or any(name.value in names[:number] for name in editor.tree.find(each, cst.Name)):
            return ()
    places = [editor.outer(each) for each in values]
    head = Edit(editor.start(statement), places[0][0], f"{names[0]} = ")
    breaks = (
        Edit(above[1], below[0], f"{editor.newline}{indentation}{name} = ")
        for (above, below), name in zip(pairwise(places), names[1:], strict=True)
    )
    return (head, *breaks)


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
