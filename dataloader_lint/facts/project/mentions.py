"""What other files of a project say, be they notebooks or settings; read as texts when a fix asks for it.

A fix must not break any of them, so what cannot be told counts as a use. What a file says is kept as long as it stays
as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from dataloader_lint.source.projects import Roots

_SUFFIXES = (".py", ".pyi", ".pyx", ".ipynb", ".cfg", ".gin", ".ini", ".json", ".toml", ".yaml", ".yml")
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
MAX_LISTED = 20_000
MAX_READ = 50_000_000  # bytes, which takes less than a second
_CONTINUED = re.compile(rb"\\\r?\n|\\\r")
# An import, to the end of its line or of its brackets.
_IMPORTS = re.compile(rb"(?<!\w)(?:from|import)(?!\w)(?:[^\n(]*\([^)]{0,2000}|[^\n]*)")
_STAR = re.compile(rb"import[ \t]*\*")
_WORDS = re.compile(rb"[\w\x80-\xff]+")
# Words of files that load a module by the text of its name, and how such texts end.
_LOADING = re.compile(
    rb"import_module|__import__|runpy|run_path|run_module|spec_from_file_location|load_source|entry_points|"
    rb"console_scripts|gui_scripts|scripts|_target_"
)
_IN_TEXTS = re.compile(rb"([\w\x80-\xff]+)(?:\.py)?[\"':.]")
# `x.device = ...`, `device = ...` below something, and `setattr(x, "device", ...)`.
_STORES = re.compile(rb"\.(\w+)[ \t]*=(?!=)|\n[ \t]+(\w+)[ \t]*=(?!=)|[\"'](?:[\w.]*\.)?(\w+)[\"']")

_File = tuple[str, int, int, int]  # its path, and what changes with its content


@dataclass(frozen=True, slots=True)
class _Said:
    """The modules that a file may load, those that it takes all names of, and the names that it stores something under.

    Modules stand there by the last parts of their names.
    """

    loaded: frozenset[bytes]
    stars: frozenset[bytes]
    stored: frozenset[bytes]


class Mentions:
    """Answers for all files of a session; the files below a root are listed once.

    `sought` collects the words that were looked for in all files, by the file that asked.
    """

    def __init__(self, roots: Roots | None = None, sought: dict[str, set[bytes]] | None = None) -> None:
        self._roots = roots or Roots()
        self._sought = sought if sought is not None else {}
        self._files: dict[str, list[_File] | None] = {}

    def may_use_name(self, path: str, name: str) -> bool:
        """True if a file of the project other than `path` holds a word, or takes all names of that module."""
        written = name.encode("utf-8", "replace")
        word = re.compile(rb"(?<!\w)%s(?!\w)" % re.escape(written))
        module = _module_name(path)
        self._sought.setdefault(path, set()).update((written, module))
        files = self._others(path)
        if files is None:
            return True
        for file in files:
            text, said = _text(file), _said(file)
            if text is None or said is None or word.search(text) or _is_star_of(said, module):
                return True
        return False

    def is_imported_by_star(self, path: str) -> bool:
        """True if another file may take all names of the module at `path`: `from train import *`."""
        module = _module_name(path)
        return self._any(path, lambda said: _is_star_of(said, module), module)

    def may_set_attribute(self, path: str, name: str) -> bool:
        """True if a file that may import the module at `path` stores something under a name: in an object, or a class.

        So do `train.device = "mps"`, `device = "mps"` in the body of a class, and `setattr(train, "device", "mps")`.
        """
        module, written = _module_name(path), name.encode("utf-8", "replace")
        return self._any(path, lambda said: written in said.stored and module in said.loaded, module, written)

    def may_use_attribute(self, path: str, name: str) -> bool:
        """True if a file that may import the module at `path` uses an attribute of that name."""
        module, written = _module_name(path), name.encode("utf-8", "replace")
        use = re.compile(rb"\.[ \t]{0,9}%s(?!\w)" % re.escape(written))
        self._sought.setdefault(path, set()).update((written, module))
        files = self._others(path)
        if files is None:
            return True
        loading = (file for file in files if (said := _said(file)) is None or module in said.loaded)
        return any((text := _text(file)) is None or use.search(text) for file in loading)

    def may_import(self, path: str) -> bool:
        """True if a file may import the module at `path`, run it by its name, or name it as an entry point.

        Running it as a script, which sets `__name__` to "__main__", is none of these.
        """
        module = _module_name(path)
        return self._any(path, lambda said: module in said.loaded, module)

    def _any(self, path: str, is_it: Callable[[_Said], bool], *words: bytes) -> bool:
        self._sought.setdefault(path, set()).update(words)
        files = self._others(path)
        return files is None or any(said is None or is_it(said) for said in map(_said, files))

    def _others(self, path: str) -> list[_File] | None:
        """The other files of the project of a file; None where there are too many."""
        root = self._roots.of(os.path.dirname(path))
        if root not in self._files:
            self._files[root] = _files_below(root)
        files = self._files[root]
        return None if files is None else [each for each in files if each[0] != path]


def _is_star_of(said: _Said, module: bytes) -> bool:
    return module in said.stars or b"" in said.stars


def _module_name(path: str) -> bytes:
    """The last part of the name of a module; that of the folder for a package."""
    stem = os.path.splitext(path)[0]
    name = os.path.dirname(stem) if os.path.basename(stem) == "__init__" else stem
    return os.path.basename(name).encode("utf-8", "replace")


def _files_below(root: str) -> list[_File] | None:
    """The files below a folder that may say something; None where there are too many."""
    found: list[_File] = []
    listed = size = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [each for each in folders if each not in _SKIPPED and not each.startswith(".")]
        listed += len(names)
        for each in names:
            path = os.path.join(folder, each)
            if not each.endswith(_SUFFIXES) or not os.path.isfile(path):
                continue
            try:
                status = os.stat(path)
            except OSError:
                continue
            size += status.st_size
            if listed > MAX_LISTED or size > MAX_READ:
                return None
            found.append((path, status.st_mtime_ns, status.st_ctime_ns, status.st_size))
    return found


def _text(file: _File) -> bytes | None:
    """What a file holds, with continued lines in one; None where it cannot be read."""
    try:
        with open(file[0], "rb") as opened:
            return _CONTINUED.sub(b" ", opened.read(MAX_READ)).replace(b"\r", b"\n")
    except OSError:
        return None


@lru_cache(maxsize=8192)
def _said(file: _File) -> _Said | None:
    text = _text(file)
    if text is None:
        return None
    loaded = {word for found in _IMPORTS.findall(text) for word in _WORDS.findall(found)}
    if _LOADING.search(text):
        loaded.update(_IN_TEXTS.findall(text))
    before = (text[max(0, found.start() - 300) : found.start()].split()[-1:] for found in _STAR.finditer(text))
    stars = {each[0].rpartition(b".")[2] if each else b"" for each in before}
    stored = {name for names in _STORES.findall(text) for name in names if name}
    return _Said(frozenset(loaded), frozenset(stars), frozenset(stored))
