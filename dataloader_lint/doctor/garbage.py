"""Full collections of garbage in this process: how many there were, and how long they took."""

from __future__ import annotations

import gc
import time


class Collections:
    """Counts the collections of all generations between `start` and `stop`. Costs nothing where there are none."""

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0
        self._began = 0.0

    def start(self) -> Collections:
        """Begin."""
        gc.callbacks.append(self._called)
        return self

    def stop(self) -> None:
        """End."""
        if self._called in gc.callbacks:
            gc.callbacks.remove(self._called)

    def _called(self, phase: str, information: dict[str, int]) -> None:
        if information["generation"] < 2:
            return
        if phase == "start":
            self._began = time.perf_counter()
        else:
            self.count += 1
            self.seconds += time.perf_counter() - self._began
