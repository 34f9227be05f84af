"""GitLab's code quality report.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from dataloader_lint.diagnostics import Diagnostic, Position
from dataloader_lint.output.fingerprints import fingerprints
from dataloader_lint.output.levels import NAMES
from dataloader_lint.output.places import Lines, cell_prefix, path_from

_TOP = Position(1, 0)


def emit(diagnostics: Sequence[Diagnostic], lines_of: Lines, root: str) -> Iterator[str]:
    """Yields the report: a list of objects. Fingerprints are all different, and stay when lines move."""
    marks = fingerprints(diagnostics, lines_of, root)
    yield json.dumps([_as_object(one, mark, root) for one, mark in zip(diagnostics, marks, strict=True)], indent=2)


def _as_object(one: Diagnostic, mark: str, root: str) -> dict[str, object]:
    start, end = (one.start, one.end) if one.cell is None else (_TOP, _TOP)  # lines of the file, not of a cell
    return {
        "check_name": one.code,
        "description": f"{one.code} {cell_prefix(one)}{one.whole_message}",
        "severity": NAMES[one.level].gitlab,
        "fingerprint": mark,
        "location": {
            "path": path_from(root, one.filename),
            "positions": {
                "begin": {"line": start.line, "column": start.column + 1},
                "end": {"line": end.line, "column": end.column + 1},
            },
        },
    }
