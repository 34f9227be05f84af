"""The classes of one file among those of its project, for a text that differs from the disk."""

from __future__ import annotations

from dataloader_lint.semantics.project.dataset_names import DatasetNames


class OwnNames:
    """Answers as `DatasetNames` does, for a text that may differ from what is on the disk.

    Such are notebooks, files of folders that are skipped, and texts with fixes. What they define matters to themselves
    alone: no answer may depend on which of them was linted before.
    """

    __slots__ = ("_around", "_found", "_own")

    def __init__(self, around: DatasetNames, text: bytes) -> None:
        self._around = around
        self._own = DatasetNames()
        self._own.add(text)
        self._found: set[bytes] | None = None

    def __contains__(self, name: bytes) -> bool:
        if name in self._around:
            return True
        if self._found is None:
            self._found = self._own.deriving_from(self._around)
        return name in self._found

    def knows(self, name: bytes) -> bool:
        """True if it is the name of a class, or another name for something."""
        return self._own.knows(name) or self._around.knows(name)

    def is_subclass(self, name: bytes) -> bool:
        """True if a class may derive from a Dataset, not only look like one."""
        behind = self._own.behind(name) or {name}
        return self._own.is_subclass(name) or any(map(self._around.is_subclass, behind))
