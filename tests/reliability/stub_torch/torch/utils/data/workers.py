"""Workers: processes that are forked, or forked and made to look as if they had been spawned.

A spawned worker gets what it needs as a pickle, and knows nothing of the program but what running its main file again,
under another name, brings back.
"""

from __future__ import annotations

import contextlib
import copy
import io
import os
import pickle
import struct
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import torch
from torch import state

DEFAULT_METHOD = os.environ.get("STUB_START_METHOD", "fork")
FOLDER = ""
"""Where the program lies: modules from there are new to spawned workers."""
is_starting = False


@dataclass
class WorkerInfo:
    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    return _info


@dataclass
class Job:
    """What workers are given."""

    dataset: Any
    collate_fn: Callable[[Any], Any]
    worker_init_fn: Callable[[int], Any] | None
    is_iterable: bool
    is_batched: bool

    def batches(self, wanted: Any) -> Iterator[Any]:
        """The batches of some indices; of an IterableDataset, those of a size."""
        if not self.is_iterable:
            for each in wanted:
                yield self.collate_fn(
                    [self.dataset[index] for index in each] if self.is_batched else self.dataset[each]
                )
            return
        size = getattr(wanted, "batch_size", wanted) if self.is_batched else None
        rows: list[Any] = []
        for row in self.dataset:
            if size is None:
                yield self.collate_fn(row)
                continue
            rows.append(row)
            if len(rows) == size:
                yield self.collate_fn(rows)
                rows = []
        if rows and not getattr(wanted, "drop_last", False):
            yield self.collate_fn(rows)


@dataclass
class Failed:
    """An exception in a worker."""

    kind: str
    text: str

    def again(self) -> Exception:
        known = getattr(__import__("builtins"), self.kind, None)
        text = f"Caught {self.kind} in DataLoader worker process: {self.text}"
        return known(text) if isinstance(known, type) else RuntimeError(text)


class Worker:
    """A process that answers with its batches as often as it is asked."""

    def __init__(self, job: Job, number: int, count: int, seed: int, method: str) -> None:
        if is_starting:
            raise RuntimeError(
                "An attempt has been made to start a new process before the current process has finished its "
                "bootstrapping phase."
            )
        sent = b"" if method == "fork" else pickle.dumps(job)
        here, there = os.pipe(), os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                os.close(here[1])
                os.close(there[0])
                with os.fdopen(here[0], "rb") as questions, os.fdopen(there[1], "wb") as answers:
                    _work(pickle.loads(_spawned(sent)) if sent else job, number, count, seed, questions, answers)
            finally:
                os._exit(0)  # whatever happened: what called is the other process's
        os.close(here[0])
        os.close(there[1])
        self.questions, self.answers = os.fdopen(here[1], "wb"), os.fdopen(there[0], "rb")

    def ask(self, wanted: Any) -> None:
        with contextlib.suppress(BrokenPipeError):
            _send(self.questions, wanted)

    def answer(self) -> list[Any]:
        found = _receive(self.answers)
        if found is None:
            raise RuntimeError("DataLoader worker (pid(s) ...) exited unexpectedly")
        batches, noted, printed = found
        state.noted.extend(noted)
        print(printed, end="")
        return list(batches)

    def stop(self) -> None:
        """End it. Workers that started after it hold its pipe too, so that to close the pipe would not do."""
        with contextlib.suppress(BrokenPipeError):
            _send(self.questions, None, plain=True)
        os.waitpid(self.process, 0)


def _spawned(sent: bytes) -> bytes:
    """The pickle, once the process looks as if it had just been started and had run the main file again."""
    global is_starting
    state.start_again()
    state.start_method = "spawn"
    is_starting = True
    path = sys.modules["__main__"].__file__ or ""
    for name, module in list(sys.modules.items()):
        if FOLDER and (getattr(module, "__file__", None) or "").startswith(FOLDER):
            del sys.modules[name]
    main = types.ModuleType("__mp_main__")
    main.__file__ = path
    sys.modules["__main__"] = sys.modules["__mp_main__"] = main
    with contextlib.redirect_stdout(io.StringIO()), open(path, "rb") as file:
        exec(compile(file.read(), path, "exec"), main.__dict__)
    is_starting = False
    state.noted.clear()
    return sent


def _work(job: Job, number: int, count: int, seed: int, questions: Any, answers: Any) -> None:
    global _info
    state.seed(seed + number)
    _info = WorkerInfo(number, count, seed + number, job.dataset)
    printed = io.StringIO()
    failed: list[Any] = []
    with contextlib.redirect_stdout(printed):
        if job.worker_init_fn is not None:
            try:
                job.worker_init_fn(number)
            except Exception as error:
                failed = [Failed(type(error).__name__, str(error))]
        while True:
            wanted = _receive(questions)
            if wanted is None:
                return
            batches: list[Any] = [*failed]
            state.noted.clear()
            if not failed:
                try:
                    batches.extend(job.batches(wanted[0]))
                except Exception as error:
                    batches.append(Failed(type(error).__name__, str(error)))
            said = printed.getvalue()
            printed.seek(0)
            printed.truncate()
            try:
                _send(answers, (batches, list(state.noted), said), plain=True)
            except Exception as error:
                _send(answers, ([Failed("RuntimeError", f"cannot be pickled: {type(error).__name__}")], [], said), True)


def _send(stream: Any, thing: Any, plain: bool = False) -> None:
    content = pickle.dumps(thing if plain else (thing,))
    stream.write(struct.pack("<Q", len(content)) + content)
    stream.flush()


def _receive(stream: Any) -> Any:
    head = stream.read(8)
    return pickle.loads(stream.read(struct.unpack("<Q", head)[0])) if len(head) == 8 else None


# Batches.


def default_convert(row: Any) -> Any:
    return torch.from_numpy(row) if isinstance(row, np.ndarray) else row


def _like(mapping: Any, items: dict[Any, Any]) -> Any:
    """The same kind of mapping with other items, as torch makes it."""
    made = copy.copy(mapping)
    made.update(items)
    return made


def default_collate(rows: list[Any]) -> Any:
    first = rows[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(rows)
    if isinstance(first, np.ndarray | np.generic):
        if first.dtype.kind in "OUS":
            raise TypeError(f"default_collate: found {first.dtype}")
        return torch.from_numpy(np.stack(rows))
    if isinstance(first, int | float):
        return torch.tensor(list(rows))
    if isinstance(first, str | bytes):
        return rows
    if isinstance(first, Mapping):
        made = {key: default_collate([row[key] for row in rows]) for key in first}
        return _like(first, made) if isinstance(first, MutableMapping) else type(first)(made)
    if hasattr(first, "_fields"):
        return type(first)(*(default_collate(list(each)) for each in zip(*rows, strict=True)))
    if isinstance(first, tuple | list):
        return [default_collate(list(each)) for each in zip(*rows, strict=True)]
    raise TypeError(f"default_collate: batch must contain tensors, ...; found {type(first)}")


def pinned(batch: Any) -> Any:
    if isinstance(batch, torch.Tensor):
        return batch.pin_memory()
    if isinstance(batch, Mapping):
        return _like(batch, {key: pinned(value) for key, value in batch.items()})
    if hasattr(batch, "_fields"):
        return type(batch)(*map(pinned, batch))
    if isinstance(batch, list | tuple):
        return type(batch)(map(pinned, batch))
    return batch.pin_memory() if hasattr(batch, "pin_memory") else batch


__all__: Iterable[str] = ["Job", "Worker", "default_collate", "default_convert", "get_worker_info", "pinned"]
