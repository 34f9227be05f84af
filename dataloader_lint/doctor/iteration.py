"""One iterator of a loader that is watched: the times of its batches, and what its loader holds."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from dataloader_lint.doctor import reads, shm
from dataloader_lint.doctor.contents import contents_of
from dataloader_lint.doctor.garbage import Collections
from dataloader_lint.doctor.records import MOST_TIMES, Epoch, LoaderRecord
from dataloader_lint.doctor.signals import children_ignored

_PATIENCE = 5.0  # seconds that a killed worker may take to end
_LOOKS = 3.0  # seconds that looks at Datasets may take, and a share of the time beyond that
_SHARE_OF_LOOKS = 0.005
_FIRST = 3  # batches that are looked at whatever that costs


class Iteration:
    """One iterator of a loader: the times of its batches. Holds nothing of the user's."""

    def __init__(
        self,
        record: LoaderRecord,
        epoch: Epoch,
        iterator: Any,
        simple: dict[str, str],
        collections: Collections,
        kind: type,
        *,
        is_another: bool,
    ) -> None:
        self.record = record
        self._epoch = epoch
        self._workers = list(getattr(iterator, "_workers", ()))
        self._keeps_workers = bool(getattr(iterator, "_persistent_workers", False))
        self._simple = simple
        self._collections = collections
        self._kind = kind
        self._is_another = is_another
        self._has_looked = False
        self._collected = 0
        self._given: float | None = None

    def begin(self, epoch: Epoch, dataset: Any) -> None:
        """Another epoch with the same workers, which know nothing of what the program has changed since."""
        with contextlib.suppress(Exception):  # a Dataset that does not want to be looked at
            for name, now in reads.simple_attributes(dataset).items():
                before = self._simple.get(name, now)
                if before != now:
                    self.record.stale[name] = before, now
        self.record.epochs.append(epoch)
        self._epoch, self._given = epoch, None

    def next(self, inner: Any, iterator: Any) -> Any:
        """The next batch of the iterator; raises what it raises."""
        record, epoch = self.record, self._epoch
        asked = time.monotonic()
        if self._given is not None:
            self._note_collections(self._collections.count(asked - self._given) - self._collected)
            if len(record.steps) < MOST_TIMES:
                record.steps.append(asked - self._given)
        try:
            batch = inner(iterator)
        except StopIteration:
            epoch.ended, self._given = True, None
            self.look(iterator)
            self.finish()
            raise
        except BaseException as error:
            record.error, self._given = f"{type(error).__name__}: {error}", None
            with children_ignored():
                self._wait_for_the_dead(error)
                self.finish()
            self.look(iterator)
            raise
        came = time.monotonic()
        if epoch.batches == 0:
            epoch.first_wait = came - asked
        elif len(record.waits) < MOST_TIMES:
            record.waits.append(came - asked)
        epoch.batches += 1
        record.batches += 1
        record.seconds = max(record.seconds, came - record.epochs[0].started - record.paused)
        if record.batches <= _FIRST or record.budget.allows():
            with contextlib.suppress(Exception), record.budget.charged():  # a batch of any class must pass
                self._measure(batch)
        self._given = time.monotonic()
        self._collected = self._collections.count(self._given - asked)
        return batch

    def _note_collections(self, count: int) -> None:
        """Note that so many collections of garbage came in one step of the loop."""
        record, collections = self.record, self._collections
        if not count:
            return
        record.collections += count
        if record.collections > 1 and 2 * record.collections >= record.batches:
            collections.time_some()
            record.collecting = record.collections * collections.each

    def look(self, iterator: Any) -> None:
        """Look at what the loader holds, once, while that is still there."""
        record, start = self.record, time.monotonic()
        if self._has_looked or (record.contents is not None and not self._is_another):
            return
        self._has_looked = True
        # Loaders that are made again, each with a Dataset of its own, must not cost the program more than a little.
        if record.paused > max(_LOOKS, _SHARE_OF_LOOKS * (start - record.epochs[0].started)):
            return
        dataset = getattr(iterator, "_dataset", None)
        found = contents_of(dataset, iterator, record, kind=self._kind)
        if record.contents is None or found.size >= record.contents.size:
            record.contents = found
        record.paused += time.monotonic() - start

    def _wait_for_the_dead(self, error: BaseException) -> None:
        """Where torch says that a worker has died, or a connection to one broke, wait until its exit code is known."""
        if not isinstance(error, (OSError, EOFError)) and "DataLoader worker" not in str(error):
            return
        end = time.monotonic() + _PATIENCE
        with contextlib.suppress(ValueError, AssertionError):
            while self._workers and all(each.exitcode is None for each in self._workers):
                if time.monotonic() > end:
                    return
                time.sleep(0.01)

    def _measure(self, batch: Any) -> None:
        record = self.record
        record.batch_bytes, record.batch_tensors = max(
            (record.batch_bytes, record.batch_tensors), shm.batch_size_in_bytes(batch)
        )
        if record.settings.pin_memory and record.unpinned is None:
            import torch

            if torch.cuda.is_available():
                record.unpinned = shm.tensors_not_pinned(batch)
        record.shm_files = max(record.shm_files, shm.named_files())
        now = shm.limits()
        record.shm_size, record.descriptor_limit = now.shm_size, now.descriptor_limit
        if now.descriptors is not None:
            record.descriptors.setdefault(len(record.epochs), []).append((record.batches, now.descriptors))
        if now.shm_free is not None:
            record.shm_free.append(now.shm_free)

    def finish(self) -> None:
        """Note how the workers ended, as far as they have, and let go of them: each holds descriptors."""
        for worker in self._workers:
            with contextlib.suppress(ValueError, AssertionError):  # closed, or started by another process
                if worker.pid is not None and worker.exitcode is not None:
                    self.record.exit_codes[worker.pid] = worker.exitcode
        if self._epoch.ended and not self._keeps_workers:
            self._workers = []
