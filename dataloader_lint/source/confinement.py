"""Keeps a run inside one folder: what lies outside of it, also behind a link, counts as missing."""

from __future__ import annotations

import errno
import os
from _thread import _local  # that of `threading`, which takes longer to import than a run over files without loaders

_thread = _local()


class ConfinedTo:
    """A context in which this thread lists and reads nothing outside of a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.realpath(folder)

    def __enter__(self) -> None:
        self._before = _confined_to()
        _thread.folder = self._folder

    def __exit__(self, *_: object) -> None:
        _thread.folder = self._before


def is_outside(path: str) -> bool:
    """True if a path, or what a link there leads to, lies outside of the folder that this run is confined to."""
    folder = _confined_to()
    if not folder:
        return False
    full = os.path.realpath(path)
    return full != folder and not full.startswith(os.path.join(folder, ""))


def refuse_outside(path: str) -> None:
    """Raises PermissionError for a path outside of the folder that this run is confined to."""
    if is_outside(path):
        raise PermissionError(errno.EACCES, "it lies outside of the project", path)


def _confined_to() -> str:
    folder: str = getattr(_thread, "folder", "")
    return folder
