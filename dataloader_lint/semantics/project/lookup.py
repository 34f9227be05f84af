"""Which file an import resolves to: from the folders, and from scripts that change Python's search path."""

from __future__ import annotations

import os
from collections.abc import Callable

from dataloader_lint.semantics.libraries.catalogue import TOP_LEVEL
from dataloader_lint.semantics.project.disk import Disk
from dataloader_lint.semantics.project.packages import Packages
from dataloader_lint.semantics.project.search_paths import MARK, added_folders, imported_whole


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
        self.packages = Packages(disk, root_of)
        self._found: dict[tuple[str, str], str | None] = {}
        self._added: dict[str, tuple[str, ...]] = {}  # by script, the folders that it adds to those of Python

    def locate(self, importer: str, dotted: str, level: int) -> str | None:
        """The file of the module of the project that `import dotted` means in the file `importer`."""
        folder = os.path.dirname(importer)
        if level:
            start = self._meant_by_dots(importer, level)
            return self.module_file(start, dotted) if start else None
        top = dotted.partition(".")[0]
        if top in TOP_LEVEL and self.packages.module_name(importer).partition(".")[0] != top:
            return None
        for root in self._search_path(folder):
            path = self.module_file(root, dotted)
            if path is not None:
                return path
        above, name = os.path.split(self._root_of(folder))
        added = (*self._added_by(importer), *((above,) if name == top else ()))  # it may be a package itself
        found = (self.module_file(each, dotted) for each in added)
        return next((path for path in found if path is not None), None)

    def namespace(self, importer: str, dotted: str, level: int) -> str | None:
        """The folder without `__init__.py` inside a package that an import with dots means; None for none."""
        start = self._meant_by_dots(importer, level)
        folder = os.path.join(start, *dotted.split(".")) if start and dotted else start
        return folder if folder and self.packages.is_namespace(folder) else None

    def _meant_by_dots(self, importer: str, level: int) -> str:
        """The folder that so many dots mean; empty where they lead out of the project."""
        folder = os.path.dirname(importer)
        root = self._root_of(folder)
        for _ in range(level - 1):
            if folder == root:
                return ""
            folder = os.path.dirname(folder)
        return folder

    def _search_path(self, folder: str) -> list[str]:
        """Where an absolute import is looked for: the folders from the file's own up to above the project's root."""
        root = self._root_of(folder)
        found = [folder, *self._src]
        while folder != root and os.path.dirname(folder) != folder:
            folder = os.path.dirname(folder)
            found.append(folder)
        found.append(os.path.join(root, "src"))
        return found

    def changes_path(self, script: str) -> bool:
        """True if a script, or a module beside it, adds to Python's search path, so that nobody needs `PYTHONPATH`."""
        return bool(self._added_by(script))

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
