"""The folder of the cache. It may come with the linted repository, so nothing in it is trusted.

A repository can hold a symbolic link, a named pipe or another tool's folder under the name of our folder. So no
link is followed, only regular files of limited size are read, and only names that this module gives are deleted, in a
folder that holds our tag. Where the platform can, the folder is opened once, and all else goes by its descriptor:
no link can replace it meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# This folder was made by dataloader-lint and can be deleted.\n"
TAG_NAME = "CACHEDIR.TAG"
MAX_BYTES = 100_000_000
# Seconds.
MAX_AGE = 30 * 24 * 3600
MAX_AGE_UNFINISHED = 600

_STORE = re.compile(r"[0-9a-f]{40}\.(?:json|texts)")
_UNFINISHED = re.compile(r"(?:[0-9a-f]{40}\.(?:json|texts)|CACHEDIR\.TAG|\.gitignore)\.([0-9]{1,10})")
_MAX_NAMES = 10_000  # a folder with more is not listed to the end
# Flags that a platform lacks are 0. Without O_NONBLOCK, opening a named pipe waits for a writer.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | _NO_LINK | getattr(os, "O_DIRECTORY", 0)
_HAS_DESCRIPTORS = {os.open, os.stat, os.unlink, os.rename} <= os.supports_dir_fd and os.scandir in os.supports_fd


class UnusableError(Exception):
    """The folder, or a file in it, must not be used. The text says why, in one line for the user."""


class Folder:
    """A folder that is empty or holds our tag, open.

    Raises UnusableError where it is neither, OSError where it is not there or cannot be opened. With `make`, a missing
    folder is made, and an empty one gets the tag.
    """

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: str, *, make: bool = False) -> None:
        self.path = os.path.abspath(path)  # without a trailing slash, behind which a link would be followed
        self._descriptor: int | None = None
        try:
            if make:
                os.makedirs(os.path.dirname(self.path), exist_ok=True)
                with contextlib.suppress(FileExistsError):
                    os.mkdir(self.path)
            self._open()
            self._claim(make)
        except (OSError, UnusableError):
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> None:
        mode = os.lstat(self.path).st_mode
        if stat.S_ISLNK(mode):
            raise UnusableError(f"{self.path} is a symbolic link, which the cache does not follow")
        if not stat.S_ISDIR(mode):
            raise UnusableError(f"{self.path} is not a folder")
        if _HAS_DESCRIPTORS:
            self._descriptor = os.open(self.path, _FOLDER)

    def _claim(self, make: bool) -> None:
        """Make sure that the folder is ours."""
        # Listed ahead of the look at the tag: another run that makes the folder writes the tag first.
        if any(not _UNFINISHED.fullmatch(name) for name in self._names()):
            tag = None
            with contextlib.suppress(OSError, UnusableError):
                tag = self._read(TAG_NAME, len(TAG))
            if tag != TAG:
                raise UnusableError(f"{self.path} was not made by dataloader-lint and is not empty")
        elif make:
            self._replace(TAG_NAME, TAG)

    def read(self, name: str) -> bytes | None:
        """What a file holds; None where it cannot be read. Raises UnusableError for what is no file, or too large."""
        try:
            return self._read(name, MAX_BYTES)
        except OSError:
            return None

    def _read(self, name: str, limit: int) -> bytes:
        path = os.path.join(self.path, name)
        status = self._status(name)
        if not stat.S_ISREG(status.st_mode):
            raise UnusableError(f"{path} is not a regular file")
        descriptor = os.open(self._at(name), _READ, dir_fd=self._descriptor)
        with open(descriptor, "rb") as stream:
            status = os.fstat(descriptor)  # of what was opened, should it be another file by now
            if not stat.S_ISREG(status.st_mode):
                raise UnusableError(f"{path} is not a regular file")
            if status.st_size > limit:
                raise UnusableError(f"{path} is larger than {limit:,} bytes")
            return stream.read(limit + 1)

    def write(self, name: str, content: bytes) -> None:
        """Put a file there, whole. Nothing happens where it cannot be written, or would not be read again."""
        if len(content) > MAX_BYTES:
            return
        with contextlib.suppress(OSError):
            self._clean_up()
            if not self._is_there(TAG_NAME):  # it was there, empty, when it was opened to be read
                self._replace(TAG_NAME, TAG)
            if not self._is_there(".gitignore"):
                self._replace(".gitignore", b"*\n")
            self._replace(name, content)

    def _clean_up(self) -> None:
        """Delete what no run will ask for again: what is old is of other versions or settings."""
        for name in self._names():
            unfinished = _UNFINISHED.fullmatch(name)
            if unfinished is None and not _STORE.fullmatch(name):
                continue
            with contextlib.suppress(OSError):  # another run may be at it
                age = time.time() - self._status(name).st_mtime
                if age > MAX_AGE if unfinished is None else _is_left_over(int(unfinished[1]), age):
                    os.unlink(self._at(name), dir_fd=self._descriptor)

    def _replace(self, name: str, content: bytes) -> None:
        """Whoever reads the file sees the old content or the new one; nothing here is worth waiting for the disk."""
        temporary = f"{name}.{os.getpid()}"
        if self._is_there(temporary):  # of a process that was killed and had this one's number
            os.unlink(self._at(temporary), dir_fd=self._descriptor)
        try:
            with open(os.open(self._at(temporary), _CREATE, 0o666, dir_fd=self._descriptor), "wb") as stream:
                stream.write(content)
            if self._descriptor is None:
                os.replace(self._at(temporary), self._at(name))
            else:
                os.rename(temporary, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except OSError:
            if self._is_there(temporary):
                os.unlink(self._at(temporary), dir_fd=self._descriptor)
            raise

    def _names(self) -> Iterator[str]:
        with os.scandir(self.path if self._descriptor is None else self._descriptor) as entries:
            yield from [entry.name for entry in islice(entries, _MAX_NAMES)]

    def _status(self, name: str) -> os.stat_result:
        return os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)

    def _is_there(self, name: str) -> bool:
        try:
            self._status(name)
        except FileNotFoundError:
            return False
        return True

    def _at(self, name: str) -> str:
        """What a file is called by: its name, where the folder is open, else its path."""
        return os.path.join(self.path, name) if self._descriptor is None else name


def _is_left_over(process: int, age: float) -> bool:
    """True if the process that began a file, whose number is in the file's name, was killed.

    That of a process on another machine is taken for dead: it then keeps nothing this time, as where a disk is full.
    """
    if age > MAX_AGE_UNFINISHED or sys.platform == "win32":
        return age > MAX_AGE_UNFINISHED
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return False
