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

from dataloader_lint.source.other_files import OtherFile, files_below, read
from dataloader_lint.source.projects import Roots

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
_IN_TEXTS = re.compile(rb"(?<![\w\x80-\xff])([\w\x80-\xff]++)(?:\.py)?[\"':.]")
# `x.device = ...`, `device = ...` below something, and `setattr(x, "device", ...)`.
_STORES = re.compile(rb"\.(\w+)[ \t]*=(?!=)|\n[ \t]+(\w+)[ \t]*=(?!=)|[\"'](?:[\w.]*\.)?(\w+)[\"']")


@dataclass(frozen=True, slots=True)
class _Said:
    """The modules that a file may load, those that it takes all names of, and the names that it stores something under.

    Modules stand there by the last parts of their names.
    """

    loaded: frozenset[bytes]
    stars: frozenset[bytes]
    stored: frozenset[bytes]


class Mentions:
    """What other files of a project say. `ask` answers on behalf of a module, and takes down what was asked."""

    def __init__(self, ask: Callable[[str, str, str], bool] | None = None) -> None:
        self._ask = ask or OtherFiles(Roots().of).say

    def may_use_name(self, path: str, name: str) -> bool:
        """True if a file of the project other than `path` holds a word, or takes all names of that module."""
        return self._ask(path, "uses name", name)

    def is_imported_by_star(self, path: str) -> bool:
        """True if another file may take all names of the module at `path`: `from train import *`."""
        return self._ask(path, "imports all", "")

    def may_set_attribute(self, path: str, name: str) -> bool:
        """True if a file that may import the module at `path` stores something under a name: in an object, or a class.

        So do `train.device = "mps"`, `device = "mps"` in the body of a class, and `setattr(train, "device", "mps")`.
        """
        return self._ask(path, "sets attribute", name)

    def may_use_attribute(self, path: str, name: str) -> bool:
        """True if a file that may import the module at `path` uses an attribute of that name."""
        return self._ask(path, "uses attribute", name)

    def may_import(self, path: str) -> bool:
        """True if a file may import the module at `path`, run it by its name, or name it as an entry point.

        Running it as a script, which sets `__name__` to "__main__", is none of these.
        """
        return self._ask(path, "imports", "")


class OtherFiles:
    """Answers for all files of a session; the files below a root are listed once. `root_of` gives it for a folder."""

    def __init__(self, root_of: Callable[[str], str]) -> None:
        self._root_of = root_of
        self._files: dict[str, list[OtherFile] | None] = {}

    def say(self, path: str, what: str, name: str) -> bool:
        """The answer to a question of `Mentions`; True as well where it cannot be told."""
        module, written = _module_name(path), name.encode("utf-8", "replace")
        files = self._others(path)
        if files is None:
            return True
        if what == "imports":
            return _any(files, lambda said: module in said.loaded)
        if what == "imports all":
            return _any(files, lambda said: _is_star_of(said, module))
        if what == "sets attribute":
            return _any(files, lambda said: written in said.stored and module in said.loaded)
        if what == "uses attribute":
            use = re.compile(rb"\.[ \t]{0,9}%s(?!\w)" % re.escape(written))
            loading = (file for file in files if (said := _said(file)) is None or module in said.loaded)
            return any((text := _text(file)) is None or use.search(text) for file in loading)
        assert what == "uses name"
        word = re.compile(rb"(?<!\w)%s(?!\w)" % re.escape(written))
        for file in files:
            text, said = _text(file), _said(file)
            if text is None or said is None or word.search(text) or _is_star_of(said, module):
                return True
        return False

    def _others(self, path: str) -> list[OtherFile] | None:
        """The other files of the project of a file; None where there are too many."""
        root = self._root_of(os.path.dirname(path))
        if root not in self._files:
            self._files[root] = files_below(root)
        files = self._files[root]
        return None if files is None else [each for each in files if each[0] != path]


def _any(files: list[OtherFile], is_it: Callable[[_Said], bool]) -> bool:
    return any(said is None or is_it(said) for said in map(_said, files))


def _is_star_of(said: _Said, module: bytes) -> bool:
    return module in said.stars or b"" in said.stars


def _module_name(path: str) -> bytes:
    """The last part of the name of a module; that of the folder for a package."""
    stem = os.path.splitext(path)[0]
    name = os.path.dirname(stem) if os.path.basename(stem) == "__init__" else stem
    return os.path.basename(name).encode("utf-8", "replace")


def _text(file: OtherFile) -> bytes | None:
    """What a file holds, with continued lines in one; None where it cannot be read."""
    content = read(file)
    return None if content is None else _CONTINUED.sub(b" ", content).replace(b"\r", b"\n")


@lru_cache(maxsize=8192)
def _said(file: OtherFile) -> _Said | None:
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
