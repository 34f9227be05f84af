"""Measures the process that fetches batches: it times fetching and collating, and writes what it sees into a file.

Nothing here waits for anybody: each process appends lines to a file of its own, up to a number of lines. Measuring is
held to a share of the time that the process has lived.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import weakref
from collections.abc import Callable
from hashlib import blake2b
from json import dumps as _dumps  # kept, as the script may put something else into the module
from typing import Any

from dataloader_lint.doctor import reads
from dataloader_lint.doctor.budget import Budgets
from dataloader_lint.doctor.garbage import Collections
from dataloader_lint.doctor.memory import memory_of_this_process, threads_of_this_process
from dataloader_lint.doctor.pickling import pickled_by_path
from dataloader_lint.doctor.randomness import generator_states, sample_digest

MOST_LINES = 20_000
ROUNDS = 3  # times that workers are started for which more is read
_FIRST = 3  # batches whose samples are compared whatever that costs
_FIRST_DIGESTS = 64  # samples of them
_MOST_DIGESTS = 4_000
FIRST_MEMORY = (2, 4, 8, 16)  # batches after which the first workers read their memory whatever that costs
_ORDER = 8  # indices at the beginning of an epoch that tell its order from another


class Meter:
    """Measures the process that fetches batches: a worker, or the main process of a loader without workers."""

    def __init__(
        self,
        dataset: Any,
        worker: int,
        round: int,  # noqa: A002
        path: str,
        budgets: Budgets | None = None,
        *,
        reads_memory: bool = False,
    ) -> None:
        self._dataset = dataset
        self._reads_memory = reads_memory
        self._budgets = budgets or Budgets(is_late=round >= ROUNDS)
        self._path = path
        self._lines = MOST_LINES
        self._is_worker = worker >= 0
        self._round = round
        self._epoch = -1
        self._batches = 0
        self._samples = 0
        self._digests = 0
        self._looks = True
        self._began = time.monotonic()
        self._collections = Collections()
        self._collating = 0.0
        self._read: Any = None
        self._at_start: dict[str, str] = {}
        self.write("start", worker=worker, round=round, pid=os.getpid(), libraries=_library_threads())
        if self._is_worker:
            self._collections.start()
            if self._is_early:
                self.write("variables", values=reads.variables(dataset))
        self._next_state = 1
        self._write_state()
        if self._reads_memory:
            self._write_memory()

    @property
    def _is_early(self) -> bool:
        """True in the first times that workers are started, or epochs without workers."""
        return self._round < ROUNDS

    def attach(self, fetcher: Any) -> None:
        """Time the fetches of an epoch, which this fetcher is made for."""
        self._epoch += 1
        self._at_start = self._states() if self._is_early else {}
        self.write("epoch", epoch=self._epoch, states=self._at_start)
        # Without a circle: the Dataset must be freed when its iterator is.
        fetch, reference, collate = type(fetcher).fetch, weakref.ref(fetcher), fetcher.collate_fn
        first: list[Any] = []

        def timed_collate(data: Any) -> Any:
            if not self._looks:
                return collate(data)
            self._read = data
            start = time.perf_counter()
            try:
                return collate(data)
            except BaseException:
                self._read = None
                raise
            finally:
                self._collating = time.perf_counter() - start

        def timed_fetch(index: Any) -> Any:
            if len(first) < _ORDER and self._is_early:
                self._note_order(first, index)
            self._looks = self._batches < FIRST_MEMORY[-1] or time.monotonic() >= self._budgets.next
            if self._looks:
                return self._fetched(lambda: fetch(reference(), index), index)
            batch = fetch(reference(), index)
            self._batches += 1
            self._samples += len(index) if isinstance(index, (list, tuple)) else 1
            return batch

        fetcher.collate_fn, fetcher.fetch = timed_collate, timed_fetch

    def _note_order(self, first: list[Any], index: Any) -> None:
        first += index if isinstance(index, (list, tuple)) else [index]
        if len(first) >= _ORDER:
            digest = blake2b(repr(first[:_ORDER]).encode(), digest_size=8).hexdigest()
            self.write("order", epoch=self._epoch, digest=digest)

    def _fetched(self, fetch: Callable[[], Any], index: Any) -> Any:
        is_first = self._batches == 0
        compares = self._may_digest()
        before = self._at_start or (self._states() if compares else {})
        self._at_start = {}
        self._read, self._collating = None, 0.0
        seen: dict[str, int] = {}
        opened: dict[str, int] = {}
        start = time.perf_counter()
        looks = is_first and self._is_early
        with reads.watched(self._dataset, seen, opened, self._is_worker) if looks else contextlib.nullcontext():
            batch = fetch()
        seconds = time.perf_counter() - start
        data, self._read = self._read, None
        size = len(data) if isinstance(data, (list, tuple)) and isinstance(index, (list, tuple)) else 1
        self._batches += 1
        self._samples += size
        # What is measured must not change what the worker returns.
        with contextlib.suppress(Exception):
            if self._is_worker:
                collected = self._collections.count(seconds)
                if collected > 1 and 2 * collected >= self._batches:
                    self._collections.time_some()
            self._write_batch(seconds, size)
            if looks:
                self._look_at_first(batch, seen)
                if opened:
                    self.write("opened", names=opened, size=size)
            if compares:
                self._write_digests(index, data, before)
            is_due = self._reads_memory and self._batches in FIRST_MEMORY
            if is_due or self._budgets.memory.allows():
                self._write_memory()
        return batch

    def _write_batch(self, seconds: float, size: int) -> None:
        """The times of a batch, and after about 1, 2, 4, 8, ... of them what else is cheap to ask for."""
        if self._budgets.times.allows():
            with self._budgets.times.charged():
                self.write("batch", fetch=seconds - self._collating, collate=self._collating, size=size)
        if self._batches >= self._next_state:
            self._next_state = 2 * self._batches
            self._write_state()

    def _states(self) -> dict[str, str]:
        try:
            with self._budgets.samples.charged():
                return generator_states(self._dataset)
        except Exception:  # an object of the user's that cannot be walked
            return {}

    def _look_at_first(self, batch: Any, seen: dict[str, int]) -> None:
        self.write("drawn", epoch=self._epoch, states=generator_states(self._dataset), libraries=_library_threads())
        if seen:
            self.write("touched", names=seen)
        if not self._is_worker:  # nothing pickles it here
            return
        result = pickled_by_path(batch, "batch", seconds=1.0)
        if result.error:
            self.write("unpicklable", error=result.error, path=result.path)

    def _may_digest(self) -> bool:
        is_first = self._is_early and self._batches <= _FIRST and self._digests < _FIRST_DIGESTS
        return is_first or (self._digests < _MOST_DIGESTS and self._budgets.samples.allows())

    def _write_digests(self, index: Any, data: Any, before: dict[str, str]) -> None:
        """Digests of the samples of a batch, and the random generators that were used while it was read."""
        with self._budgets.samples.charged():
            states = generator_states(self._dataset)
            drawn = sorted(path for path, state in states.items() if before.get(path, state) != state)
            if isinstance(index, (list, tuple)) and isinstance(data, (list, tuple)):
                samples = list(zip(index, data, strict=False))[:64]
            else:
                samples = [(index, data)]
            digests = [(each if isinstance(each, int) else None, sample_digest(sample)) for each, sample in samples]
            self._digests += len(digests)
            self.write("samples", epoch=self._epoch, digests=digests, drawn=drawn, known=bool(before))

    def _write_state(self) -> None:
        """How many threads there are, and how long the containers of the Dataset are."""
        threads, lengths = threads_of_this_process(), reads.lengths(self._dataset)
        collections = self._collections
        self.write(
            "state",
            threads=threads,
            lengths=lengths,
            samples=self._samples,
            batches=self._batches,
            lived=time.monotonic() - self._began,
            collections=collections.count(),
            collecting=collections.count() * collections.each,
        )

    def _write_memory(self) -> None:
        with self._budgets.memory.charged():
            memory = memory_of_this_process()
        self.write("memory", own=memory.own, shared=memory.shared, batches=self._batches, samples=self._samples)

    def write(self, kind: str, **values: Any) -> None:
        """Append one line. What cannot be written is lost, and the worker goes on."""
        if self._lines <= 0:
            return
        self._lines -= 1
        # Opened each time: the program may close all descriptors, and use this one's number for a file of its own.
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(file, (_dumps({"kind": kind, **values}, default=str) + "\n").encode())
            finally:
                os.close(file)
        except OSError:
            self._lines = 0


def _library_threads() -> dict[str, int]:
    """How many threads the libraries that are loaded would use for one operation."""
    counts: dict[str, int] = {}
    torch, cv2 = sys.modules.get("torch"), sys.modules.get("cv2")
    if torch is not None:
        counts["torch"] = torch.get_num_threads()
    if cv2 is not None and hasattr(cv2, "getNumThreads"):
        counts["cv2"] = cv2.getNumThreads()
    return counts
