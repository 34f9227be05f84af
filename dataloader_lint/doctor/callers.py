"""Which lines of the user's code are being run, outside of torch and of this package."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterator

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def caller() -> tuple[str, int]:
    """File and line of the user's code that iterates the loader: the nearest frame outside torch and this package."""
    own = _own_folders()
    frame = sys._getframe(1)
    nearest = ("", 0)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(own):
            nearest = nearest if nearest[0] else (name, frame.f_lineno)
            if _is_of_user(name):
                return os.path.abspath(name), frame.f_lineno
        if frame.f_back is None:
            break
        frame = frame.f_back
    return nearest


def callers(most: int) -> Iterator[tuple[str, int]]:
    """The nearest lines of the user's code that are being run, the innermost first."""
    own = _own_folders()
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and most:
        name = frame.f_code.co_filename
        if not name.startswith(own) and _is_of_user(name):
            most -= 1
            yield os.path.abspath(name), frame.f_lineno
        frame = frame.f_back


def _own_folders() -> tuple[str, str]:
    import torch

    return _PACKAGE + os.sep, os.path.dirname(os.path.abspath(torch.__file__)) + os.sep


def _is_of_user(name: str) -> bool:
    return "site-packages" not in name and not name.startswith("<frozen")
