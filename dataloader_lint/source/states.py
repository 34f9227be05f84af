"""What a file or a folder was when it was looked at: stamps, which are cheap to compare, and a hash of what it held."""

from __future__ import annotations

import os
import sys
import time
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# What was written this shortly before it was looked at may be written again without its time stamps telling.
RACY = 3_000_000_000  # nanoseconds
# On Windows there is no time of the last change that programs cannot set: contents are always compared there.
_HAS_CHANGE_TIME = sys.platform != "win32"
# What is longer is not compared by its content: code is not read then, and notebooks of this size are rare.
MAX_BYTES = 1_500_000
_MAX_OTHER = 100_000_000
# Stamps that no file has, so that its content is compared.
_UNSURE = (0, 0, 0, 0)
_TOO_LONG, _CHANGED = "too long", "unsure"  # in place of hashes
_REQUIREMENTS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", "environment.yml", "environment.yaml", "Pipfile"})

Stamps = tuple[int, int, int, int]


class State(NamedTuple):
    """A file: time of the last write, size, time of the last change (which no program can set), inode; and a hash.

    The hash is empty for a file that cannot be read, and says so of one that is too long to be read.
    """

    written: int
    size: int
    changed: int
    inode: int
    digest: str

    def agreed(self, other: State | None) -> State:
        """This state; one that is equal to no other where the file held something else at another time of the run."""
        return self if other is None or other.digest == self.digest else State(*_UNSURE, _CHANGED)


class FolderState(NamedTuple):
    """A folder: time of the last write, time of the last change, inode; and a hash of the modules and folders in it."""

    written: int
    changed: int
    inode: int
    digest: str

    def agreed(self, other: FolderState | None) -> FolderState:
        """This state; one that is equal to no other where the folder held something else at another time of the run."""
        return self if other is None or other.digest == self.digest else FolderState(0, 0, 0, _CHANGED)


MISSING = State(*_UNSURE, "")
# Hashes that stand for no text: of files that cannot be read, are too long, or changed while the run went on.
NO_TEXT = frozenset({"", _TOO_LONG, _CHANGED})


def digest_of(content: bytes) -> str:
    """A hash of what a file holds."""
    import hashlib

    return hashlib.sha256(content).hexdigest()


def file_state(status: os.stat_result, content: bytes | None) -> State:
    """The state of a file from its status, asked for before it was read, and from what was read; None if too long."""
    return State(*_stamps(status), _TOO_LONG if content is None else digest_of(content))


def text_state(content: bytes) -> State:
    """The state of a file that holds something else in an editor."""
    return State(*_UNSURE, digest_of(content))


def is_readable(path: str, status: os.stat_result) -> bool:
    """True if a file is not too long to be read. Raises OSError for what is no regular file: a pipe would block."""
    import stat

    if not stat.S_ISREG(status.st_mode):
        raise OSError("not a regular file")
    return status.st_size <= (MAX_BYTES if path.endswith(".py") else _MAX_OTHER)


def _stamps(status: os.stat_result) -> Stamps:
    """The stamps of a file or folder; those that no file has where they would not tell of a later change."""
    last = max(status.st_mtime_ns, status.st_ctime_ns)
    if not _HAS_CHANGE_TIME or last > time.time_ns() - RACY:
        return _UNSURE
    return status.st_mtime_ns, status.st_size, status.st_ctime_ns, status.st_ino


def current(path: str, before: State | None) -> State:
    """The state of a file now; it is read where its stamps are not those of `before`."""
    try:
        status = os.stat(path)
        stamps = _stamps(status)
        if before is not None and stamps == before[:4] and stamps != _UNSURE:
            return before
        if not is_readable(path, status):
            return file_state(status, None)
        with open(path, "rb") as stream:
            return file_state(status, stream.read())
    except OSError:
        return MISSING


def current_folder(path: str, before: FolderState) -> FolderState:
    """The state of a folder now; it is listed where its stamps are not those of `before`."""
    try:
        written, _, changed, inode = _stamps(os.stat(path))
    except OSError:
        return folder_state(path)[0]
    same = (written, changed, inode) == before[:3] and written
    return before if same else folder_state(path)[0]


def folder_state(path: str) -> tuple[FolderState, Mapping[str, bool]]:
    """The state of a folder, and the modules and folders in it as `modules_in` gives them."""
    try:
        written, _, changed, inode = _stamps(os.stat(path))
    except OSError:
        written = changed = inode = 0
    listed, has_links = modules_in(path)
    if has_links:  # where a link leads may come and go without a change of the folder
        written = changed = inode = 0
    names = "\n".join(f"{name} {is_file}" for name, is_file in sorted(listed.items()))
    return FolderState(written, changed, inode, digest_of(names.encode("utf-8", "surrogateescape"))[:16]), listed


def is_requirements(name: str) -> bool:
    """True if a file of this name says which versions of libraries the code needs."""
    return name in _REQUIREMENTS or (name.endswith(".txt") and ("requirements" in name or "constraints" in name))


def modules_in(folder: str) -> tuple[Mapping[str, bool], bool]:
    """What an import can mean in a folder, and what says what code needs, by name: True for a file, False for a folder.

    Second, True if one of them is a link. Nothing where the folder cannot be read.
    """
    found: dict[str, bool] = {}
    has_links = False
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                may_be_file = name.endswith(".py") or is_requirements(name)
                if not may_be_file and (not name.isidentifier() or name == "__pycache__"):
                    continue
                has_links = has_links or entry.is_symlink()
                if entry.is_file() if may_be_file else entry.is_dir():
                    found[name] = may_be_file
    except OSError:
        return {}, False
    return found, has_links
