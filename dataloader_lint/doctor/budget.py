"""How much time measuring may take: a share of the time that has passed, so that it costs the loop little."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

_MOST_EARLY = 0.06  # seconds that the higher share of the beginning may come to


class Budget:
    """The time that one kind of measurement may take.

    `share` is its part of the time since it could be made first. `early` is a part that comes on top until it has added
    up to 60 ms, so that short loops are measured as well. The first measurement comes after `first` seconds. `next` is
    when the next one is allowed, on the clock of `time.monotonic`.
    """

    def __init__(self, share: float, early: float = 0.0, first: float = 0.0) -> None:
        self._share = share
        self._early = early
        self._began = time.monotonic()
        self._spent = 0.0
        self.next = self._began + first

    def allows(self) -> bool:
        """True if there is time for one more measurement."""
        return time.monotonic() >= self.next

    @contextlib.contextmanager
    def charged(self) -> Iterator[None]:
        """A block whose time is charged. Another one is allowed when it will fit if it lasts as long."""
        start = time.monotonic()
        try:
            yield
        finally:
            last = time.monotonic() - start
            self._spent += last
            self.next = self._began + self._when_allowed(self._spent + last)

    def _when_allowed(self, spent: float) -> float:
        """The seconds after the beginning when so much may have been spent."""
        soon = spent / (self._share + self._early)
        return soon if self._early * soon <= _MOST_EARLY else (spent - _MOST_EARLY) / self._share


class Budgets:
    """The time for each kind of measurement in one process: together 1.25 % in the long run.

    With `is_late` a short life has none of the expensive ones: as a worker of a loader that starts many.
    """

    def __init__(self, *, is_late: bool = False) -> None:
        # A reading of memory takes 6 ms where torch is loaded, the states of random generators 1 ms.
        self.memory = Budget(0.005, early=0.02, first=0.3 if is_late else 0.0)
        self.samples = Budget(0.005, first=0.2 if is_late else 0.0)
        self.times = Budget(0.0025)

    @property
    def next(self) -> float:
        """When the next measurement of any kind is allowed."""
        return min(self.memory.next, self.samples.next, self.times.next)
