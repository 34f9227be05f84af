"""Versions of the tool, exported into the cache, and their findings in code bases, which are kept there.

A version is named by the content of its `dataloader_lint` folder, so a commit and an unchanged working tree are the
same version. A code base is named by the paths, sizes and times of its files.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks import processes
from benchmarks.real_code import ROOT, findings_in

PACKAGE = "dataloader_lint"
KEPT = 20  # versions; each takes a few MB
SKIPPED = {".git", "__pycache__", ".dataloader_lint_cache"}


class UnknownVersionError(ValueError):
    """The text names neither a commit nor a checkout."""


@dataclass(frozen=True, slots=True)
class CodeBase:
    """Code to lint, and the options that it is linted with."""

    name: str
    folder: Path
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """An exported version: `folder` contains its package, and its findings beside that.

    Versions with the same content are equal, whatever they were called by.
    """

    name: str = field(compare=False)
    folder: Path

    def findings_file(self, code_base: CodeBase, content: str) -> Path:
        """Where the findings in a code base are kept; another file for other content, options or interpreter."""
        parts = [content, *code_base.options, sys.version, metadata.version("libcst")]
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
        return self.folder / "findings" / f"{code_base.name}-{digest}.json"

    def lint(self, code_base: CodeBase, kept: Path, jobs: int) -> list[dict[str, Any]]:
        """Lint a code base with this version, and keep the findings in the file.

        Raises:
            RuntimeError: the linter fails or is not done in time; nothing is kept then.
        """
        options = ("--no-cache", "-j", str(jobs), *code_base.options)
        found = findings_in(code_base.folder, options, tool=self.folder)
        kept.parent.mkdir(exist_ok=True)
        partial = kept.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps(found), encoding="utf-8")
        partial.replace(kept)
        return found


def export(name: str, cache: Path) -> Version:
    """Copy the package of a checkout, or of a commit of this repository, into the cache unless it is there.

    Raises:
        UnknownVersionError: there is no such commit or checkout.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".new-") as temporary:
        package = Path(temporary) / PACKAGE
        if (Path(name) / PACKAGE).is_dir():
            shutil.copytree(Path(name) / PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            _export_commit(name, Path(temporary))
        folder = cache / _content_hash(package)
        if not folder.exists():
            folder.mkdir()
            package.rename(folder / PACKAGE)
    os.utime(folder)  # the oldest are removed by their last use
    for old in sorted(_versions(cache), key=lambda each: each.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return Version(name, folder)


def _versions(cache: Path) -> Iterator[Path]:
    return (each for each in cache.iterdir() if not each.name.startswith("."))


def _export_commit(name: str, target: Path) -> None:
    archive = target / "commit.tar"
    git = ["git", "-C", str(ROOT), "archive", f"--output={archive}", f"{name}^{{commit}}", "--", PACKAGE]
    if name.startswith("-") or processes.run(git).returncode != 0:
        raise UnknownVersionError(f"{name!r} is neither a commit of this repository nor a folder with {PACKAGE}/ in it")
    with tarfile.open(archive) as tar:
        tar.extractall(target, filter="data")


def _content_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def stamp(folder: Path) -> str:
    """A hash that changes when a file of the folder does: of paths, sizes and times, without reading the files."""
    digest = hashlib.sha256()
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(names):
            path = os.path.join(parent, name)  # noqa: PTH118 - twice as fast over 100,000 files
            status = os.lstat(path)
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()
