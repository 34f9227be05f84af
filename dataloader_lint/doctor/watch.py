"""Watching DataLoaders while a program iterates them.

While a `Watch` is active, four methods of torch's DataLoader tell it when the constructor raises, when an iterator is
made, when it is reset for another epoch, and when a batch is asked for and comes. The loaders, their iterators and
their batches stay the user's own, and workers get everything they would get anyway, beside a `worker_init_fn` that has
them measure themselves.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
import tempfile
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from dataloader_lint.doctor import reads, shm
from dataloader_lint.doctor.garbage import Collections
from dataloader_lint.doctor.inside import InWorker, read_lines
from dataloader_lint.doctor.meter import FIRST_MEMORY, ROUNDS, Meter
from dataloader_lint.doctor.records import MOST_TIMES, Epoch, LoaderRecord, Raised, settings_of
from dataloader_lint.doctor.signals import children_ignored
from dataloader_lint.engine.parallel import usable_cpus

STALL = 120.0
_MOST_LOADERS = 20
_PATIENCE = 5.0  # seconds that a killed worker may take to end
_FIRST = 3  # batches that are looked at whatever that costs
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class UnsupportedTorchError(RuntimeError):
    """This version of torch has no DataLoader that can be watched."""


class Watch:
    """Watches loaders from `start` to `stop`.

    `only` are the loaders to watch, or None for all. A worker that gives no batch for `stall` seconds makes the loader
    raise, as its own `timeout` would, so that a program that hangs comes to an end; 0 leaves that as it is.
    """

    def __init__(self, only: list[Any] | None = None, *, stall: float = STALL) -> None:
        self.records: list[LoaderRecord] = []
        self.raised: list[Raised] = []
        self.on_batch: Callable[[LoaderRecord], None] | None = None
        self._only = only
        self._stall = stall
        self._folder = ""
        self._by_iterator: weakref.WeakKeyDictionary[Any, _Iteration] = weakref.WeakKeyDictionary()
        self._iterations: list[_Iteration] = []
        self._undo = contextlib.ExitStack()
        self._collections = Collections()

    def start(self) -> Watch:
        """Begin. Raises UnsupportedTorchError."""
        import torch
        from torch.utils.data import DataLoader, dataloader

        base = getattr(dataloader, "_BaseDataLoaderIter", None)
        several = getattr(dataloader, "_MultiProcessingDataLoaderIter", None)
        if base is None or several is None or not hasattr(DataLoader, "_get_iterator"):
            raise UnsupportedTorchError(f"the DataLoader of torch {torch.__version__} cannot be watched")
        self._folder = tempfile.mkdtemp(prefix="dataloader-lint-")
        self._undo.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self._collections.start()
        self._undo.callback(self._collections.stop)
        if self._only is None:
            self._replace(DataLoader, "__init__", self._constructing)
        self._replace(DataLoader, "_get_iterator", self._making)
        self._replace(base, "__next__", self._asking)
        self._replace(several, "_reset", self._resetting)
        return self

    def stop(self) -> list[LoaderRecord]:
        """End; what was seen. Workers of loaders that are still in use go on."""
        with children_ignored():
            for iteration in self._iterations:
                iteration.finish()
            for record in self.records:
                record.workers = read_lines(record.folder)
            self._undo.close()
        return self.records

    def _replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        inner = getattr(owner, name)
        own = owner.__dict__.get(name)
        setattr(owner, name, make(inner))

        def restore() -> None:
            if own is None:
                delattr(owner, name)
            else:
                setattr(owner, name, own)

        self._undo.callback(restore)

    def _record_of(self, loader: Any) -> LoaderRecord | None:
        for record in self.records:
            if record.loader is loader:
                return record
        if (self._only is not None and not any(loader is each for each in self._only)) or not self._folder:
            return None
        place, settings = _caller(), settings_of(loader)
        for record in self.records:
            # A loader that is made again for each epoch, or each batch, is one and the same in the report.
            is_alike = type(record.loader.dataset) is type(loader.dataset) and record.settings == settings
            if self._only is None and record.place == place and is_alike:
                record.has_several_datasets |= record.loader.dataset is not loader.dataset
                record.loader = loader
                return record
        if len(self.records) >= _MOST_LOADERS:
            return None
        folder = os.path.join(self._folder, str(len(self.records)))
        os.mkdir(folder)
        record = LoaderRecord(loader, place, settings, folder)
        self.records.append(record)
        return record

    def note(self, error: BaseException) -> None:
        """Keep what a loader raised; the program may catch it."""
        if isinstance(error, Exception) and len(self.raised) < _MOST_LOADERS:
            files = tuple(frame.filename for frame in traceback.extract_tb(error.__traceback__))
            self.raised.append(Raised(f"{type(error).__name__}: {error}", _caller(), files))

    def _constructing(self, inner: Any) -> Any:
        @functools.wraps(inner)  # Lightning asks for its parameters
        def __init__(loader: Any, *arguments: Any, **named: Any) -> None:  # noqa: N807
            try:
                inner(loader, *arguments, **named)
            except Exception as error:
                self.note(error)
                raise

        return __init__

    def _making(self, inner: Any) -> Any:
        def _get_iterator(loader: Any) -> Any:
            record = self._record_of(loader)
            return inner(loader) if record is None else self._make(inner, loader, record)

        return _get_iterator

    def _make(self, inner: Any, loader: Any, record: LoaderRecord) -> Any:
        own, timeout = loader.worker_init_fn, loader.timeout
        has_workers = loader.num_workers > 0
        record.cpus = usable_cpus()
        simple: dict[str, str] = {}
        if has_workers:
            with contextlib.suppress(Exception):  # a Dataset that does not want to be looked at
                simple = reads.simple_attributes(loader.dataset)
                if record.settings.start_method != "fork":
                    record.variables = reads.variables(loader.dataset)
            few = FIRST_MEMORY[-1] * loader.num_workers
            reads_memory = len(record.epochs) < ROUNDS and all(each.batches < few for each in record.epochs)
            loader.worker_init_fn = InWorker(own, record.folder, len(record.epochs), reads_memory)
            loader.timeout = timeout or self._stall
        start = time.monotonic()
        epoch = Epoch(start, 0.0, starts_workers=has_workers)
        record.epochs.append(epoch)
        try:
            iterator = inner(loader)
        except BaseException as error:
            record.error = f"{type(error).__name__}: {error}"
            self.note(error)
            raise
        finally:
            loader.worker_init_fn, loader.timeout = own, timeout
        epoch.creating = time.monotonic() - start
        meter = None
        if not has_workers and hasattr(iterator, "_dataset_fetcher"):
            path = os.path.join(record.folder, f"{os.getpid()}.jsonl")
            meter = Meter(loader.dataset, -1, len(record.epochs) - 1, path, record.budgets)
            meter.attach(iterator._dataset_fetcher)
        self._iterations.append(_Iteration(record, epoch, iterator, meter, simple, self._collections))
        self._by_iterator[iterator] = self._iterations[-1]
        return iterator

    def _resetting(self, inner: Any) -> Any:
        def _reset(iterator: Any, loader: Any, first_iter: bool = False) -> Any:
            start = time.monotonic()
            result = inner(iterator, loader, first_iter)
            iteration = self._by_iterator.get(iterator)
            if iteration is not None and not first_iter:
                iteration.begin(Epoch(start, time.monotonic() - start), loader.dataset)
            return result

        return _reset

    def _asking(self, inner: Any) -> Any:
        def ask(iterator: Any) -> Any:
            iteration = self._by_iterator.get(iterator)
            if iteration is None:
                return inner(iterator)
            try:
                batch = iteration.next(inner)
            except StopIteration:
                raise
            except BaseException as error:
                self.note(error)
                raise
            if self.on_batch is not None:
                self.on_batch(iteration.record)
            return batch

        return ask


class _Iteration:
    """One iterator of a loader: the times of its batches."""

    def __init__(
        self,
        record: LoaderRecord,
        epoch: Epoch,
        iterator: Any,
        meter: Meter | None,
        simple: dict[str, str],
        collections: Collections,
    ) -> None:
        self.record = record
        self._epoch = epoch
        self._iterator = weakref.ref(iterator)
        self._workers = list(getattr(iterator, "_workers", ()))
        self._meter = meter
        self._simple = simple
        self._collections = collections
        self._collected = (0, 0.0)
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

    def next(self, inner: Any) -> Any:
        """The next batch of the iterator; raises what it raises."""
        record, epoch = self.record, self._epoch
        asked = time.monotonic()
        if self._given is not None:
            record.collections += self._collections.count - self._collected[0]
            record.collecting += self._collections.seconds - self._collected[1]
            if len(record.steps) < MOST_TIMES:
                record.steps.append(asked - self._given)
        try:
            batch = inner(self._iterator())
        except StopIteration:
            epoch.ended = True
            self.finish()
            raise
        except BaseException as error:
            record.error = f"{type(error).__name__}: {error}"
            with children_ignored():
                self._wait_for_the_dead(error)
                self.finish()
            raise
        came = time.monotonic()
        if epoch.batches == 0:
            epoch.first_wait = came - asked
        elif len(record.waits) < MOST_TIMES:
            record.waits.append(came - asked)
        epoch.batches += 1
        record.batches += 1
        record.seconds = max(record.seconds, came - record.epochs[0].started)
        if record.batches <= _FIRST or record.budget.allows():
            with contextlib.suppress(Exception), record.budget.charged():  # a batch of any class must pass
                self._measure(batch)
        self._collected = self._collections.count, self._collections.seconds
        self._given = time.monotonic()
        return batch

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
        if now.descriptors is not None:
            record.descriptors.setdefault(len(record.epochs), []).append((record.batches, now.descriptors))
        if now.shm_free is not None:
            record.shm_free.append(now.shm_free)

    def finish(self) -> None:
        """Note how the workers ended, as far as they have."""
        for worker in self._workers:
            with contextlib.suppress(ValueError, AssertionError):  # closed, or started by another process
                if worker.pid is not None and worker.exitcode is not None:
                    self.record.exit_codes[worker.pid] = worker.exitcode
        if self._meter is not None and self._epoch.ended:
            self._meter.close()


def end_workers(loader: Any, iterator: Any) -> None:
    """End the workers of an iterator, whatever state they are in; none of them is left."""
    workers = list(getattr(iterator, "_workers", ()))
    if not workers:
        return
    with children_ignored():
        with contextlib.suppress(Exception):  # torch's own way, which may fail for killed workers
            iterator._shutdown_workers()
        for worker in workers:
            with contextlib.suppress(ValueError, AssertionError):
                if worker.is_alive():
                    worker.kill()
                    worker.join(5)
        with contextlib.suppress(Exception):  # where torch was not done: it must not raise for them any more
            import torch

            torch._C._remove_worker_pids(id(iterator))
    if getattr(loader, "_iterator", None) is iterator:
        loader._iterator = None


def _caller() -> tuple[str, int]:
    """File and line of the user's code that iterates the loader: the nearest frame outside torch and this package."""
    import torch

    own = (_PACKAGE + os.sep, os.path.dirname(os.path.abspath(torch.__file__)) + os.sep)
    frame = sys._getframe(1)
    nearest = ("", 0)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(own):
            nearest = nearest if nearest[0] else (name, frame.f_lineno)
            if "site-packages" not in name and not name.startswith("<frozen"):
                return name, frame.f_lineno
        if frame.f_back is None:
            break
        frame = frame.f_back
    return nearest


@contextlib.contextmanager
def random_state_kept(loader: Any) -> Iterator[None]:
    """Restore the states of the random generators that iterating a loader draws from in the main process."""
    import torch

    generators = [
        each
        for each in (getattr(loader, "generator", None), getattr(getattr(loader, "sampler", None), "generator", None))
        if each is not None
    ]
    state, states = torch.get_rng_state(), [each.get_state() for each in generators]
    try:
        yield
    finally:
        torch.set_rng_state(state)
        for each, before in zip(generators, states, strict=True):
            each.set_state(before)
