"""New functions at module level: where they go, and how code that moves there is laid out."""

from __future__ import annotations

import io
import re
import tokenize

import libcst as cst

from dataloader_lint.edits.editor import Editor
from dataloader_lint.edits.repair import Edit, RefusedError
from dataloader_lint.edits.statements import start_with_comments
from dataloader_lint.edits.work import DEFINITIONS, IMPORTS, first_work
from dataloader_lint.semantics.syntax.names import bindings_of
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.source.decoding import split_lines

_BLANK = " \t\f\r\n"
_BLANKS = re.compile(rf"[{_BLANK}]*")
_LINE_END = re.compile(r"\r\n|\r|\n")
_WORD = re.compile(r"\w+")
_WITH_ENDS = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")


def add_function(editor: Editor, use: Node, code: str, *, at_use: bool = False) -> tuple[Edit, ...]:
    """Put a function before the top-level statement that holds `use`, above its comments.

    Where that is part of a script, it goes above the script's work, which then can move under a main guard; with
    `at_use` (a notebook's cell must hold what it needs) it does not. `code` is laid out already, without a newline at
    its end. Two blank lines stand around it; those that the file has are left as they are.
    """
    below = top_statement(editor, use)
    place = start_with_comments(editor, below if at_use else _above_work(editor, below, code))
    above = editor.newline * missing_before(editor, place)
    blank_lines = (Edit(place, place, above),) if above else ()  # once, where several functions are put here
    return (*blank_lines, Edit(place, place, code + editor.newline * 3))


def _above_work(editor: Editor, statement: Node, code: str) -> Node:
    """The first statement of the script's work above a statement, if no definition, import or name stands between."""
    if isinstance(statement, DEFINITIONS):
        return statement
    body = list(editor.tree.module.body)
    end = next(index for index, each in enumerate(body) if each is statement)
    fixed = (*DEFINITIONS, *IMPORTS)
    above = [any(isinstance(node, fixed) for node in editor.tree.walk(each)) for each in body[:end]]
    last = max((index for index, is_fixed in enumerate(above) if is_fixed), default=-1)
    work = first_work(body[last + 1 :], statement)
    # Its decorators, annotations and defaults are evaluated where it stands.
    line_end = _LINE_END.search(code, code.index("def "))
    head = set(_WORD.findall(code[: line_end.start() if line_end is not None else len(code)]))
    between = {id(node) for each in body[last + 1 : end] for node in editor.tree.walk(each)}
    bound = bindings_of(editor.tree.root)
    is_early = any(id(one.node) in between for name in head & bound.keys() for one in bound[name])
    return statement if is_early else work


def top_statement(editor: Editor, node: Node) -> Node:
    """The statement directly in the module that holds a node."""
    module = editor.tree.module
    for each in (node, *editor.tree.ancestors(node)):
        if editor.tree.parent(each) is module:
            return each
    raise RefusedError("no statement holds the node")


def missing_before(editor: Editor, place: int) -> int:
    """How many newlines are missing for two blank lines above a place where a line begins."""
    start = place
    while start > 0 and editor.text[start - 1] in _BLANK:
        start -= 1
    if start == 0:
        return 0  # nothing stands above
    # The first newline found ends the line above.
    return max(0, 3 - len(_LINE_END.findall(editor.text, start, place)))


def missing_after(editor: Editor, place: int) -> int:
    """How many newlines are missing for two blank lines below a line that ends at `place`; none at the file's end."""
    found = _BLANKS.match(editor.text, place)
    assert found is not None
    if found.end() == len(editor.text):
        return 0
    return max(0, 3 - len(_LINE_END.findall(found.group())))


def shifted(editor: Editor, code: str, indentation: str, wanted: str, is_docstring_moved: bool = False) -> str:
    """Lines that begin with `indentation` (the first one apart) with `wanted` in its place.

    What stands inside of strings is left alone, but for a docstring that moves with its function.
    """
    lines = _WITH_ENDS.split(code)
    kept = _inside_strings(code, is_docstring_moved)
    made = lines[:1]
    for number, line in enumerate(lines[1:], start=2):
        if number in kept or not line.strip():
            made.append(line)
        elif line.startswith(indentation):
            made.append(wanted + line[len(indentation) :])
        elif line.lstrip().startswith("#"):
            made.append(wanted + line.lstrip())
        else:
            raise RefusedError("a line is indented less")
    return "".join(made)


def _inside_strings(code: str, is_docstring_moved: bool) -> set[int]:
    """The numbers of the lines that begin inside of a string."""
    inside: set[int] = set()
    depth_at: list[int] = []  # where f-strings that are still open began
    previous: tokenize.TokenInfo | None = None
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO("\n".join(split_lines(code))).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise RefusedError("code that cannot be taken apart") from error
    for index, token in enumerate(tokens):
        name = tokenize.tok_name[token.type]
        if name in ("FSTRING_START", "TSTRING_START"):
            depth_at.append(token.start[0])
        elif name in ("FSTRING_END", "TSTRING_END") and depth_at:
            inside.update(range(depth_at.pop() + 1, token.end[0] + 1))
        elif token.type == tokenize.STRING and token.end[0] > token.start[0]:
            alone = index + 1 < len(tokens) and tokens[index + 1].type == tokenize.NEWLINE
            stands_first = previous is not None and previous.type == tokenize.INDENT
            if not (is_docstring_moved and alone and stands_first):
                inside.update(range(token.start[0] + 1, token.end[0] + 1))
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            previous = token
    return inside


def parameter_list(editor: Editor, parameters: cst.Parameters, bound: tuple[str, ...], hints: dict[str, str]) -> str:
    """The parameters of a lambda or function, as code, with the names in `bound` added.

    Those of its own parameters that `bound` names lose their default and join the others. `hints` annotates by name.
    """
    parts: list[str] = []

    def one(param: cst.Param, star: str = "") -> None:
        name = param.name.value
        hint = f": {hints[name]}" if name in hints else ""
        default = ""
        if param.default is not None:
            default = f"{' = ' if hint else '='}{editor.code(param.default)}"
        parts.append(f"{star}{name}{hint}{default}")

    positional = [each for each in (*parameters.posonly_params, *parameters.params) if each.name.value not in bound]
    for each in positional:
        one(each)
        if parameters.posonly_params and each is parameters.posonly_params[-1]:
            parts.append("/")
    star = parameters.star_arg if isinstance(parameters.star_arg, cst.Param) else None
    only = [each for each in parameters.kwonly_params if each.name.value not in bound]
    if star is not None:
        one(star, "*")
    elif only or (bound and any(each.default is not None for each in positional)):
        parts.append("*")
    for each in only:
        one(each)
    parts += [f"{name}: {hints[name]}" if name in hints else name for name in bound]
    if parameters.star_kwarg is not None:
        one(parameters.star_kwarg, "**")
    return ", ".join(parts)
