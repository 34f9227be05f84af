"""The inputs of all answers: the texts of projects and their roots. It outlives a session."""

from __future__ import annotations

from collections.abc import Mapping

from dataloader_lint.gate import Gate
from dataloader_lint.semantics.project.answers import Answers
from dataloader_lint.semantics.project.dependencies import Dependencies
from dataloader_lint.semantics.project.disk import Disk
from dataloader_lint.semantics.project.sources import Sources
from dataloader_lint.source.projects import Roots


class LookedAt:
    """The disk as it was when it was looked at, and what was read from it. `named` are the directories that were named.

    It must hold no answers and be held by none: they go with their session, and this stays.
    """

    def __init__(self, gate: Gate, disk: Disk, named: tuple[str, ...]) -> None:
        self.disk = disk
        self._gate = gate
        self._named = named
        self._sources: dict[str, Sources] = {}
        self._roots: dict[str, str] = {}
        self._contexts: dict[str, str] = {}

    def answers(self, src: tuple[str, ...]) -> Answers:
        """Answers that nobody has asked for yet."""
        dependencies = Dependencies(is_noting=True)
        dependencies.disk, dependencies.roots, dependencies.contexts = self.disk, self._roots, self._contexts
        return Answers(src, self._gate, dependencies, self._named, self._sources)

    def begin(self, unsaved: Mapping[str, bytes]) -> bool:
        """Go on where an editor holds this instead of what is saved; False if anything else is not as it was."""
        if self.disk.have_unsaved(unsaved):
            self._sources.clear()
        roots = Roots(self._named)
        return (
            self.disk.is_current()
            and all(roots.of(folder) == root for folder, root in self._roots.items())
            and all(roots.context_in(folder) == each for folder, each in self._contexts.items())
        )
