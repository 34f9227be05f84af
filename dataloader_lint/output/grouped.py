"""Findings under the name of their file, in columns: place, code, message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output.paint import Paint
from dataloader_lint.output.text import marker, neutralise, shown_path


def emit(diagnostics: Iterable[Diagnostic], paint: Paint, *, unsafe: bool = False) -> Iterator[str]:
    """Yields the lines of the report; `unsafe` says if unsafe fixes count as fixable."""
    for filename, group in groupby(diagnostics, lambda one: one.filename):
        found = list(group)
        places = [_place(one) for one in found]
        wide = max(map(len, places))
        yield f"{paint('strong', shown_path(filename))}:"
        for one, place in zip(found, places, strict=True):
            code = f"{paint(one.level.value, one.code)}{paint('help', marker(one, unsafe=unsafe))}"
            yield f"  {place:<{wide}} {code} {neutralise(one.whole_message)}"
        yield ""


def _place(one: Diagnostic) -> str:
    cell = f"cell {one.cell}:" if one.cell is not None else ""
    return f"{cell}{one.start.line}:{one.start.column + 1}"
