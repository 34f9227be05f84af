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


class Nesting:
    """The lines of all statements of a text, those of blocks inside of those of their statements."""

    def __init__(self, parsed: ast.Module) -> None:
        self._lines: list[Lines] = []
        self._outer: list[int] = []  # by number of a statement, that of the one around it; -1 at the top
        self._innermost: dict[int, int] = {}
        self._add(parsed.body, -1)

    def _add(self, block: list[ast.stmt], outer: int) -> None:
        for line in by_line(block):
            first, last = _first_line(line[0]), line[-1].end_lineno or 0
            number = len(self._lines)
            self._lines.append((first, last))
            self._outer.append(outer)
            self._innermost.update(dict.fromkeys(range(first, last + 1), number))
            for statement in line:
                if isinstance(statement, COMPOUND):
                    self._add_blocks(statement, number)

    def _add_blocks(self, node: ast.stmt | ast.excepthandler, outer: int) -> None:
        for field in _BLOCKS:
            inside = getattr(node, field, [])
            if field == "handlers":
                for handler in inside:
                    self._add_blocks(handler, outer)
            else:
                self._add(inside, outer)

    def around(self, first: int, last: int) -> Iterator[Lines]:
        """The statements that hold some lines whole, from the inside out.

        Where none does, one after the other from that of the first line to that of the last.
        """
        ends = [list(self._outwards(line)) for line in (first, last)]
        found = [(start, end) for start, end in ends[0] if last <= end]
        yield from found
        if not found:
            yield min([first, *(start for start, _ in ends[0])]), max([last, *(end for _, end in ends[1])])

    def _outwards(self, line: int) -> Iterator[Lines]:
        number = self._innermost.get(line, -1)
        while number >= 0:
            yield self._lines[number]
            number = self._outer[number]


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
