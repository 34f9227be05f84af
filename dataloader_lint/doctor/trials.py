"""Trying other settings of a loader: each against the loader as it is, in pairs, one after the other."""

from __future__ import annotations

import copy
import multiprocessing
import os
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from dataloader_lint.doctor.watch import end_workers, random_state_kept

_PAIRS = 3
_BATCHES = 50
_SECONDS = 60.0  # for all trials
_END = object()


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting: the ratio of its time to that of the loader as it is, its lowest and highest, over pairs of runs."""

    setting: str
    ratio: float
    low: float
    high: float
    pairs: int
    batches: int
    error: str = ""

    def __str__(self) -> str:
        if self.error:
            return f"{self.setting}: failed, {self.error}"
        spread = f"{self.low:.2f} to {self.high:.2f} over {self.pairs} pairs of {self.batches} batches"
        effect = "helps" if self.high < 0.95 else "costs" if self.low > 1.05 else "makes no clear difference"
        return f"{self.setting}: {effect}, {self.ratio:.2f} times the time ({spread})"


def try_settings(
    loader: Any, *, batches: int = _BATCHES, pairs: int = _PAIRS, seconds: float = _SECONDS
) -> list[Trial]:
    """Iterate a loader with other settings, one changed at a time, the most helpful first.

    Args:
        loader: the loader, which stays as it is.
        batches: how many batches each run takes at most, over two epochs.
        pairs: how many times each setting is compared with the loader as it is.
        seconds: no further comparison begins after so many seconds.
    """
    end = time.monotonic() + seconds
    found = []
    for setting, changes in _settings(loader):
        ratios: list[float] = []
        error = ""
        taken = 0
        for _ in range(pairs):
            if time.monotonic() > end:
                break
            try:
                before, taken = _timed(loader, {}, batches)
                after, _ = _timed(loader, changes, batches)
            except Exception as raised:
                error = f"{type(raised).__name__}: {raised}".splitlines()[0]
                break
            ratios.append(after / max(before, 1e-9))
        if error:
            found.append(Trial(setting, float("inf"), 0.0, 0.0, 0, taken, error))
        elif ratios:
            found.append(Trial(setting, median(ratios), min(ratios), max(ratios), len(ratios), taken))
    return sorted(found, key=lambda each: each.ratio)


def _settings(loader: Any) -> list[tuple[str, dict[str, Any]]]:
    """The settings to try, with the attributes that they change."""
    count = loader.num_workers
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    ahead = loader.prefetch_factor or 2
    found: list[tuple[str, dict[str, Any]]] = []
    for workers in sorted({0, 1, 2, cpus, 2 * count} - {count}):
        if workers <= 2 * cpus:
            changes: dict[str, Any] = {"num_workers": workers, "prefetch_factor": ahead if workers else None}
            if not workers:
                changes |= {"persistent_workers": False, "timeout": 0, "_DataLoader__multiprocessing_context": None}
            found.append((f"num_workers={workers}", changes))
    if count:
        other = not loader.persistent_workers
        found.append((f"persistent_workers={other}", {"persistent_workers": other}))
        found.append((f"prefetch_factor={2 * ahead}", {"prefetch_factor": 2 * ahead}))
        for method in ("fork", "spawn"):
            now = loader.multiprocessing_context
            is_now = (now.get_start_method() if now is not None else multiprocessing.get_start_method()) == method
            if method in multiprocessing.get_all_start_methods() and not is_now:
                context = multiprocessing.get_context(method)
                found.append((f'multiprocessing_context="{method}"', {"_DataLoader__multiprocessing_context": context}))
    return found


def _timed(loader: Any, changes: dict[str, Any], batches: int) -> tuple[float, int]:
    """Seconds for two epochs, or the first batches of them, per batch; and how many batches came."""
    clone = copy.copy(loader)
    clone._iterator = None
    vars(clone).update(changes)
    if clone.num_workers and not clone.timeout:
        vars(clone)["timeout"] = _SECONDS
    start, taken = time.perf_counter(), 0
    iterator: Any = None
    with random_state_kept(clone):
        try:
            for _ in range(2):
                iterator = iter(clone)
                for _ in range(max(1, batches // 2)):
                    if next(iterator, _END) is _END:
                        break
                    taken += 1
                if not clone.persistent_workers:
                    end_workers(clone, iterator)
            elapsed = time.perf_counter() - start
        finally:
            end_workers(clone, iterator)
    if not taken:
        raise RuntimeError("the loader gave no batch")
    return elapsed / taken, taken
