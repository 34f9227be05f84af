"""Folders that a script adds to Python's search path, read from its text: `sys.path.insert(0, join(here, "lib"))`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

MARK = "sys.path"
_ADDING = re.compile(r"sys\.path(?:\.(?:append|extend|insert)\(|\s*\+?=|\[)|\badd_(?=\w*path)\w*\(")
_ASSIGNED = re.compile(r"\s*(\w+)\s*(?::[^=]*)?=(.*)")
_TEXT = re.compile(r"""["']([^"'\n]*)["']""")
_IMPORTED = re.compile(r"^import[ \t]+(\w+)", re.MULTILINE)
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[\w.-]+")


def added_folders(path: str, text: str, root: str, is_folder: Callable[[str], bool]) -> Iterator[str]:
    """The folders below `root` that the script at `path` adds; those around the script itself need not be named."""
    lines = text.splitlines()
    adding = [line for line in lines if _ADDING.search(line)]
    words = {word for line in adding for word in _WORD.findall(line)}
    for line in lines:
        assigned = _ASSIGNED.match(line)
        if assigned is not None and assigned[1] in words:
            adding.append(assigned[2])
    for line in adding:
        parts = [part for written in _TEXT.findall(line) for part in written.split("/") if part not in ("", ".")]
        below = [part for part in parts if part != ".."]
        if below and all(_PART.fullmatch(part) for part in below):
            found = _first(os.path.dirname(path), parts.count(".."), os.path.join(*below), root, is_folder)
            if found is not None:
                yield found


def imported_whole(text: str) -> list[str]:
    """The modules that a script imports for nothing in particular, as one that changes the search path is."""
    return _IMPORTED.findall(text)


def _first(folder: str, up: int, below: str, root: str, is_folder: Callable[[str], bool]) -> str | None:
    """The folder of that name which is nearest to the script's own, or to the one so many levels above."""
    while True:
        if up <= 0 and is_folder(os.path.join(folder, below)):
            return os.path.join(folder, below)
        if folder == root or os.path.dirname(folder) == folder:
            return None
        folder, up = os.path.dirname(folder), up - 1
