"""Watching DataLoaders while a program iterates them.

While a `Watch` is active, four methods of torch's DataLoader tell it when the constructor raises, when an iterator is
made, when it is reset for another epoch, and when a batch is asked for and comes. The loaders, their iterators and
their batches stay the user's own: no attribute of theirs is set but the `_timeout` of an iterator, nothing of them is
kept alive, and none of their code is run. Workers get everything they would get anyway, and a function around their
`worker_init_fn` that has them measure themselves. In a process that was forked, all of it does nothing.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
import tempfile
import threading
import time
import traceback
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from dataloader_lint.doctor import reads, shm
from dataloader_lint.doctor.contents import contents_of
from dataloader_lint.doctor.garbage import Collections
from dataloader_lint.doctor.inert import torch_functions_off
from dataloader_lint.doctor.inside import InWorker, read_lines
from dataloader_lint.doctor.meter import FIRST_MEMORY, ROUNDS, Meter
from dataloader_lint.doctor.randomness import kind_of, sample_digest
from dataloader_lint.doctor.records import MOST_INDICES, MOST_TIMES, Epoch, LoaderRecord, Raised, settings_of
from dataloader_lint.doctor.signals import children_ignored
from dataloader_lint.engine.parallel import usable_cpus

STALL = 120.0
_MOST_LOADERS = 20
_PATIENCE = 5.0  # seconds that a killed worker may take to end
_LOOKS = 3.0  # seconds that looks at Datasets may take, and a share of the time beyond that
_SHARE_OF_LOOKS = 0.005
_MOST_CALLERS = 4  # lines of the user's code that lead to the constructor of a loader
_MOST_MADE = 10_000  # loaders whose lines are kept
_FIRST = 3  # batches that are looked at whatever that costs
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class UnsupportedTorchError(RuntimeError):
    """This version of torch has no DataLoader that can be watched."""


class Watch:
    """Watches loaders from `start` to `stop`, in the process that starts it.

    `only` are the loaders to watch, or None for all. A worker that gives no batch for `stall` seconds makes the loader
    raise, as its own `timeout` would, so that a program that hangs comes to an end; 0 leaves that as it is. `folder` is
    for the files of the workers: by default one of its own, which is there until `stop`.
    """

    def __init__(self, only: list[Any] | None = None, *, stall: float = STALL, folder: str = "") -> None:
        self.records: list[LoaderRecord] = []
        self.raised: list[Raised] = []
        self.on_batch: Callable[[LoaderRecord], None] | None = None
        self.on_change: Callable[[], None] | None = None  # after an epoch, and what else is worth writing down
        self.on_loader: Callable[[Any, LoaderRecord], None] | None = None  # before the first iterator is made
        self.digests = 0  # how many batches of each loader are kept as digests
        self.indices = False  # whether those of the first epoch are kept
        self.losses: list[float] = []  # of so many steps, where digests are kept
        self._notes_losses = False
        self._only = only
        self._stall = stall
        self._folder = folder
        self._pid = os.getpid()
        self._is_on = False
        self._known: list[_Known] = []
        self._by_iterator: weakref.WeakKeyDictionary[Any, _Iteration] = weakref.WeakKeyDictionary()
        self._undo = contextlib.ExitStack()
        # By the id of the loader, since a key of its own would be asked for its hash, which may be the user's code.
        self._made: dict[int, tuple[tuple[str, int], ...]] = {}
        self._collections = Collections()
        self._now = _Now()

    @property
    def _is_here(self) -> bool:
        """True in the process that is watched, False in those that it has forked."""
        return self._is_on and os.getpid() == self._pid

    def start(self) -> Watch:
        """Begin. Raises UnsupportedTorchError."""
        import torch
        from torch.utils.data import DataLoader, dataloader

        base = getattr(dataloader, "_BaseDataLoaderIter", None)
        several = getattr(dataloader, "_MultiProcessingDataLoaderIter", None)
        if base is None or several is None or not hasattr(DataLoader, "_get_iterator"):
            raise UnsupportedTorchError(f"the DataLoader of torch {torch.__version__} cannot be watched")
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="dataloader-lint-")
            self._undo.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self._collections.start()
        self._undo.callback(self._collections.stop)
        if self._only is None:
            self._replace(DataLoader, "__init__", self._constructing)
        self._replace(DataLoader, "_get_iterator", self._making)
        self._replace(base, "__next__", self._asking)
        if self.indices and hasattr(base, "_next_index"):
            self._replace(base, "_next_index", self._choosing)
        self._replace(base, "__del__", self._deleting)
        self._replace(several, "__del__", self._deleting)
        self._replace(several, "_reset", self._resetting)
        self._replace(several, "_worker_init_fn", lambda _: property(self._init_fn, self._set_init_fn))
        self._is_on = True
        return self

    def stop(self) -> list[LoaderRecord]:
        """End; what was seen. Workers of loaders that are still in use go on."""
        if not self._is_here:
            return self.records
        with children_ignored():
            for iterator, iteration in list(self._by_iterator.items()):
                iteration.look(iterator)
                iteration.finish()
            for record in self.records:
                record.workers = read_lines(record.folder)
            self._is_on = False
            self._undo.close()
        return self.records

    def _replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        own = owner.__dict__.get(name)
        setattr(owner, name, make(getattr(owner, name, None)))

        def restore() -> None:
            if own is None:
                delattr(owner, name)
            else:
                setattr(owner, name, own)

        self._undo.callback(restore)

    def _record_of(self, loader: Any) -> LoaderRecord | None:
        self._now.is_another = False
        for known in self._known:
            if known.is_of(loader):
                return known.record
        if self._only is not None and not any(loader is each for each in self._only):
            return None
        place, settings, dataset = _caller(), settings_of(loader), type(loader.dataset).__name__
        made = self._made.get(id(loader), ())
        for known in self._known:
            record = known.record
            # A loader that is made again for each epoch, or each batch, is one and the same in the report.
            key = record.place, record.dataset, record.settings, record.made
            if self._only is None and key == (place, dataset, settings, made):
                self._now.is_another = not known.has_dataset(loader)
                record.has_several_datasets |= self._now.is_another
                known.note(loader)
                return record
        if len(self.records) >= _MOST_LOADERS:
            return None
        number = len(self.records)
        folder = os.path.join(self._folder, str(number))
        os.makedirs(folder, exist_ok=True)
        record = LoaderRecord(place, settings, folder, dataset, number, made)
        self.records.append(record)
        self._known.append(_Known(record, loader))
        return record

    def note(self, error: BaseException) -> None:
        """Keep what a loader raised; the program may catch it."""
        if isinstance(error, Exception) and len(self.raised) < _MOST_LOADERS and self._is_here:
            files = tuple(os.path.abspath(each.filename) for each in traceback.extract_tb(error.__traceback__))
            self.raised.append(Raised(f"{type(error).__name__}: {error}", _caller(), files))

    def _constructing(self, inner: Any) -> Any:
        @functools.wraps(inner)  # Lightning asks for its parameters
        def __init__(loader: Any, *arguments: Any, **named: Any) -> None:  # noqa: N807
            try:
                inner(loader, *arguments, **named)
            except Exception as error:
                self.note(error)
                raise
            if self._is_here:
                if len(self._made) >= _MOST_MADE:
                    self._made.clear()
                self._made[id(loader)] = tuple(_callers(_MOST_CALLERS))

        return __init__

    def _making(self, inner: Any) -> Any:
        @functools.wraps(inner)
        def _get_iterator(loader: Any) -> Any:
            record = None
            if self._is_here:
                with contextlib.suppress(Exception):  # a loader that does not want to be looked at
                    record = self._record_of(loader)
            return inner(loader) if record is None else self._make(inner, loader, record)

        return _get_iterator

    def _note_losses(self) -> None:
        """From now on keep what the program calls `backward` of."""
        import torch

        self._notes_losses = True
        self._replace(torch.Tensor, "backward", self._stepping)

    def _stepping(self, inner: Any) -> Any:
        @functools.wraps(inner)
        def backward(loss: Any, *arguments: Any, **named: Any) -> Any:
            if self._is_here and len(self.losses) < self.digests:
                with contextlib.suppress(Exception), torch_functions_off():
                    self.losses.append(float(loss.detach().double().sum()))
            return inner(loss, *arguments, **named)

        return backward

    def _make(self, inner: Any, loader: Any, record: LoaderRecord) -> Any:
        if self.on_loader is not None:
            self.on_loader(loader, record)
        if self.digests and not self._notes_losses:
            self._note_losses()
        has_workers = loader.num_workers > 0
        record.cpus = usable_cpus()
        simple: dict[str, str] = {}
        before = self._now.worker
        if has_workers:
            with contextlib.suppress(Exception):  # a Dataset that does not want to be looked at
                simple = reads.simple_attributes(loader.dataset)
                if record.settings.start_method != "fork":
                    record.variables = reads.variables(loader.dataset)
            few = FIRST_MEMORY[-1] * loader.num_workers
            reads_memory = len(record.epochs) < ROUNDS and all(each.batches < few for each in record.epochs)
            self._now.worker = (record.folder, len(record.epochs), reads_memory)
        start = time.monotonic()
        epoch = Epoch(start, 0.0, starts_workers=has_workers)
        record.epochs.append(epoch)
        self._now.record = record
        try:
            iterator = inner(loader)
        except BaseException as error:
            record.error = f"{type(error).__name__}: {error}"
            self.note(error)
            if record.contents is None:
                record.contents = contents_of(loader.dataset, loader, record, kind=type(loader))
            raise
        finally:
            self._now.worker, self._now.record = before, None
        epoch.creating = time.monotonic() - start
        if has_workers and self._stall and getattr(iterator, "_timeout", None) == 0:
            iterator._timeout = self._stall
        if not has_workers and hasattr(iterator, "_dataset_fetcher"):
            path = os.path.join(record.folder, f"{os.getpid()}.jsonl")
            meter = Meter(loader.dataset, -1, len(record.epochs) - 1, path, record.budgets)
            meter.attach(iterator._dataset_fetcher)
        with contextlib.suppress(TypeError):  # one of the user's, which cannot be a key
            kind = type(loader)
            self._by_iterator[iterator] = _Iteration(
                record, epoch, iterator, simple, self._collections, kind, is_another=self._now.is_another
            )
        return iterator

    def _init_fn(self, iterator: Any) -> Any:
        own = iterator.__dict__.get("_worker_init_fn")
        now = self._now.worker if self._is_here else None
        return own if now is None else InWorker(own, *now)

    def _set_init_fn(self, iterator: Any, own: Any) -> None:
        iterator.__dict__["_worker_init_fn"] = own

    def _resetting(self, inner: Any) -> Any:
        @functools.wraps(inner)
        def _reset(iterator: Any, loader: Any, first_iter: bool = False) -> Any:
            start = time.monotonic()
            result = inner(iterator, loader, first_iter)
            iteration = self._iteration_of(iterator)
            if iteration is not None and not first_iter:
                iteration.begin(Epoch(start, time.monotonic() - start), loader.dataset)
            return result

        return _reset

    def _asking(self, inner: Any) -> Any:
        @functools.wraps(inner)
        def __next__(iterator: Any) -> Any:  # noqa: N807
            iteration = self._iteration_of(iterator)
            if iteration is None:
                return inner(iterator)
            try:
                batch = iteration.next(inner, iterator)
            except StopIteration:
                self._changed()
                raise
            except BaseException as error:
                self.note(error)
                self._changed()
                raise
            if len(iteration.record.digests) < self.digests:
                iteration.record.digests.append(sample_digest(batch))
                iteration.record.batch_kind = iteration.record.batch_kind or kind_of(batch)
            if self.on_batch is not None:
                self.on_batch(iteration.record)
            return batch

        return __next__

    def _deleting(self, inner: Any) -> Any:
        def __del__(iterator: Any) -> None:  # noqa: N807
            iteration = self._iteration_of(iterator)
            if iteration is not None:
                iteration.look(iterator)
            if inner is not None:
                inner(iterator)
            if iteration is not None:
                iteration.finish()
                self._changed()

        return __del__

    def _choosing(self, inner: Any) -> Any:
        @functools.wraps(inner)
        def _next_index(iterator: Any) -> Any:
            index = inner(iterator)
            iteration = self._iteration_of(iterator)
            record = iteration.record if iteration is not None else self._now.record
            if record is not None and len(record.epochs) == 1 and len(record.indices) < MOST_INDICES:
                several = index if isinstance(index, list) else [index]
                record.indices += [each for each in several if type(each) is int]
            return index

        return _next_index

    def _iteration_of(self, iterator: Any) -> _Iteration | None:
        if not self._is_here:
            return None
        try:
            return self._by_iterator.get(iterator)
        except TypeError:
            return None

    def _changed(self) -> None:
        if self.on_change is not None:
            self.on_change()


class _Now(threading.local):
    """Of the iterator that this thread makes: the folder of its workers, their round, and if they read their memory.

    `record` is that of its loader.

    `is_another` says that its Dataset is another one than that of the loader which shares its record.
    """

    worker: tuple[str, int, bool] | None = None
    record: LoaderRecord | None = None
    is_another = False


class _Known:
    """A record, and how to tell its loader, and that one's Dataset, without keeping them alive."""

    def __init__(self, record: LoaderRecord, loader: Any) -> None:
        self.record = record
        self.note(loader)

    def note(self, loader: Any) -> None:
        """From now on this is the loader of the record."""
        self._loader, self._dataset = _reference(loader), _reference(loader.dataset)

    def is_of(self, loader: Any) -> bool:
        """True if this is the loader."""
        return self._loader() is loader

    def has_dataset(self, loader: Any) -> bool:
        """True if the loader has the same Dataset as the one before."""
        return self._dataset() is loader.dataset


def _reference(value: Any) -> Callable[[], Any]:
    """A weak reference; to what takes none, such as a list, one that finds nothing."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: None


class _Iteration:
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
            self._note_collections(self._collections.count - self._collected)
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
        self._collected = self._collections.count
        self._given = time.monotonic()
        return batch

    def _note_collections(self, count: int) -> None:
        """Note that so many collections of garbage came in one step of the loop."""
        record, collections = self.record, self._collections
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
    own = _own_folders()
    frame = sys._getframe(1)
    nearest = ("", 0)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(own):
            nearest = nearest if nearest[0] else (name, frame.f_lineno)
            if _is_of_user(name):
                return os.path.abspath(name), frame.f_lineno
        if frame.f_back is None:
            break
        frame = frame.f_back
    return nearest


def _callers(most: int) -> Iterator[tuple[str, int]]:
    """The nearest lines of the user's code that are being run, the innermost first."""
    own = _own_folders()
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and most:
        name = frame.f_code.co_filename
        if not name.startswith(own) and _is_of_user(name):
            most -= 1
            yield os.path.abspath(name), frame.f_lineno
        frame = frame.f_back


def _own_folders() -> tuple[str, str]:
    import torch

    return _PACKAGE + os.sep, os.path.dirname(os.path.abspath(torch.__file__)) + os.sep


def _is_of_user(name: str) -> bool:
    return "site-packages" not in name and not name.startswith("<frozen")


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
