"""One line a finding: `path:line:column: CODE message`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output.paint import Paint
from dataloader_lint.output.text import neutralise, shown_path, shown_place


def emit(diagnostics: Iterable[Diagnostic], paint: Paint) -> Iterator[str]:
    """Yields the lines of the report. Columns count from 1, as in flake8 and ruff."""
    for one in diagnostics:
        place = shown_place(one, paint("strong", shown_path(one.filename)))
        yield f"{place}: {paint('code', one.code)} {neutralise(one.message)}"
