"""Trying other settings of a loader: each against the loader as it is, in pairs, one after the other."""

from __future__ import annotations

import copy
import dataclasses
import multiprocessing
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

from dataloader_lint.doctor.cleanup import end_workers, random_state_kept
from dataloader_lint.doctor.measured import LoaderReport, Trial
from dataloader_lint.engine.cpus import usable_cpus

_PAIRS = 3
_BATCHES = 50
_SECONDS = 60.0  # for all trials
_LONGEST_STEP = 0.1
_LONGEST_EPOCH = 10_000
_FEWEST_BATCHES = 10
_END = object()
# The settings that answer a symptom.
_ANSWERS = {
    "waiting": ("num_workers", "prefetch_factor"),
    "starting": ("persistent_workers",),
    "workers": ("num_workers",),
}


def try_settings(
    loader: Any,
    *,
    batches: int = _BATCHES,
    pairs: int = _PAIRS,
    seconds: float = _SECONDS,
    step: float = 0.0,
) -> list[Trial]:
    """Iterate a loader with other settings, one changed at a time, the most helpful first.

    Args:
        loader: the loader, which stays as it is.
        batches: how many batches each run takes at most, over two epochs.
        pairs: how many times each setting is compared with the loader as it is.
        seconds: no further comparison begins after so many seconds.
        step: how long the loop pauses after each batch, in place of what it does with it.
    """
    end = time.monotonic() + seconds
    settings = _settings(loader)
    step = min(step, _LONGEST_STEP)
    try:
        length = min(len(loader), _LONGEST_EPOCH)
    except TypeError:  # an iterable Dataset without a length
        length = batches
    if step > 0:  # each setting gets its share of the time
        batches = min(batches, max(_FEWEST_BATCHES, int(seconds / (2 * pairs * len(settings) * step))))
    ratios: dict[str, list[float]] = {setting: [] for setting, _ in settings}
    errors: dict[str, str] = {}
    taken = 0
    for number in range(pairs):
        for setting, changes in settings:
            # Another start method may take minutes, so once is enough.
            is_once = setting.startswith("multiprocessing_context")
            if time.monotonic() > end or setting in errors or (is_once and number < pairs - 1):
                continue
            try:
                before, taken = _timed(loader, {}, batches, step, length)
                after, _ = _timed(loader, changes, batches, step, length)
            except Exception as raised:
                errors[setting] = f"{type(raised).__name__}: {raised}".splitlines()[0]
            else:
                ratios[setting].append(after / max(before, 1e-9))
    found = [Trial(setting, float("inf"), 0.0, 0.0, 0, taken, length, error) for setting, error in errors.items()]
    for setting, several in ratios.items():
        if several and setting not in errors:
            found.append(Trial(setting, median(several), min(several), max(several), len(several), taken, length))
    return sorted(found, key=lambda each: each.ratio)


def with_gains(one: LoaderReport, trials: Sequence[Trial]) -> None:
    """Have the symptoms of the loader that was tried say what the best setting of their kind gained."""
    found = []
    for each in one.symptoms:
        names = _ANSWERS.get(each.kind, ())
        best = next((trial for trial in trials if trial.helps and trial.setting.partition("=")[0] in names), None)
        if best is not None:
            gain = f"`{best.setting}` takes {best.measured}"
            weight = max(one.wait, each.weight) * (1 - best.ratio)
            each = dataclasses.replace(each, gain=gain, weight=weight)
        found.append(each)
    one.symptoms = found


def _settings(loader: Any) -> list[tuple[str, dict[str, Any]]]:
    """The settings to try, with the attributes that they change."""
    count = loader.num_workers
    cpus = usable_cpus()
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


def _timed(loader: Any, changes: dict[str, Any], batches: int, step: float, length: int) -> tuple[float, int]:
    """Seconds for an epoch of so many batches, from the first batches of two; and how many batches came.

    The start of the workers counts once for each epoch, or not at all if they are persistent.
    """
    clone = copy.copy(loader)
    clone._iterator = None
    vars(clone).update(changes)
    if clone.num_workers and not clone.timeout:
        vars(clone)["timeout"] = _SECONDS
    starts: list[float] = []
    spent, taken = 0.0, 0
    iterator: Any = None
    with random_state_kept(clone):
        try:
            for _ in range(2):
                start = time.perf_counter()
                iterator = iter(clone)
                for number in range(max(2, batches // 2)):
                    if next(iterator, _END) is _END:
                        break
                    if number == 0:
                        starts.append(time.perf_counter() - start)
                        start = time.perf_counter()
                    taken += 1
                    time.sleep(step)
                spent += time.perf_counter() - start
                if not clone.persistent_workers:
                    end_workers(clone, iterator)
        finally:
            end_workers(clone, iterator)
    if not taken:
        raise RuntimeError("the loader gave no batch")
    start = starts[-1] if clone.persistent_workers else sum(starts) / len(starts)
    return start + length * spent / taken, taken
