"""One line a finding: `path:line:column: CODE message`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output.paint import Paint
from dataloader_lint.output.text import neutralise, shown_path


def emit(diagnostics: Iterable[Diagnostic], paint: Paint) -> Iterator[str]:
    """Yields the lines of the report. Columns count from 1, as in flake8 and ruff."""
    for one in diagnostics:
        path = paint("strong", shown_path(one.filename))
        place = f"{path}:{one.start.line}:{one.start.column + 1}:"
        yield f"{place} {paint('code', one.code)} {neutralise(one.message)}"
