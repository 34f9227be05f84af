"""Atomic writes: a file holds its old content or its new one, whenever the process or the machine stops."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

if sys.platform != "win32":
    import fcntl

# Replacing the file that one of these leads to would cut off whoever else writes there.
_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/1": 1, "/dev/fd/2": 2}

_MARK, _SUFFIX = "dataloader-lint-", ".tmp"

# Extended attributes that must not get lost: those of users, and access control lists.
_NEEDED = ("user.", "system.posix_acl_")
# What the kernel computes from the content, or takes away when the content changes.
_OF_CONTENT = ("security.capability", "security.evm", "security.ima")


def write_atomically(path: str, content: bytes, before: bytes | None = None) -> None:
    """Replace the content of an existing file. Mode, owner and extended attributes stay; a symbolic link stays one.

    The content goes into a temporary file in the same folder, down to the disk, and takes the file's place in one step.
    Raises OSError where any of that cannot be done, where the file has other hard links, or where it does not hold what
    it held `before`, as someone else has written it in the meantime; the file is then as it was, and nothing is left
    behind.
    """
    target = os.path.realpath(path)
    status = os.stat(target)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", path)
    if not os.access(target, os.W_OK) or not status.st_mode & 0o222:
        # Replacing it would need the folder's permission only, but whoever made it read-only meant it, for root too.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    if status.st_nlink > 1:
        # The others would keep the old content; writing it in place would lose the file if the process is killed.
        raise OSError(errno.EMLINK, "it has other hard links, which would keep the old content", path)
    folder = os.path.dirname(target)
    with _temporary(target, content) as temporary:
        _keep_owner(temporary, status, path)
        _keep_attributes(target, temporary)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))  # after the owner, whose change takes setuid bits away
        if not _is_same(target, status) or (before is not None and _read(target) != before):
            raise OSError(errno.EBUSY, "it has changed since it was read", path)
        os.replace(temporary, target)
    _sync_folder(folder)


@contextlib.contextmanager
def _temporary(target: str, content: bytes) -> Iterator[str]:
    """The path of a file beside the target, with this content on the disk; an error in the block removes it.

    A process that is killed leaves it behind, and the next one that writes the same file takes it away. It knows by the
    lock, which goes with the process that holds it.
    """
    folder, prefix = os.path.dirname(target), f".{os.path.basename(target)[:40]}.{_MARK}"
    _clear_leftovers(folder, prefix)
    while True:
        handle, path = tempfile.mkstemp(prefix=prefix, suffix=_SUFFIX, dir=folder)
        with os.fdopen(handle, "wb") as stream:
            try:
                _lock(stream)
                if not os.path.exists(path):  # it was taken for a leftover before it was locked
                    continue
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
                if sys.platform == "win32":
                    stream.close()  # else it could not take the target's place
                yield path
                return
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(path)
                raise


def _lock(stream: IO[bytes]) -> None:
    """Lock an open file until it is closed; not on Windows, where leftovers are not removed."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # some network file systems know no locks
            fcntl.flock(stream, fcntl.LOCK_EX)


def _clear_leftovers(folder: str, prefix: str) -> None:
    """Remove the temporary files of processes that were killed while they wrote the same file."""
    if sys.platform == "win32":
        return
    for name in os.listdir(folder):
        if name.startswith(prefix) and name.endswith(_SUFFIX) and len(name) == len(prefix) + 8 + len(_SUFFIX):
            _clear(os.path.join(folder, name))


def _clear(path: str) -> None:
    with contextlib.suppress(OSError):  # it is gone, it is a link, or its writer lives
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(path)
        finally:
            os.close(handle)


def _read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def _is_same(path: str, status: os.stat_result) -> bool:
    """True unless a path has become another file, or a link to one."""
    now = os.lstat(path)
    return (now.st_dev, now.st_ino, now.st_nlink) == (status.st_dev, status.st_ino, status.st_nlink)


def _keep_owner(temporary: str, status: os.stat_result, path: str) -> None:
    if sys.platform == "win32":
        return
    mine = os.stat(temporary)
    if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
        try:
            os.chown(temporary, status.st_uid, status.st_gid)
        except OSError as error:
            raise PermissionError(error.errno, "its owner or group would change", path) from None


def _keep_attributes(target: str, temporary: str) -> None:
    """Give the temporary file the extended attributes of the target, where the system has such."""
    if sys.platform != "linux":
        return
    try:
        wanted, there = os.listxattr(target), os.listxattr(temporary)
    except OSError:  # a file system without them
        return
    for name in wanted:
        if name in _OF_CONTENT:
            continue
        try:
            os.setxattr(temporary, name, os.getxattr(target, name))
        except OSError:
            if name.startswith(_NEEDED):
                raise
    for name in there:  # access control lists that the folder gives to every new file
        if name.startswith(_NEEDED) and name not in wanted:
            os.removexattr(temporary, name)


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

    What is no regular file, such as a pipe, is written to as it is, and so is `/dev/stderr`, wherever that leads.
    Raises OSError.
    """
    if path in _STREAMS:
        with open(_STREAMS[path], "wb", closefd=False) as stream:
            stream.write(content)
    elif not os.path.exists(path):
        _create(os.path.realpath(path), content)
    elif os.path.isfile(path):
        write_atomically(path, content)
    else:
        with open(path, "wb") as stream:
            stream.write(content)


def _create(target: str, content: bytes) -> None:
    with _temporary(target, content) as temporary:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    _sync_folder(os.path.dirname(target))
