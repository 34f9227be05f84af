"""One notebook: its bytes → cells → the module that is linted, and its findings back in the cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dataloader_lint.diagnostics import Diagnostic, Reason
from dataloader_lint.engine.reports import unreadable, unsuppressed
from dataloader_lint.gate import may_matter
from dataloader_lint.rules.registry import INTERNAL_ERROR
from dataloader_lint.settings import Settings
from dataloader_lint.source.cells import Module, join
from dataloader_lint.source.decoding import UnreadableError
from dataloader_lint.source.noqa import skips_file
from dataloader_lint.source.notebooks import Notebook, read


@dataclass(frozen=True, slots=True)
class OpenedNotebook:
    """A notebook whose code may matter: as it is written, its cells as one module, and a DL000 for each broken cell."""

    notebook: Notebook
    module: Module
    problems: list[Diagnostic]


def open_notebook(source: bytes | str, filename: str, settings: Settings, most: int) -> OpenedNotebook | None:
    """A notebook to lint; None where there is nothing in it to look at.

    Raises UnreadableError where it cannot be read, or has more than `most` characters of code.
    """
    notebook = read(source)
    if notebook is None:
        return None
    broken = [
        moved
        for number, problem in notebook.broken
        for moved in _in_cell(unreadable(filename, problem, "", settings), number)
    ]
    code = "\n".join(cell.text for cell in notebook.cells)
    if not _matters(code, settings):  # the words may have stood in its outputs
        return OpenedNotebook(notebook, join(()), broken) if broken else None
    if len(code) > most:
        problem = f"the code of this notebook is longer than {most:,} characters"
        raise UnreadableError(problem, "split it up, or exclude it")
    module = join(notebook.cells)
    if skips_file(module.text) and not settings.ignore_noqa:
        return None
    for cell, error in module.broken:
        # A line alone may be a command such as `pip install`, which IPython runs without a sign before it.
        if "\n" in cell.text.strip() and _matters(cell.text, settings):
            found = unreadable(filename, error.problem, error.advice, settings, (error.line, error.column))
            broken += _in_cell(unsuppressed(found, cell.text, settings), cell.number)
    return OpenedNotebook(notebook, module, broken)


def in_cells(module: Module, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics of a notebook's module where users look for them, sorted. Those that have a cell stay as they are."""
    moved = [one if one.cell is not None or one.code == INTERNAL_ERROR else module.located(one) for one in found]
    return sorted(moved, key=lambda one: one.sort_key)


def in_cells_of(path: str, reasons: Mapping[int, Reason]) -> dict[int, Reason]:
    """Steps that lie in the module of another notebook, where users look for them; none if it cannot be read."""
    try:
        notebook = read(Path(path).read_bytes())
    except (OSError, UnreadableError):
        return {}
    module = join(notebook.cells) if notebook is not None else join(())
    return {key: module.reason(one) for key, one in reasons.items() if notebook is not None}


def _matters(text: str, settings: Settings) -> bool:
    return may_matter(text.encode("utf-8", "surrogatepass"), settings.extra_words)


def _in_cell(found: list[Diagnostic], number: int) -> list[Diagnostic]:
    return [replace(one, cell=number) for one in found]
