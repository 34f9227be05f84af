"""Things between commas: arguments of a call, elements of a dict display."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from dataloader_lint.edits.editor import Editor, has_comment
from dataloader_lint.edits.repair import Edit, RefusedError
from dataloader_lint.semantics.syntax.tree import Node

_BLANK = re.compile(r"[ \t\f]*")


def remove_argument(editor: Editor, call: cst.Call, arg: cst.Arg) -> Edit:
    """Remove an argument with its comma. Comments beside it and above it stay where they are."""
    first = editor.text.index("(", editor.outer(call.func)[1]) + 1
    return _remove(editor, call.args, arg, first, editor.end(call) - 1)


def remove_element(editor: Editor, display: cst.Dict | cst.List | cst.Set, element: Node) -> Edit:
    """Remove an element of a dict, list or set display with its comma; comments stay where they are."""
    return _remove(editor, display.elements, element, editor.start(display) + 1, editor.end(display) - 1)


def add_argument(editor: Editor, call: cst.Call, code: str) -> Edit:
    """Add a keyword argument at the end of a call, in the layout that its arguments have."""
    closing = editor.end(call) - 1
    if not call.args:
        opening = editor.text.index("(", editor.outer(call.func)[1]) + 1
        if has_comment(editor.text[opening:closing]):
            raise RefusedError("a comment is in the way")
        return Edit(opening, closing, code)
    last = call.args[-1]
    start, end = editor.start(last), editor.end(last)
    if isinstance(last.value, cst.GeneratorExp) and not editor.is_in_parentheses(last.value):
        raise RefusedError("a bare generator expression stays alone")
    comma = _comma(editor, end, closing)
    before = editor.text[editor.line_start(start) : start]
    if "\n" not in _normal(editor.text[end:closing]) or before.strip():
        return Edit(end, end, f", {code}")  # on one line, or several arguments on the last line
    if comma is None:
        if has_comment(editor.text[end:closing]):
            raise RefusedError("a comment is in the way")
        return Edit(end, end, f",{editor.newline}{before}{code}")
    line_end = editor.line_end(comma)
    if editor.text[comma:line_end].strip() and line_end < closing:
        # A comment stays beside the argument that it describes.
        return Edit(line_end, line_end, f"{editor.newline}{before}{code},")
    return Edit(comma, comma, f"{editor.newline}{before}{code},")


def _normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _remove(editor: Editor, items: Sequence[Node], item: Node, opening: int, closing: int) -> Edit:
    text = editor.text
    number = next(index for index, each in enumerate(items) if each is item)
    start, end = _extent(editor, item)
    if has_comment(text[start:end]):
        raise RefusedError("a comment would be lost")
    before = _extent(editor, items[number - 1])[1] if number else opening
    after = _extent(editor, items[number + 1])[0] if number + 1 < len(items) else closing
    comma = _comma(editor, end, after)
    if comma is None and after != closing:
        raise RefusedError("something stands before the comma")
    line_start, is_first = editor.line_start(start), not text[editor.line_start(start) : start].strip()
    end = comma if comma is not None else end
    blank = _blank_after(text, end)
    if blank == after != closing or (text[blank : blank + 1] == "\\" and not has_comment(text[end:after])):
        return Edit(start, after, "")  # the line goes on with the next one
    if blank == after and not has_comment(text[before:start]):
        # The bracket closes on this line. What is before keeps its comma only where there was one at the end.
        kept = _comma(editor, before, start) if comma is not None else None
        return Edit(before if kept is None else kept, after if number == 0 else end, "")
    if is_first and text[blank : blank + 1] in ("\r", "\n", ""):
        return Edit(line_start, editor.next_line(end), "")
    if is_first:
        return Edit(start, blank, "")  # a comment beside it, or the closing bracket
    return Edit(_blank_before(text, start), end, "")


def _extent(editor: Editor, item: Node) -> tuple[int, int]:
    """An argument or element from its first to its last sign; LibCST leaves the parentheses of a bare one out."""
    value = getattr(item, "value", None)
    if isinstance(item, cst.Arg) and (item.keyword is not None or item.star):
        return editor.start(item), max(editor.end(item), editor.outer(item.value)[1])
    if isinstance(item, cst.DictElement):
        return editor.outer(item.key)[0], editor.outer(item.value)[1]
    if isinstance(value, cst.BaseExpression):
        return min(editor.start(item), editor.outer(value)[0]), max(editor.end(item), editor.outer(value)[1])
    return editor.start(item), editor.end(item)


def _comma(editor: Editor, start: int, end: int) -> int | None:
    """Behind the comma that follows over blank space; None where none follows before `end`."""
    between = editor.text[start:end]
    rest = between.lstrip(" \t\f\r\n\\")
    return end - len(rest) + 1 if rest.startswith(",") else None


def _blank_after(text: str, offset: int) -> int:
    found = _BLANK.match(text, offset)
    assert found is not None
    return found.end()


def _blank_before(text: str, offset: int) -> int:
    while offset > 0 and text[offset - 1] in " \t\f":
        offset -= 1
    return offset
