"""The record that `dataloader-lint doctor` writes with `--prove` or `--record`: what findings were measured to cost.

    {"version": 1, "measured": [
        {"path": "data.py", "code": "DL101", "name": "Images.paths", "line": "self.paths = ...", "verdict": "confirmed",
         "workers": 4, "bytes_per_worker": 203000000, "seconds_per_batch": null}
    ]}

`path` counts from the folder of the record. `name` is the class and the attribute that the finding is about, "" for
others; `line` the line on which it stands, with single blanks. `bytes_per_worker` is what each worker holds more than
it would with the fix: 0 if that makes no difference, null if it was not measured. `seconds_per_batch` are the times
before and after.
"""

from __future__ import annotations

import json
import os

from dataloader_lint.source.reading import read_bounded

VERSION = 1
CONFIRMED = "confirmed"
NO_EFFECT = "no effect here"

Measured = tuple[str, str, str, int]
"""The code of a finding, its `name`, its line as `line_of` gives it, and `bytes_per_worker` or one of the next two."""

NOTHING = 0
"""There was no effect."""

UNKNOWN = -1
"""The finding was confirmed by something else than bytes."""

LONGEST_LINE = 400  # characters of a line that count: data in one endless line should fill no baseline and no record
# Of a record: some 30,000 findings.
MAX_BYTES = 10_000_000
_MOST_BYTES_OF_A_WORKER = 1 << 50


class DamagedRecordError(ValueError):
    """A file that is no record; the message says why."""


def measured_in(path: str) -> dict[str, tuple[Measured, ...]]:
    """What the record in a file says, by the absolute paths of the files that the findings are in.

    Left out are findings whose fix broke the program, and those on which rows disagree.
    Raises DamagedRecordError.
    """
    try:
        content = json.loads(read_bounded(path, MAX_BYTES))
    except OSError as error:
        raise DamagedRecordError(error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise DamagedRecordError(f"not valid JSON: {' '.join(str(error).split())[:200]}") from None
    rows = content.get("measured") if isinstance(content, dict) else None
    if not isinstance(rows, list):
        raise DamagedRecordError("no object with a list called measured")
    if content.get("version") != VERSION:
        raise DamagedRecordError(f"its version is {str(content.get('version'))[:20]}, and only {VERSION} is known")
    folder = os.path.dirname(os.path.abspath(path))
    found: dict[str, dict[tuple[str, str, str], set[int | None]]] = {}
    for number, row in enumerate(rows, 1):
        name, (code, attribute, line), size = _read(number, row)
        known = found.setdefault(os.path.normpath(os.path.join(folder, name)), {})
        known.setdefault((code, attribute, line_of(line)), set()).add(size)
    return {name: _agreed(known) for name, known in found.items()}


def line_of(text: str) -> str:
    """What a line of source is known by: with single blanks, and without a comment at its end."""
    return f" {' '.join(text.split())[:LONGEST_LINE]}".partition(" #")[0].strip()


def _agreed(known: dict[tuple[str, str, str], set[int | None]]) -> tuple[Measured, ...]:
    return tuple(
        (*key, size) for key, sizes in sorted(known.items()) if len(sizes) == 1 for size in sizes if size is not None
    )


def _read(number: int, row: object) -> tuple[str, tuple[str, str, str], int | None]:
    """The path of a row, what its finding is known by, and the bytes of a worker; None if it decides nothing."""
    if isinstance(row, dict):
        texts = [row.get(name) for name in ("path", "code", "name", "line", "verdict")]
        path, code, name, line, verdict = (each if isinstance(each, str) else None for each in texts)
        size = row.get("bytes_per_worker")
        is_size = size is None or (type(size) is int and 0 <= size <= _MOST_BYTES_OF_A_WORKER)
        if path is not None and code is not None and name is not None and line is not None and is_size:
            if verdict == NO_EFFECT:
                return path, (code, name, line), NOTHING
            return path, (code, name, line), size or UNKNOWN if verdict == CONFIRMED else None
    raise DamagedRecordError(f"entry {number} is no finding with a path, code, name, line and bytes_per_worker")
