"""Which lines of a text hold its statements, as Python's own parser tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from dataloader_lint.source.fast_tree.statements import COMPOUND, by_line

_BLOCKS = ("body", "handlers", "orelse", "finalbody")  # of statements, in the order in which they are written

# The first and the last line, from 1.
Lines = tuple[int, int]


class Extents(NamedTuple):
    """The lines of the statements at the top of a text and those of all its functions, both in document order."""

    top: list[Lines]
    functions: list[Lines]


def extents(parsed: ast.Module) -> Extents:
    """The lines of each statement, from Python's own syntax tree. Small statements that share a line are one."""
    top = [(_first_line(line[0]), line[-1].end_lineno or 0) for line in by_line(parsed.body)]
    return Extents(top, list(_functions(parsed.body)))


def _functions(block: list[ast.stmt]) -> Iterator[Lines]:
    for statement in block:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield _first_line(statement), statement.end_lineno or 0
        if isinstance(statement, (*COMPOUND, ast.excepthandler)):
            for field in _BLOCKS:
                yield from _functions(getattr(statement, field, []))


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])
