"""The files of a project that are read as texts only: notebooks, settings and code, wherever below its root."""

from __future__ import annotations

import hashlib
import os

_SUFFIXES = (".py", ".pyi", ".pyx", ".ipynb", ".cfg", ".gin", ".ini", ".json", ".toml", ".yaml", ".yml")
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
MAX_LISTED = 20_000
MAX_READ = 50_000_000  # bytes, which takes less than a second

# Its path, time of the last write and of the last change, size, and what is the same for all links to it.
OtherFile = tuple[str, int, int, int, int, int]


def files_below(root: str) -> list[OtherFile] | None:
    """The files below a folder that may say something; None where there are too many."""
    found: list[OtherFile] = []
    listed = size = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [each for each in folders if each not in _SKIPPED and not each.startswith(".")]
        listed += len(names)
        for each in names:
            path = os.path.join(folder, each)
            if not each.endswith(_SUFFIXES) or not os.path.isfile(path):
                continue
            try:
                status = os.stat(path)
            except OSError:
                continue
            size += status.st_size
            if listed > MAX_LISTED or size > MAX_READ:
                return None
            times = status.st_mtime_ns, status.st_ctime_ns
            found.append((path, *times, status.st_size, status.st_dev, status.st_ino))
    return found


def read(file: OtherFile) -> bytes | None:
    """What a file holds, up to a bound; None where it cannot be read."""
    try:
        with open(file[0], "rb") as opened:
            return opened.read(MAX_READ)
    except OSError:
        return None


def stamp_of(root: str, before: int) -> str:
    """What changes with any of these files; empty if one was changed at or after the time `before` (nanoseconds)."""
    files = files_below(root)
    if files is None:
        return "too many"
    if any(max(written, changed) >= before for _, written, changed, *_ in files):
        return ""
    return hashlib.sha256(repr(sorted(files)).encode("utf-8", "surrogatepass")).hexdigest()
