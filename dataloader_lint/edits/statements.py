"""Whole statements: put before or after others, or taken away. Comments stay with the statement below them."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.edits.editor import Editor, exchange
from dataloader_lint.edits.repair import Edit, RefusedError
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.source.decoding import split_lines


def insert_before(editor: Editor, node: Node, code: str) -> Edit:
    """Put a statement before the one that holds `node`, above its comments, with the indentation of its block.

    `code` is one statement without a newline at its end; its own lines are indented from the left margin.
    """
    statement = _statement(editor, node)
    start = first_offset(editor, statement)
    if editor.text[editor.line_start(start) : start].strip():
        return Edit(start, start, _inline(code) + "; ")  # `if x: statement`
    place = start_with_comments(editor, statement)
    return Edit(place, place, _laid_out(editor, code, editor.indentation(start)) + editor.newline)


def insert_after(editor: Editor, node: Node, code: str) -> Edit:
    """Put a statement after the one that holds `node`, behind the comment beside it."""
    statement = _statement(editor, node)
    start, end = first_offset(editor, statement), editor.end(statement)
    if editor.text[editor.line_start(start) : start].strip():
        return Edit(end, end, "; " + _inline(code))
    line_end = editor.line_end(end)
    return Edit(line_end, line_end, editor.newline + _laid_out(editor, code, editor.indentation(start)))


def remove_statement(editor: Editor, node: Node, moved: str = "") -> Edit:
    """Take the statement away that holds `node`; `pass` takes its place where its block would be empty.

    Refused where a comment inside of it would be lost that is not in `moved`, what goes elsewhere.
    """
    statement = _statement(editor, node)
    start, end = first_offset(editor, statement), editor.end(statement)
    exchange(editor, start, end, moved)
    above = editor.tree.parent(statement)
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) > 1:
        raise RefusedError("several statements on one line")
    if editor.text[editor.line_start(start) : start].strip() or len(getattr(above, "body", ())) < 2:
        return Edit(start, end, "pass")
    line_end = editor.line_end(end)
    if editor.text[end:line_end].strip():
        return Edit(start, line_end - len(editor.text[end:line_end].lstrip()), "")
    return Edit(editor.line_start(start), editor.next_line(end), "")


def first_offset(editor: Editor, statement: Node) -> int:
    """Where a statement begins, its decorators among it."""
    decorators = getattr(statement, "decorators", ())
    return editor.start(decorators[0] if decorators else statement)


def start_with_comments(editor: Editor, statement: Node) -> int:
    """The beginning of the line where a statement begins, or the comments that stand directly above it.

    A comment on the file's first lines belongs to the file.
    """
    start = editor.line_start(first_offset(editor, statement))
    indentation = editor.indentation(start)
    place = start
    while place > 0:
        line = editor.line_start(place - 1)
        if not editor.text[line:place].lstrip(" \t\f").startswith("#") or editor.indentation(line) != indentation:
            return place
        place = line
    return start


def _statement(editor: Editor, node: Node) -> Node:
    """The statement to put something beside: one that stands in a block, or the statements behind a colon."""
    for each in (node, *editor.tree.ancestors(node)):
        if isinstance(each, cst.SimpleStatementSuite):
            return each
        if isinstance(each, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            if isinstance(editor.tree.parent(each), cst.IndentedBlock | cst.Module):
                return each
            raise RefusedError("nothing can stand before an elif")
    raise RefusedError("no statement holds the node")


def _inline(code: str) -> str:
    if "\n" in code or code.endswith(":"):
        raise RefusedError("several statements on one line")
    return code


def _laid_out(editor: Editor, code: str, indentation: str) -> str:
    """Code with `\\n` and four spaces a level, in the newlines and the indentation of the file."""
    lines = []
    for line in split_lines(code):
        bare = line.lstrip(" ")
        levels = (len(line) - len(bare)) // 4
        lines.append(f"{indentation}{editor.indent * levels}{bare}" if bare else "")
    return editor.newline.join(lines)
