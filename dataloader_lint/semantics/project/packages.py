"""The names of packages and modules, from folders with an `__init__.py`, or without one inside a package."""

from __future__ import annotations

import os
from collections.abc import Callable

from dataloader_lint.semantics.project.disk import Disk


class Packages:
    """The names of the packages of a run's projects, each worked out once. `root_of` gives the project of a folder."""

    def __init__(self, disk: Disk, root_of: Callable[[str], str]) -> None:
        self._disk = disk
        self._root_of = root_of
        self._names: dict[str, str] = {}

    def module_name(self, path: str) -> str:
        """What the module of a file is called, its packages ahead."""
        folder, file = os.path.split(path)
        parts = [self.name(folder), "" if file == "__init__.py" else os.path.splitext(file)[0]]
        return ".".join(filter(None, parts))

    def name(self, folder: str) -> str:
        """The dotted name of a package; empty for other folders."""
        if folder not in self._names:
            outer, name = os.path.split(folder)
            is_regular = self._is_regular(folder)
            is_inner = folder != self._root_of(folder) or (is_regular and self._is_regular(outer))
            around = self.name(outer) if is_inner and outer != folder else ""
            self._names[folder] = f"{around}.{name}".lstrip(".") if is_regular or around else ""
        return self._names[folder]

    def around(self, path: str) -> list[str]:
        """The `__init__.py` files of the packages that a module stands in, which importing it runs first."""
        found: list[str] = []
        folder = os.path.dirname(path)
        while self.name(folder):
            init = os.path.join(folder, "__init__.py")
            if init != path and self._is_regular(folder):
                found.append(init)
            folder = os.path.dirname(folder)
        return found

    def is_namespace(self, folder: str) -> bool:
        """True for a folder inside a package that holds modules and no `__init__.py`: a package without names."""
        is_candidate = not self._is_regular(folder) and any(name.endswith(".py") for name in self._disk.listed(folder))
        return is_candidate and bool(self.name(folder))

    def _is_regular(self, folder: str) -> bool:
        return self._disk.has_file(folder, "__init__.py")
