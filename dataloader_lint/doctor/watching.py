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
import tempfile
import threading
import time
import traceback
import weakref
from collections.abc import Callable
from typing import Any

from dataloader_lint.doctor import reads
from dataloader_lint.doctor.callers import caller, callers
from dataloader_lint.doctor.contents import contents_of
from dataloader_lint.doctor.garbage import Collections
from dataloader_lint.doctor.inert import torch_functions_off
from dataloader_lint.doctor.inside import InWorker, read_lines
from dataloader_lint.doctor.iteration import Iteration
from dataloader_lint.doctor.known_loaders import KnownLoader
from dataloader_lint.doctor.meter import FIRST_MEMORY, ROUNDS, Meter
from dataloader_lint.doctor.randomness import kind_of, sample_digest
from dataloader_lint.doctor.records import MOST_INDICES, Epoch, LoaderRecord, Raised, settings_of
from dataloader_lint.doctor.signals import children_ignored
from dataloader_lint.engine.cpus import usable_cpus

STALL = 120.0
_MOST_LOADERS = 20
_MOST_CALLERS = 4  # lines of the user's code that lead to the constructor of a loader
_MOST_MADE = 10_000  # loaders whose lines are kept


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
        self._known: list[KnownLoader] = []
        self._by_iterator: weakref.WeakKeyDictionary[Any, Iteration] = weakref.WeakKeyDictionary()
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
        place, settings, dataset = caller(), settings_of(loader), type(loader.dataset).__name__
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
        self._known.append(KnownLoader(record, loader))
        return record

    def note(self, error: BaseException) -> None:
        """Keep what a loader raised; the program may catch it."""
        if isinstance(error, Exception) and len(self.raised) < _MOST_LOADERS and self._is_here:
            files = tuple(os.path.abspath(each.filename) for each in traceback.extract_tb(error.__traceback__))
            self.raised.append(Raised(f"{type(error).__name__}: {error}", caller(), files))

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
                self._made[id(loader)] = tuple(callers(_MOST_CALLERS))

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
            self._by_iterator[iterator] = Iteration(
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

    def _iteration_of(self, iterator: Any) -> Iteration | None:
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
