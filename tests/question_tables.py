"""Tables *program → answer* in Markdown, one file for each question that the engine answers.

A section (`## Dicts`) has blocks of Python. A blank line ends a program. A line that ends with `# -> answer` is a row
and a test. Code before the first section comes before each program, or around it, if a line of it is `...`. In the
section "Not known" an answer says what is right as well: `# -> unknown instead of 4`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import NamedTuple, TypeVar

import libcst as cst
import pytest

from asking import IMPORTS, Asked, file_of
from dataloader_lint.pipeline.file import File
from dataloader_lint.semantics.syntax.layout import first_line

N = TypeVar("N", bound=cst.CSTNode)

_ROW = re.compile(r"^\s*(?P<code>.*\S)  # -> (?P<answer>\S.*)$")
_analysed = cache(file_of)


class Row(NamedTuple):
    """One line of a program, and the answer to the question of its table."""

    program: str
    number: int  # of the line, from 1
    code: str
    answer: str
    name: str  # of the test

    @property
    def file(self) -> File:
        """The program as rules see it, behind the usual imports; the rows of one program share it."""
        return _analysed(self.program)

    def has(self, node: cst.CSTNode) -> bool:
        """True if a node of the program begins on the line."""
        return first_line(self.file.tree, node) == self.number + IMPORTS.count("\n") + 1

    def node(self, kind: type[N]) -> N:
        """The node of a kind that begins on the line."""
        return next(each for each in self.file.tree.find(self.file.tree.module, kind) if self.has(each))

    @property
    def asked(self) -> Asked:
        """The expression that the line consists of, with the frame of the function around it."""
        node, file = self.node(cst.Expr).value, self.file
        return Asked(file.ev, node, file.ev.frame_of(file.tree.scope_of(node)))


def each_row(test_file: str, name: str) -> pytest.MarkDecorator:
    """Runs a test for each row of `tables/<name>` beside its file, which gets it as `row`."""
    rows = rows_of(Path(test_file).parent.joinpath("tables", name).read_text(encoding="utf-8"))
    return pytest.mark.parametrize("row", rows, ids=[row.name for row in rows])


def rows_of(text: str) -> list[Row]:
    """Reads a table. Raises ValueError or SyntaxError where one is empty, or says something in no row."""
    prelude, rows = "", dict[str, list[Row]]()
    for number, section, block in _parts(text):
        if not section:
            prelude += block
        elif not block and section in rows:
            raise ValueError(f"line {number}: a second section {section!r}")
        found = rows.setdefault(section, []) if section else []
        for program in block.rstrip("\n").split("\n\n") if section and block else ():
            new = list(_rows_of_program(program, prelude, section, number))
            if not new or any(row[:4] == other[:4] for row in new for other in found):
                raise ValueError(f"line {number}: a program without a row, or there twice:\n{program}")
            found += new
            number += program.count("\n") + 2
    if not rows or not all(rows.values()):
        raise ValueError(f"sections without rows: {[each for each, found in rows.items() if not found]}")
    return [row for found in rows.values() for row in found]


def _parts(text: str) -> Iterator[tuple[int, str, str]]:
    """Each heading of a section, and each block of code with its section, with the number of the line."""
    section, start, block = "", 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            if line != ("```" if start else "```python"):
                raise ValueError(f"line {number}: {line} where a block of Python begins or ends")
            if start:
                yield start, section, block
            start, block = (0, "") if start else (number, "")
        elif start:
            block += f"{line}\n"
        elif line.startswith("## "):
            section = line[3:]
            yield number, section, ""
        elif "# ->" in line:
            raise ValueError(f"line {number}: a row outside a block of code")
    if start:
        raise ValueError(f"line {start}: a block of code without an end")


def _rows_of_program(program: str, prelude: str, section: str, line_before: int) -> Iterator[Row]:
    before, _, after = prelude.partition("...\n")
    margin = before[len(before.rstrip(" ")) :]
    whole = f"{before.rstrip(' ')}{indent(program, margin)}\n{after}"
    ast.parse(whole)
    for number, line in enumerate(program.splitlines(), start=1):
        if "# ->" in line:
            row = _ROW.match(line)
            answer, instead, _ = row["answer"].partition(" instead of ") if row else ("", "", "")
            if row is None or bool(instead) is not (section == "Not known"):
                raise ValueError(f"a row is `code  # -> answer`, with `instead of` in 'Not known' only: {line}")
            name = f"{section}, line {line_before + number}: {row['code']}"
            yield Row(whole, before.count("\n") + number, row["code"], answer, name)
