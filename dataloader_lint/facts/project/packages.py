"""What packages and modules are called, told from folders: with an `__init__.py`, or without one inside a package."""

from __future__ import annotations

import os

from dataloader_lint.source.projects import Roots


class Packages:
    """The names of the packages of a run's projects, each worked out once."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
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
            is_regular = _is_regular(folder)
            is_inner = folder != self._roots.of(folder) or (is_regular and _is_regular(outer))
            around = self.name(outer) if is_inner and outer != folder else ""
            self._names[folder] = f"{around}.{name}".lstrip(".") if is_regular or around else ""
        return self._names[folder]

    def around(self, path: str) -> list[str]:
        """The `__init__.py` files of the packages that a module stands in, which importing it runs first."""
        found: list[str] = []
        folder = os.path.dirname(path)
        while self.name(folder):
            init = os.path.join(folder, "__init__.py")
            if init != path and os.path.isfile(init):
                found.append(init)
            folder = os.path.dirname(folder)
        return found


def module_file(folder: str, dotted: str) -> str | None:
    """The file of module `dotted` below a folder; None where there is none."""
    base = os.path.join(folder, *dotted.split(".")) if dotted else folder
    package = os.path.join(base, "__init__.py")
    if os.path.isfile(package):
        return package
    return base + ".py" if dotted and os.path.isfile(base + ".py") else None


def _is_regular(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "__init__.py"))
