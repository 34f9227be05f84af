"""Writes the record of what was measured: a row for each finding, see `source.measurements`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.doctor.diagnosis import HELD, held_by
from dataloader_lint.doctor.prove.verdicts import Kind, Verdict
from dataloader_lint.doctor.report import Report
from dataloader_lint.engine.baseline import path_in
from dataloader_lint.output.fingerprints import attribute_named, content_of
from dataloader_lint.output.places import Lines
from dataloader_lint.source.measurements import MAX_BYTES, VERSION
from dataloader_lint.source.reading import read_bounded

_MOST_ROWS = 5_000  # some 5 MB, the half of what is read


class NotOursError(ValueError):
    """A file that is there and was not written by this module."""


def measured(report: Report) -> list[Verdict]:
    """What a run of the program as it is says of findings about memory and time.

    Confirmed are those about attributes that explain what workers were seen to hold, with at most what these hold.
    """
    found: list[Verdict] = []
    for loader in report.loaders:
        workers = loader.settings.num_workers
        for symptom in loader.symptoms:
            each_holds = round(symptom.weight / workers) if workers and symptom.kind in HELD else 0
            for one in symptom.findings if each_holds else ():
                held = held_by(one, loader.attributes)
                if held is not None:
                    size = min(held.size, each_holds)
                    found.append(Verdict(one, Kind.CONFIRMED, symptom.title, 0, size * workers, workers))
        found += [Verdict(each.finding, Kind.NO_EFFECT, each.reason, 0, 0, workers) for each in loader.cleared]
    return found


def lines_of(one: Diagnostic) -> list[str]:
    """The lines of the file that a finding is in; none if it cannot be read."""
    try:
        with open(one.filename, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def dumped(verdicts: Sequence[Verdict], lines_of: Lines, folder: str, before: str = "") -> str:
    """The text of the record, for a file in this folder; rows of `before`, its text until now, stay for other findings.

    Where there are too many rows, those of files that are gone are left out first, then old ones.
    Raises NotOursError if `before` is something else.
    """
    rows = [_row(each, lines_of, folder) for each in verdicts if each.kind is not Kind.NOT_TRIED]
    known = {_key(row) for row in rows}
    old = [row for row in _rows_of(before) if _key(row) not in known]
    if len(rows) + len(old) > _MOST_ROWS:
        old = [row for row in old if os.path.exists(os.path.join(folder, row["path"]))]
    rows = [*rows, *old][:_MOST_ROWS]
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
        if content["version"] != VERSION or any(not isinstance(part, str) for row in rows for part in _key(row)):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NotOursError(f"no record of measurements of version {VERSION}") from error
    return list(rows)


def _key(row: dict[str, Any]) -> tuple[str, str, str, str]:
    return row["path"], row["code"], row["name"], row["line"]


def read_if_there(path: str) -> str:
    """The text of a file; "" if there is none. Raises OSError for what is no file, or longer than such files are."""
    return read_bounded(path, MAX_BYTES).decode("utf-8", "replace") if os.path.exists(path) else ""
