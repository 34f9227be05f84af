"""Writes the record of what was measured: a row for each finding, see `source.measurements`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from dataloader_lint.doctor.prove.verdicts import Kind, Verdict
from dataloader_lint.engine.baseline import path_in
from dataloader_lint.output.fingerprints import attribute_named, content_of
from dataloader_lint.output.places import Lines
from dataloader_lint.source.measurements import VERSION


class NotOursError(ValueError):
    """A file that is there and was not written by this module."""


def dumped(verdicts: Sequence[Verdict], lines_of: Lines, folder: str, before: str = "") -> str:
    """The text of the record, for a file in this folder; rows of `before`, its text until now, stay for other findings.

    Raises NotOursError if `before` is something else.
    """
    rows = [_row(each, lines_of, folder) for each in verdicts if each.kind is not Kind.NOT_TRIED]
    known = {_key(row) for row in rows}
    rows += [row for row in _rows_of(before) if _key(row) not in known]
    lines = [json.dumps(row, ensure_ascii=False) for row in sorted(rows, key=_key)]
    body = ",\n    ".join(lines)
    return f'{{\n  "version": {VERSION},\n  "measured": [\n    {body}\n  ]\n}}\n'


def _row(one: Verdict, lines_of: Lines, folder: str) -> dict[str, Any]:
    each = one.bytes // one.workers if one.bytes is not None and one.workers else None
    return {
        "path": path_in(folder, one.finding.filename),
        "code": one.finding.code,
        "name": ".".join(attribute_named(one.finding) or ()),
        "line": content_of(one.finding, lines_of),
        "verdict": one.kind.value,
        "workers": one.workers,
        "bytes_per_worker": each,
        "seconds_per_batch": [*one.seconds] if one.seconds is not None else None,
    }


def _rows_of(text: str) -> list[dict[str, Any]]:
    if not text:
        return []
    try:
        content = json.loads(text)
        rows = content["measured"]
        if content["version"] != VERSION or any(not isinstance(_key(row)[0], str) for row in rows):
            raise ValueError
    except (ValueError, KeyError, TypeError) as error:
        raise NotOursError(f"no record of measurements of version {VERSION}") from error
    return list(rows)


def _key(row: dict[str, Any]) -> tuple[str, str, str, str]:
    return row["path"], row["code"], row["name"], row["line"]


def read_if_there(path: str) -> str:
    """The text of a file; "" if there is none."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()
