"""What answers come from: the texts of projects, and which folder is the root of which. It outlives a session."""

from __future__ import annotations

from dataloader_lint.facts.project.answers import Answers
from dataloader_lint.facts.project.dependencies import Dependencies
from dataloader_lint.facts.project.disk import Disk
from dataloader_lint.facts.project.sources import Sources
from dataloader_lint.gate import Gate
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

    def is_current(self) -> bool:
        """True if all that was looked at is still the same, and every file counts as it is on the disk."""
        roots = Roots(self._named)
        return (
            not any(each.has_unsaved for each in self._sources.values())
            and self.disk.is_current()
            and all(roots.of(folder) == root for folder, root in self._roots.items())
            and all(roots.context_in(folder) == each for folder, each in self._contexts.items())
        )
