"""Full collections of garbage in this process: how many there were, and how long some of them took."""

from __future__ import annotations

import gc
import time
from gc import get_stats as _get_stats  # kept, as the script may put something else into the module

_TIMED = 8  # collections whose time stands for all
_LEAST = 0.002  # seconds that one takes at least, where it matters: Python takes 1 µs to say how many there were


class Collections:
    """Counts the collections of all generations since `start`.

    Their number comes from what Python counts anyway. Only where there are many is a function called for each, which
    the program could find in `gc.callbacks`, until some of them have been timed.
    """

    def __init__(self) -> None:
        self._before = 0
        self._known = 0
        self._seconds = 0.0
        self._timed = 0
        self._began: float | None = None
        self._is_timing = False

    def start(self) -> Collections:
        """Begin."""
        self._before = _full()
        return self

    def stop(self) -> None:
        """End."""
        if self._is_timing:
            self._is_timing = False
            gc.callbacks.remove(self._called)

    def count(self, seconds: float = _LEAST) -> int:
        """How many there were. Asks Python only if one fits into the seconds that have passed since it was asked."""
        if seconds >= _LEAST:
            self._known = _full() - self._before
        return self._known

    @property
    def each(self) -> float:
        """The seconds that one takes; 0 if none was timed."""
        return self._seconds / self._timed if self._timed else 0.0

    def time_some(self) -> None:
        """Time the next ones, unless enough were."""
        # Not while they are called: Python would skip the program's own function behind this one.
        if self._timed >= _TIMED:
            self.stop()
        elif not self._is_timing:
            self._is_timing = True
            gc.callbacks.append(self._called)

    def _called(self, phase: str, information: dict[str, int]) -> None:
        if information["generation"] < 2:
            return
        if phase == "start":
            self._began = time.perf_counter()
        elif self._began is not None:
            self._timed += 1
            self._seconds += time.perf_counter() - self._began
            self._began = None


def _full() -> int:
    """How many collections of all generations there were since the process began."""
    return int(_get_stats()[-1]["collections"])
