"""Files that are read beside the code: regular ones only, of a bounded length."""

from __future__ import annotations

import errno
import os
import stat

from dataloader_lint.source.confinement import refuse_outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

MAX_BYTES = 1_000_000


def read_bounded(path: str, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file of at most `limit` bytes. Raises OSError, also for pipes, devices and longer files.

    Opening a pipe would wait forever, and a device has no end.
    """
    refuse_outside(path)
    with open(path, "rb", opener=_without_waiting) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        return read_stream(stream, limit)


def read_stream(stream: BinaryIO, limit: int) -> bytes:
    """The bytes of a stream of at most `limit` bytes. Raises OSError for longer ones."""
    content = stream.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it is longer than {limit:,} bytes")
    return content


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
