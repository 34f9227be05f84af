"""pylint's parseable format, which many editors and review tools read: `path:line: [CODE] message`.

https://pylint.readthedocs.io/en/latest/user_guide/usage/output.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output.places import cell_prefix, path_from
from dataloader_lint.output.text import neutralise


def emit(diagnostics: Iterable[Diagnostic], root: str) -> Iterator[str]:
    """Yields one line a finding. In a notebook the line is that in the cell, which the message names."""
    for one in diagnostics:
        path = neutralise(path_from(root, one.filename))
        yield f"{path}:{one.start.line}: [{one.code}] {neutralise(cell_prefix(one) + one.whole_message)}"
