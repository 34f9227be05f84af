"""Which modules of the project are loaded along with a module."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import libcst as cst

from dataloader_lint.semantics.libraries.catalogue import TOP_LEVEL
from dataloader_lint.semantics.limits import IMPORTED_MODULES
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.project.source import imports_in
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts


class Imports:
    """The imports between the modules of a session, each module read once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._direct: dict[str, tuple[str, ...]] = {}

    def reaches(self, start: Iterable[ModuleFacts], wanted: set[str]) -> bool:
        """True if importing some modules loads one of the wanted files, directly or through other modules.

        An import inside a function counts as well. True, too, where there are too many modules to tell.
        """
        return self.lead_to([module.path for module in start], wanted)

    def connect(self, path: str, other: str) -> bool:
        """True if importing one of two files loads the other one."""
        return self.lead_to([path], {other}) or self.lead_to([other], {path})

    def lead_to(self, start: Iterable[str], wanted: set[str]) -> bool:
        """The same as `reaches` for files by their paths; none is opened."""
        todo = list(start)
        seen: set[str] = set()
        for path in todo:  # grows while it is gone through
            if path in seen:
                continue
            if path in wanted or len(seen) >= IMPORTED_MODULES:
                return True
            seen.add(path)
            todo.extend(each for each in self._loaded_by(path) if each not in seen)
        return False

    def _loaded_by(self, path: str) -> tuple[str, ...]:
        if path not in self._direct:
            self._direct[path] = (*self.project.packages_around(path), *self._imported(path))
        return self._direct[path]

    def _imported(self, path: str) -> Iterator[str]:
        """What the text of a module imports: to parse all that lies on the way to a few files would cost too much."""
        for written, members in imports_in(self.project.code(path).encode(errors="replace")):
            name = written.lstrip(".")
            for each in (name, *(f"{name}.{member}".lstrip(".") for member in members)):
                found = self.project.locate(each, path, len(written) - len(name))
                if found is not None:
                    yield found
                    yield from self.project.packages_around(found)


def is_imported(project: Project, module: ModuleFacts, names: list[str] | None = None) -> bool:
    """True if a module of the project may import this one, and holds one of the names; its own where none are given."""
    own = os.path.splitext(os.path.basename(module.path))[0]
    return any(may_import(project, each, module, own) for each in project.importers(module, names or [own]))


def may_import(project: Project, importer: ModuleFacts, module: ModuleFacts, name: str) -> bool:
    """True if an import in `importer` means `module`, whose last name is `name`, or something that is not found."""
    for imported, level in _written(importer):
        if imported.rpartition(".")[2] != name:
            continue
        found = project.locate(imported, importer.path, level)
        is_library = not level and imported.partition(".")[0] in TOP_LEVEL
        if found == module.path or (found is None and not is_library):
            return True
    return False


def _written(module: ModuleFacts) -> Iterable[tuple[str, int]]:
    """What the imports of a module can mean, as dotted names with their level: modules, and members of some."""
    for scope in module.root.descend():
        for plain in scope.own(cst.Import):
            yield from ((dotted(alias.name), 0) for alias in plain.names)
        for member in scope.own(cst.ImportFrom):
            source, level = dotted(member.module), len(member.relative)
            yield source, level
            if not isinstance(member.names, cst.ImportStar):
                yield from ((f"{source}.{dotted(alias.name)}".lstrip("."), level) for alias in member.names)
