"""Trees that a server keeps from one run to the next: most files are what they were when the last key was pressed."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst


class Trees:
    """The trees of texts that were parsed before, up to `room` characters of text, the oldest forgotten first.

    Within a run each tree is returned once, because files that happen to have the same text are still two files.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._size = 0
        self._trees: OrderedDict[str, cst.Module] = OrderedDict()
        self._taken: set[str] = set()

    def begin(self) -> None:
        """A new run begins, which shares nothing with those before."""
        self._taken.clear()

    def take(self, text: str) -> cst.Module | None:
        """The tree of a text, if it is cached and not yet used in this run."""
        if text not in self._trees or text in self._taken:
            return None
        self._trees.move_to_end(text)
        self._taken.add(text)
        return self._trees[text]

    def put(self, text: str, tree: cst.Module) -> None:
        """Keep the tree of a text that was parsed in this run."""
        if text in self._trees or len(text) > self._room:
            return
        self._trees[text] = tree
        self._taken.add(text)
        self._size += len(text)
        while self._size > self._room:
            oldest, _ = self._trees.popitem(last=False)
            self._size -= len(oldest)
