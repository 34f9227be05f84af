"""Which files of a project an import can mean, if the script was run from its own folder or from one above it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator

from dataloader_lint.semantics.libraries.catalogue import TOP_LEVEL
from dataloader_lint.semantics.project.import_texts import ImportedModule, Imports
from dataloader_lint.source.other_files import OtherFile

_PACKAGE = "__init__.py"
_LIBRARIES = TOP_LEVEL | sys.stdlib_module_names


class ImportTargets:
    """Answers for the files below a root. `src` are more folders with modules, `imports_of` reads a file.

    Where an import is found in no folder that Python would look into, it may mean each file that is called so: scripts
    change the search path. The same holds for a file beside another one of its name, if its folder is used by others.
    """

    def __init__(
        self,
        root: str,
        files: list[OtherFile],
        src: tuple[str, ...],
        imports_of: Callable[[OtherFile], Imports | None],
    ) -> None:
        self._root = root
        self._files = files
        self._src = src
        self._imports_of = imports_of
        self._by_path = {each[0]: each for each in files}
        self._links: dict[tuple[object, ...], list[str]] = {}
        for each in files:
            self._links.setdefault(each[-2:], []).append(each[0])
        self._stems: dict[str, list[str]] = {}  # by folder, the files that are modules in it
        for path in self._by_path:
            if path.endswith(".py"):
                self._stems.setdefault(os.path.dirname(path), []).append(path)
        self._found: dict[tuple[str, str], tuple[str, ...]] = {}
        self._entered: dict[str, bool] = {}
        self._words: dict[str, set[str]] = {}
        self._last_parts: dict[tuple[str, bool], set[str]] = {}  # by importer, of all that it loads

    def may_load(self, importer: str, imports: Imports, path: str) -> bool:
        """True if a file may load the module at `path`."""
        return _word_of(path) in imports.words or self._may_mean(importer, imports.modules, path, is_whole=False)

    def may_take_all(self, importer: str, imports: Imports, path: str) -> bool:
        """True if a file may take all names of the module at `path`."""
        words = imports.star_words
        return b"" in words or _word_of(path) in words or self._may_mean(importer, imports.stars, path, is_whole=True)

    def _may_mean(self, importer: str, modules: Iterable[ImportedModule], path: str, *, is_whole: bool) -> bool:
        words = self._words_of(path)
        key = (importer, is_whole)
        if key not in self._last_parts:
            loaded = (each for written in modules for each in ([written] if is_whole else _with_packages(written)))
            self._last_parts[key] = {dotted.rpartition(".")[2] for _, dotted in loaded}
        if "" not in self._last_parts[key] and words.isdisjoint(self._last_parts[key]):
            return False
        for written in modules:
            for each in [written] if is_whole else _with_packages(written):
                if each[1] and each[1].rpartition(".")[2] not in words:
                    continue
                found = self._is_target(importer, each, path)
                if found or (found is None and self._may_run_elsewhere(importer)):
                    return True
        return False

    def _is_target(self, importer: str, written: ImportedModule, path: str) -> bool | None:
        """True if an import can mean the file at `path`; None if another file hides it from who runs the importer."""
        level, dotted = written
        if level:
            folder = os.path.dirname(importer)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return any(self._is_same(each, path) for each in _files_of(folder, dotted))
        top, last = dotted.partition(".")[0], dotted.rpartition(".")[2]
        is_called_so = f"{os.sep}{_module_path(path)}".endswith(f"{os.sep}{dotted.replace('.', os.sep)}")
        found = self._on_search_path(os.path.dirname(importer), dotted)
        if any(self._is_same(each, path) for each in found):
            return True
        if found:
            return None if is_called_so else False
        return is_called_so or (last.encode() == _word_of(path) and top not in _LIBRARIES)

    def _on_search_path(self, folder: str, dotted: str) -> tuple[str, ...]:
        """The files that an absolute import can mean in the files of a folder."""
        key = (folder, dotted)
        if key not in self._found:
            places = [folder]
            while folder != self._root and os.path.dirname(folder) != folder:
                folder = os.path.dirname(folder)
                places.append(folder)
            places += [os.path.join(self._root, "src"), *self._src]
            if os.path.basename(self._root) == dotted.partition(".")[0]:
                places.append(os.path.dirname(self._root))
            candidates = (each for place in places for each in _files_of(place, dotted))
            self._found[key] = tuple(each for each in candidates if each in self._by_path)
        return self._found[key]

    def _words_of(self, path: str) -> set[str]:
        """What the last part of an import can be that means a file, or a link to it."""
        if path not in self._words:
            known = self._by_path.get(path)
            links = self._links.get(known[-2:], []) if known is not None and known[-1] else []
            self._words[path] = {_word_of(each).decode(errors="replace") for each in (path, *links)}
        return self._words[path]

    def _is_same(self, one: str, other: str) -> bool:
        """True if two paths are the same file, or links to it."""
        if one == other:
            return True
        first, second = self._by_path.get(one), self._by_path.get(other)
        return first is not None and second is not None and bool(first[-1]) and first[-2:] == second[-2:]

    def _may_run_elsewhere(self, importer: str) -> bool:
        """True if a file may run along with those of another folder, whose modules come first then."""
        folder = os.path.dirname(importer)
        if os.path.islink(importer):
            return True  # Python takes the folder that a link leads to
        if folder not in self._entered:
            self._entered[folder] = any(self._enters(each, folder) for each in self._files)
        return self._entered[folder]

    def _enters(self, file: OtherFile, folder: str) -> bool:
        imports = self._imports_of(file)
        if imports is None:
            return True
        if os.path.dirname(file[0]) == folder:
            return imports.changes_path
        modules = self._stems.get(folder, [])
        if any(_word_of(each) in imports.words for each in modules):
            return True
        wanted: dict[str, list[str]] = {}
        for each in modules:
            wanted.setdefault(_word_of(each).decode(errors="replace"), []).append(each)
        for written in imports.modules:
            for level, dotted in _with_packages(written):
                targets = wanted.get(dotted.rpartition(".")[2], [])
                if any(self._is_target(file[0], (level, dotted), each) for each in targets):
                    return True
        return False


def _with_packages(written: ImportedModule) -> Iterator[ImportedModule]:
    """What an import loads: the module, and the packages that it lies in."""
    level, dotted = written
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        yield level, ".".join(parts[:count])
    if level and dotted:
        yield level, ""


def _files_of(folder: str, dotted: str) -> Iterator[str]:
    """Where the module of a dotted name lies below a folder."""
    base = os.path.join(folder, *dotted.split(".")) if dotted else folder
    yield os.path.join(base, _PACKAGE)
    if dotted:
        yield f"{base}.py"


def _module_path(path: str) -> str:
    """The path of a module without its suffix; that of the folder for a package."""
    stem = os.path.splitext(path)[0]
    return os.path.dirname(stem) if os.path.basename(stem) == "__init__" else stem


def _word_of(path: str) -> bytes:
    """The last part of the name of the module at a path."""
    return os.path.basename(_module_path(path)).encode("utf-8", "replace")
