"""Moves of batches whose loader is known not to pin them."""

from __future__ import annotations

from dataclasses import dataclass

from dataloader_lint.rules.transfers._shared.batches import Origin, Transfer


@dataclass(frozen=True, slots=True, eq=False)
class UnpinnedMove:
    """A move of batches, and the loader that they come from, which pins none."""

    origin: Origin
    transfer: Transfer

    @property
    def place(self) -> str:
        """Where the loader is made, to follow its name; empty if it is made in the same file."""
        return f" of `{self.origin.file}`" if self.origin.file != self.transfer.file else ""


def is_unpinned(origin: Origin) -> bool:
    """True if a loader is known not to pin its batches, and no option can make it."""
    pins = origin.loader.known("pin_memory")
    return pins is not None and pins.value is False and not pins.default
