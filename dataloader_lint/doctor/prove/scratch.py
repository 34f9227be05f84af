"""A copy of the project for trials: the user's files are read, and never written."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from dataloader_lint.doctor.script import Script

_MARKERS = ("pyproject.toml", "setup.cfg", "setup.py", ".git")
_LEFT_OUT = frozenset({".git", "__pycache__", ".venv", "venv", "node_modules", ".mypy_cache", ".dataloader_lint_cache"})
_MOST_BYTES = 4_000_000_000
_FICLONE = 0x40049409


class TooLargeError(RuntimeError):
    """The project is too large to be copied; the message says how large."""


@dataclasses.dataclass(frozen=True, slots=True)
class Scratch:
    """A copy of a project: its folder, the one of the original, and the script to run there."""

    folder: str
    root: str
    script: Script

    def original(self, path: str) -> str | None:
        """The user's file that a file of the copy stands for; None for a file elsewhere."""
        below = _below(path, os.path.realpath(self.folder))
        return os.path.join(self.root, below) if below is not None else None


def root_of(script: str) -> str:
    """The folder that is copied: the project of the script, or where it is started, or its own folder."""
    folder, here = Path(os.path.realpath(script)).parent, Path.cwd()
    for each in (folder, *folder.parents):
        if any((each / name).exists() for name in _MARKERS):
            return str(each)
    return str(here) if here == folder or here in folder.parents else str(folder)


@contextlib.contextmanager
def scratch_of(script: Script, texts: Mapping[str, bytes]) -> Iterator[Scratch]:
    """A copy of the project of a script for one run; `texts` are the contents of files that are other there.

    Raises TooLargeError.
    """
    root = root_of(script.path)
    with tempfile.TemporaryDirectory(prefix="dataloader-lint-", ignore_cleanup_errors=True) as base:
        folder = os.path.join(base, os.path.basename(root) or "project")
        _copy(root, folder)
        for path, content in texts.items():
            Path(folder, os.path.relpath(path, root)).write_bytes(content)
        here = _below(os.getcwd(), root)
        path = os.path.join(folder, os.path.relpath(os.path.realpath(script.path), root))
        variables = {"PYTHONPATH": _module_path(root, folder)}
        there = dataclasses.replace(
            script, path=path, folder=os.path.join(folder, here or ""), variables={**script.variables, **variables}
        )
        folder = os.path.realpath(folder)
        yield Scratch(folder, root, there)


def _module_path(root: str, folder: str) -> str:
    """PYTHONPATH with the copy in place of the project, which comes before one that is installed as it stands there."""
    given = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    found = []
    for each in given:
        below = _below(each, root)
        found.append(os.path.join(folder, below) if below is not None else each)
    if os.path.isdir(os.path.join(folder, "src")):
        found.append(os.path.join(folder, "src"))
    return os.pathsep.join([*found, folder])


def _below(path: str, root: str) -> str | None:
    """The path from a folder to what is in it, or None."""
    real = os.path.realpath(path)
    if real == root:
        return ""
    return real[len(root) + 1 :] if real.startswith(root + os.sep) else None


def _copy(root: str, folder: str) -> None:
    left, base = _MOST_BYTES, os.path.dirname(folder)
    for place, folders, names in os.walk(root):
        # The folder of temporary files, and so this copy, may lie in the project.
        ours = [each for each in folders if os.path.join(os.path.realpath(place), each) == os.path.realpath(base)]
        folders[:] = [each for each in folders if each not in _LEFT_OUT and each not in ours]
        target = os.path.join(folder, os.path.relpath(place, root))
        os.makedirs(target, exist_ok=True)
        for name in [*names, *(each for each in folders if os.path.islink(os.path.join(place, each)))]:
            path = os.path.join(place, name)
            if os.path.islink(path):
                os.symlink(os.path.realpath(path), os.path.join(target, name))
            elif os.path.isfile(path):
                left -= os.path.getsize(path)
                if left < 0:
                    raise TooLargeError(
                        f"{root} holds more than {_MOST_BYTES // 10**9} GB, and a trial copies it: keep data elsewhere"
                    )
                _copy_file(path, os.path.join(target, name))


def _copy_file(path: str, target: str) -> None:
    """Copy a file; where the file system can, without copying its content."""
    try:
        import fcntl

        with open(path, "rb") as source, open(target, "wb") as copy:
            fcntl.ioctl(copy.fileno(), _FICLONE, source.fileno())
        shutil.copystat(path, target)
    except (ImportError, OSError):
        shutil.copy2(path, target)
