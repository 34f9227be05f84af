"""Files of the doctor in the user's process, without `open`, which a program may replace by one of its own."""

from __future__ import annotations

import os

_CHUNK = 1 << 20


def read(path: str) -> bytes:
    """The content of a file. Raises OSError."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        parts = []
        while part := os.read(number, _CHUNK):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(number)


def replace(path: str, content: bytes) -> None:
    """Write a file beside, and put it in the place of the one that is there. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    number = os.open(f"{path}.new", flags, 0o600)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(number, left) :]
    finally:
        os.close(number)
    os.replace(f"{path}.new", path)
