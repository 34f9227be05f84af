"""JSON in the shape of ruff's, so that what reads the one reads the other.

`message` is problem and help in one line; `problem`, `help`, `name` and `level` have the parts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator

from dataloader_lint.diagnostics import Diagnostic, Fix, Place, Position, Reason, TextEdit

# Where mkdocs.yml's site is served from.
SITE = "https://dataloader-lint.readthedocs.io/en/latest/"


def page_url(code: str, name: str) -> str:
    """Where a rule is explained."""
    return f"{SITE}rules/{code.lower()}-{name}/"


def emit(diagnostics: Iterable[Diagnostic], name_of: Callable[[str], str]) -> Iterator[str]:
    """Yields the report: a list of objects, with rows and columns from 1. `name_of` gives a rule's name by its code."""
    yield json.dumps([_as_object(one, name_of(one.code)) for one in diagnostics], indent=2)


def emit_lines(diagnostics: Iterable[Diagnostic], name_of: Callable[[str], str]) -> Iterator[str]:
    """Yields the same objects, one a line."""
    for one in diagnostics:
        yield json.dumps(_as_object(one, name_of(one.code)))


def _as_object(one: Diagnostic, name: str) -> dict[str, object]:
    return {
        "because": [_reason(each) for each in one.because],
        "cell": one.cell,
        "code": one.code,
        "end_location": _location(one.end),
        "filename": os.path.abspath(one.filename),
        "fix": _fix(one.fix) if one.fix is not None else None,
        "help": one.advice,
        "level": one.level.value,
        "location": _location(one.start),
        "message": one.message,
        "name": name,
        "no_fix": one.no_fix or None,
        "noqa_row": one.start.line,
        "places": [_place(each) for each in one.places],
        "problem": one.problem,
        "url": page_url(one.code, name),
    }


def _fix(fix: Fix) -> dict[str, object]:
    return {
        "applicability": fix.safety.value,
        "edits": [_edit(edit) for edit in fix.edits],
        "message": fix.title,
    }


def _edit(edit: TextEdit) -> dict[str, object]:
    # Not the cell of the finding: an import goes where the others are.
    cell = {"cell": edit.cell} if edit.cell is not None else {}
    return {"content": edit.content, "end_location": _location(edit.end), "location": _location(edit.start), **cell}


def _reason(one: Reason) -> dict[str, object]:
    return {
        "cell": one.cell,
        "filename": os.path.abspath(one.filename),
        "location": _location(one.position),
        "message": one.text,
    }


def _place(one: Place) -> dict[str, object]:
    return {
        "cell": one.cell,
        "end_location": _location(one.end),
        "filename": os.path.abspath(one.filename),
        "location": _location(one.start),
    }


def _location(position: Position) -> dict[str, int]:
    return {"column": position.column + 1, "row": position.line}
