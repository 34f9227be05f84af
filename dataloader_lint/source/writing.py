"""Atomic writes: a file holds its old content or its new one, whenever the process or the machine stops."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile


def write_atomically(path: str, content: bytes) -> None:
    """Replace what an existing file holds; mode and, where allowed, owner stay, and a symbolic link stays one.

    The content goes into a temporary file in the same folder, down to the disk, and takes the file's place in one step.
    Raises OSError where any of that cannot be done; the file is then as it was, and nothing is left behind.
    """
    target = os.path.realpath(path)
    before = os.stat(target)
    if not os.access(target, os.W_OK) or not before.st_mode & 0o222:
        # Replacing it would need the folder's permission only, but whoever made it read-only meant it, for root too.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    folder = os.path.dirname(target)
    # A signal between these lines may leave an empty temporary file, never a damaged target.
    handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(target)[:40]}.", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        _keep_owner(temporary, before)
        os.chmod(temporary, stat.S_IMODE(before.st_mode))  # after the owner, whose change takes setuid bits away
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _keep_owner(path: str, before: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(path, before.st_uid, before.st_gid)


def _sync_folder(folder: str) -> None:
    """Make the replacement itself outlast a power cut, where folders can be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
