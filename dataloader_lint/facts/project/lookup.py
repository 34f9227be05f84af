"""Which file an import means: told from what lies in folders, and from scripts that change Python's search path."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from dataloader_lint.facts.libraries.catalogue import TOP_LEVEL
from dataloader_lint.facts.project.disk import Disk
from dataloader_lint.facts.project.search_paths import MARK, added_folders, imported_whole


class Lookup:
    """Finds modules. `src` are folders in which they are looked for besides those around the importing file.

    `root_of` gives the project of a folder, `text_of` the text of a file.
    """

    def __init__(
        self, disk: Disk, src: tuple[str, ...], root_of: Callable[[str], str], text_of: Callable[[str], str]
    ) -> None:
        self._disk = disk
        self._src = src
        self._root_of = root_of
        self._text_of = text_of
        self._packages: dict[str, str] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._added: dict[str, tuple[str, ...]] = {}  # by script, the folders that it adds to those of Python

    def locate(self, importer: str, dotted: str, level: int) -> str | None:
        """The file of the module of the project that `import dotted` means in the file `importer`."""
        folder = os.path.dirname(importer)
        if level:
            root = self._root_of(folder)
            for _ in range(level - 1):
                if folder == root:
                    return None  # dots may lead anywhere, but not to a module of this project
                folder = os.path.dirname(folder)
            return self.module_file(folder, dotted)
        top = dotted.partition(".")[0]
        if top in TOP_LEVEL and self._dotted_name(importer).partition(".")[0] != top:
            return None
        for root in self._search_path(folder):
            path = self.module_file(root, dotted)
            if path is not None:
                return path
        above, name = os.path.split(self._root_of(folder))
        added = (*self._added_by(importer), *((above,) if name == top else ()))  # it may be a package itself
        found = (self.module_file(each, dotted) for each in added)
        return next((path for path in found if path is not None), None)

    def _search_path(self, folder: str) -> list[str]:
        """Where an absolute import is looked for: the folders from the file's own up to above the project's root."""
        root = self._root_of(folder)
        found = [folder, *self._src]
        while folder != root and os.path.dirname(folder) != folder:
            folder = os.path.dirname(folder)
            found.append(folder)
        found.append(os.path.join(root, "src"))
        return found

    def _added_by(self, script: str) -> tuple[str, ...]:
        """The folders that a script adds to Python's search path, or a module beside it that it runs for that."""
        added = self._added.get(script)
        if added is None:
            self._added[script] = ()  # what it imports is looked for without them
            folder, root = os.path.dirname(script), self._root_of(os.path.dirname(script))
            texts = {script: self._text_of(script)}
            for name in imported_whole(texts[script]):
                path = self.module_file(folder, name)
                if path is not None and path != script:
                    texts[path] = self._text_of(path)
            has_folder = self._disk.has_folder
            found = (
                each
                for path, text in texts.items()
                if MARK in text
                for each in added_folders(path, text, root, has_folder)
            )
            added = self._added[script] = tuple(dict.fromkeys(found))
        return added

    def module_file(self, folder: str, dotted: str) -> str | None:
        """The file of module `dotted` below a folder: a module, a package, or none, as for namespace packages."""
        key = (folder, dotted)
        if key not in self._found:
            self._found[key] = self._module_file(folder, dotted)
        return self._found[key]

    def _module_file(self, folder: str, dotted: str) -> str | None:
        disk = self._disk
        top = dotted.partition(".")[0]
        # Most names are those of libraries, for which one look at what lies in the folder is enough.
        if top and top not in disk.listed(folder) and f"{top}.py" not in disk.listed(folder):
            return None
        base = os.path.join(folder, *dotted.split(".")) if dotted else folder
        if disk.has_file(base, "__init__.py"):
            return os.path.join(base, "__init__.py")
        return f"{base}.py" if dotted and disk.has_file(os.path.dirname(base), f"{os.path.basename(base)}.py") else None

    def is_in_package(self, path: str) -> bool:
        """True if a file lies in a folder with an `__init__.py`."""
        return self._disk.has_file(os.path.dirname(path), "__init__.py")

    def packages_around(self, path: str) -> Iterator[str]:
        """The `__init__.py` files of the packages that a module stands in: importing it runs them first."""
        folder = os.path.dirname(path)
        while self._disk.has_file(folder, "__init__.py"):
            init = os.path.join(folder, "__init__.py")
            if init != path:
                yield init
            if folder == os.path.dirname(folder):
                return
            folder = os.path.dirname(folder)

    def _dotted_name(self, path: str) -> str:
        """What the module of a file is called, its packages ahead."""
        folder, name = os.path.split(path)
        parts = [self._package(folder), "" if name == "__init__.py" else os.path.splitext(name)[0]]
        return ".".join(filter(None, parts))

    def _package(self, folder: str) -> str:
        """The dotted name of a package from the folders with an `__init__.py` above it; empty for other folders."""
        if folder not in self._packages:
            self._packages[folder] = ""
            if self._disk.has_file(folder, "__init__.py"):
                outer, name = os.path.split(folder)
                self._packages[folder] = ".".join(filter(None, (self._package(outer), name)))
        return self._packages[folder]
