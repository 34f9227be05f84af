"""What other files of a project say, be they notebooks or settings; read as texts when a fix asks for it.

A fix must not break any of them, so what cannot be told counts as a use. What a file says is kept as long as it stays
as it is; which files there are is looked at each time, as editors and `--fix` change them in between.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

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


def may_use_name(root: str, path: str, name: str) -> bool:
    """True if a file below a folder, other than the one at `path`, holds a word or imports that module with a star."""
    word = re.compile(rb"(?<!\w)%s(?!\w)" % re.escape(name.encode("utf-8", "replace")))
    module = _module_name(path)
    for file in _others(root, path):
        text = _text(file)
        if file is None or text is None or word.search(text) or _is_star_of(_said(file), module):
            return True
    return False


def is_imported_by_star(root: str, path: str) -> bool:
    """True if another file may take all names of the module at `path`: `from train import *`."""
    module = _module_name(path)
    return any(_is_star_of(_said(file), module) if file else True for file in _others(root, path))


def may_set_attribute(root: str, path: str, name: str) -> bool:
    """True if a file that may import the module at `path` stores something under a name: in an object, or in a class.

    So do `train.device = "mps"`, `device = "mps"` in the body of a class, and `setattr(train, "device", "mps")`.
    """
    module, written = _module_name(path), name.encode("utf-8", "replace")
    for file in _others(root, path):
        said = _said(file) if file else None
        if said is None or (written in said.stored and module in said.loaded):
            return True
    return False


def may_import(root: str, path: str) -> bool:
    """True if a file below a folder may import the module at `path`, run it by its name, or name it as an entry point.

    Running it as a script, which sets `__name__` to "__main__", is none of these.
    """
    module = _module_name(path)
    for file in _others(root, path):
        said = _said(file) if file else None
        if said is None or module in said.loaded:
            return True
    return False


def _is_star_of(said: _Said | None, module: bytes) -> bool:
    return said is None or module in said.stars or b"" in said.stars


def _module_name(path: str) -> bytes:
    """The last part of the name of a module; that of the folder for a package."""
    stem = os.path.splitext(path)[0]
    name = os.path.dirname(stem) if os.path.basename(stem) == "__init__" else stem
    return os.path.basename(name).encode("utf-8", "replace")


def _others(root: str, path: str) -> Iterator[_File | None]:
    """The files below a folder but one; None where there are too many."""
    listed = size = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [each for each in folders if each not in _SKIPPED and not each.startswith(".")]
        listed += len(names)
        for each in names:
            other = os.path.join(folder, each)
            if not each.endswith(_SUFFIXES) or other == path or not os.path.isfile(other):
                continue
            try:
                status = os.stat(other)
            except OSError:
                continue
            size += status.st_size
            if listed > MAX_LISTED or size > MAX_READ:
                yield None
                return
            yield other, status.st_mtime_ns, status.st_ctime_ns, status.st_size


def _text(file: _File | None) -> bytes | None:
    """What a file holds, with continued lines in one; None where it cannot be read."""
    if file is None:
        return None
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
