"""Atomic writes: a file holds its old content or its new one, whenever the process or the machine stops."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterator

if sys.platform != "win32":
    import fcntl

_SUFFIX = ".tmp"


def write_atomically(path: str, content: bytes, before: bytes | None = None) -> None:
    """Replace what an existing file holds; mode and, where allowed, owner stay, and a symbolic link stays one.

    The content goes into a temporary file in the same folder, down to the disk, and takes the file's place in one step.
    Raises OSError where any of that cannot be done, or where the file does not hold what it held `before`, as someone
    else has written it in the meantime; the file is then as it was, and nothing is left behind.
    """
    target = os.path.realpath(path)
    status = os.stat(target)
    if not os.access(target, os.W_OK) or not status.st_mode & 0o222:
        # Replacing it would need the folder's permission only, but whoever made it read-only meant it, for root too.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    folder = os.path.dirname(target)
    with _temporary(target) as (handle, temporary):
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        _keep_owner(temporary, status)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))  # after the owner, whose change takes setuid bits away
        if before is not None and _read(target) != before:
            raise OSError(errno.EBUSY, "it has changed since it was read", path)
        os.replace(temporary, target)
    _sync_folder(folder)


@contextlib.contextmanager
def _temporary(target: str) -> Iterator[tuple[int, str]]:
    """An open file beside the target, and its path; gone at the end unless it has taken the target's place.

    A process that is killed leaves it behind, and the next one that writes the same file takes it away. It knows by the
    lock, which goes with the process that holds it.
    """
    folder, prefix = os.path.dirname(target), f".{os.path.basename(target)[:40]}."
    _clear_leftovers(folder, prefix)
    while True:
        handle, path = tempfile.mkstemp(prefix=prefix, suffix=_SUFFIX, dir=folder)
        keeper = _locked(handle)
        if os.path.exists(path):  # else it was taken for a leftover before it was locked
            break
        for each in (handle, keeper):
            if each is not None:
                os.close(each)
    try:
        yield handle, path
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    finally:
        if keeper is not None:
            os.close(keeper)


def _locked(handle: int) -> int | None:
    """Lock an open file until the returned handle is closed; None on Windows, which replaces no open file."""
    if sys.platform == "win32":
        return None
    keeper = os.dup(handle)
    with contextlib.suppress(OSError):  # some network file systems know no locks
        fcntl.flock(keeper, fcntl.LOCK_EX)
    return keeper


def _clear_leftovers(folder: str, prefix: str) -> None:
    """Remove the temporary files of processes that were killed while they wrote the same file."""
    if sys.platform == "win32":
        return
    for name in os.listdir(folder):
        if name.startswith(prefix) and name.endswith(_SUFFIX) and len(name) == len(prefix) + 8 + len(_SUFFIX):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError), open(path, "rb") as stream:  # it is gone, or its writer lives
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(path)


def _read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def _keep_owner(path: str, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(path, status.st_uid, status.st_gid)


def _sync_folder(folder: str) -> None:
    """Make the replacement itself outlast a power cut, where folders can be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_report(path: str, content: bytes) -> None:
    """Write a file that may not be there yet; one that is there is replaced as `write_atomically` does.

    What is no regular file, such as `/dev/stderr` or a pipe, is written to as it is. Raises OSError.
    """
    if not os.path.exists(path):
        _create(os.path.realpath(path), content)
    elif os.path.isfile(path):
        write_atomically(path, content)
    else:
        with open(path, "wb") as stream:
            stream.write(content)


def _create(target: str, content: bytes) -> None:
    with _temporary(target) as (handle, temporary):
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    _sync_folder(os.path.dirname(target))
