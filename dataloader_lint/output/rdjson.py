"""Reviewdog's diagnostic format, with fixes as suggestions for a review.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from dataloader_lint.diagnostics import Diagnostic, Position, TextEdit
from dataloader_lint.output.levels import NAMES
from dataloader_lint.output.places import Lines, cell_prefix, path_from


def emit(diagnostics: Iterable[Diagnostic], lines_of: Lines, url_of: Callable[[str], str], root: str) -> Iterator[str]:
    """Yields the report. Columns count bytes of UTF-8, from 1. In notebooks there is no place but the file."""
    found = [_as_object(one, lines_of, url_of, root) for one in diagnostics]
    source = {"name": "dataloader-lint", "url": "https://dataloader-lint.readthedocs.io/"}
    yield json.dumps({"source": source, "severity": "WARNING", "diagnostics": found}, indent=2)


def _as_object(one: Diagnostic, lines_of: Lines, url_of: Callable[[str], str], root: str) -> dict[str, object]:
    location: dict[str, object] = {"path": path_from(root, one.filename)}
    made: dict[str, object] = {
        "message": cell_prefix(one) + one.whole_message,
        "location": location,
        "severity": NAMES[one.level].rdjson,
        "code": {"value": one.code, "url": url_of(one.code)},
    }
    if one.cell is None:
        lines = lines_of(one)
        location["range"] = _range(one.start, one.end, lines)
        # A suggestion is one change of one place; a fix that changes several cannot be shown as one.
        if one.fix is not None and len(one.fix.edits) == 1:
            made["suggestions"] = [_suggestion(one.fix.edits[0], lines)]
    return made


def _suggestion(edit: TextEdit, lines: Sequence[str]) -> dict[str, object]:
    return {"range": _range(edit.start, edit.end, lines), "text": edit.content}


def _range(start: Position, end: Position, lines: Sequence[str]) -> dict[str, object]:
    return {"start": _place(start, lines), "end": _place(end, lines)}


def _place(position: Position, lines: Sequence[str]) -> dict[str, int]:

    before = lines[position.line - 1][: position.column] if position.line <= len(lines) else " " * position.column
    return {"line": position.line, "column": len(before.encode("utf-8", "surrogatepass")) + 1}
