"""Files that are read beside the code: regular ones only, of a bounded length."""

from __future__ import annotations

import errno
import os
import stat

MAX_BYTES = 1_000_000


def read_bounded(path: str, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file of at most `limit` bytes. Raises OSError, also for pipes, devices and longer files.

    Opening a pipe would wait forever, and a device has no end.
    """
    with open(path, "rb", opener=_without_waiting) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it is longer than {limit:,} bytes", path)
    return content


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
