"""A baseline: existing findings of an old code base, stored in a file so that only new ones are reported.

A finding is known by its code, its file and its cause, such as the name of a class, or else the line of source that it
stands on, so it stays known when it moves. It counts once for each of its places: a cause with more places than the
file says is new, and so is one that was a note and no longer is.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from dataloader_lint.diagnostics import Diagnostic, Level
from dataloader_lint.output.fingerprints import content_of
from dataloader_lint.output.places import Lines

Entry = tuple[str, str, str]
"""A file's path from the folder of the baseline, with forward slashes; a code; the cause, or the line without its
indentation."""

_VERSION = 1


class DamagedBaselineError(ValueError):
    """A file that is no baseline; the message says why."""


def entries_of(diagnostics: Iterable[Diagnostic], lines_of: Lines, folder: str) -> list[Entry]:
    """What the findings are known by in a baseline that lies in this folder, once for each place of each."""
    return [_entry(one, lines_of, folder) for one in diagnostics for _ in range(1 + len(one.places))]


def _entry(one: Diagnostic, lines_of: Lines, folder: str) -> Entry:
    return path_in(folder, one.filename), one.code, _known_by(one) or content_of(one, lines_of)


def _known_by(one: Diagnostic) -> str:
    """The cause of a finding, which no line of source can look like; empty if it has none."""
    return f"{one.cause}:{' note:' if one.level is Level.NOTE else ''} one cause" if one.cause else ""


def dump(entries: Iterable[Entry]) -> str:
    """The text of a baseline: JSON with a line for each entry, sorted, so that changes of it are easy to review."""
    rows = [
        json.dumps({"path": path, "code": code, "line": line, "count": count}, ensure_ascii=False)
        for (path, code, line), count in sorted(Counter(entries).items())
    ]
    body = ",\n    ".join(rows)
    return f'{{\n  "version": {_VERSION},\n  "findings": [\n    {body}\n  ]\n}}\n'


def load(text: str) -> Counter[Entry]:
    """How often each entry is in a baseline. Raises DamagedBaselineError."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedBaselineError(f"not valid JSON: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("findings"), list):
        raise DamagedBaselineError("no object with a list of findings")
    if content.get("version") != _VERSION:
        raise DamagedBaselineError(f"its version is {content.get('version')!r}, and only {_VERSION} is known")
    known: Counter[Entry] = Counter()
    for number, row in enumerate(content["findings"], 1):
        known.update(_read(number, row))
    return known


def split(
    diagnostics: Iterable[Diagnostic], known: Counter[Entry], lines_of: Lines, folder: str
) -> tuple[list[Diagnostic], Counter[Entry]]:
    """The findings that the baseline does not hold, and what of the baseline was not found."""
    left = known.copy()
    new: list[Diagnostic] = []
    for one in diagnostics:
        count = 1 + len(one.places)
        # What was more than a note is known as a note, too.
        ways = (one, replace(one, level=Level.ERROR))
        entries = (_entry(each, lines_of, folder) for each in ways)
        known_as = next((each for each in entries if left[each] >= count), None)
        if known_as is None:
            new.append(one)
        else:
            left[known_as] -= count
    return new, +left


def path_in(folder: str, filename: str) -> str:
    """A file's path as a baseline in this folder has it."""
    path = os.path.abspath(filename)
    with contextlib.suppress(ValueError):  # on another drive
        path = os.path.relpath(path, os.path.abspath(folder))
    return path.replace(os.sep, "/")


def _read(number: int, row: object) -> dict[Entry, int]:
    if isinstance(row, dict):
        path, code, line, count = (row.get(name) for name in ("path", "code", "line", "count"))
        if isinstance(path, str) and isinstance(code, str) and isinstance(line, str):
            if isinstance(count, int) and not isinstance(count, bool) and count > 0:
                return {(path, code, line): count}
    raise DamagedBaselineError(f"entry {number} is not one of path, code, line and a count above 0")
