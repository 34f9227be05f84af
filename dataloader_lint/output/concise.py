"""One line a finding: `path:line:column: CODE [*] message`, with the star where a fix is at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output.paint import Paint
from dataloader_lint.output.text import marker, neutralise, shown_path, shown_place


def emit(diagnostics: Iterable[Diagnostic], paint: Paint, *, unsafe: bool = False) -> Iterator[str]:
    """Yields the lines of the report. Columns count from 1, as in flake8 and ruff."""
    for one in diagnostics:
        mark = marker(one, unsafe=unsafe)
        place = shown_place(one, paint("strong", shown_path(one.filename)))
        message = neutralise(one.whole_message)
        yield f"{place}: {paint(one.level.value, one.code)}{paint('help', mark)} {message}"
