"""Examining one loader: iterate it for a while, and say what was seen."""

from __future__ import annotations

import contextlib
import copy
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, Self

from dataloader_lint.doctor.cleanup import end_workers, random_state_kept
from dataloader_lint.doctor.diagnosis import diagnose
from dataloader_lint.doctor.report import Report
from dataloader_lint.doctor.seen import machine
from dataloader_lint.doctor.watching import STALL, Watch

_EPOCHS = 2


def examine(loader: Any, batches: int = 200, seconds: float = 60.0, *, stall: float = STALL) -> Report:
    """Iterate a DataLoader for a while, and say what was measured and which line of the code explains it.

    Args:
        loader: the DataLoader. It is copied: its own workers, if it has any, and its settings stay as they are. Its
            Dataset runs in new workers, or in this process without workers.
        batches: the most batches that are taken, half of them in each of two epochs.
        seconds: the most time that the iteration takes; it ends after the batch during which it is over.
        stall: after so many seconds without a batch the loader is given up.

    Returns:
        The report. What the Dataset raises becomes a part of it. No process is left.

    Raises:
        TypeError: this is no DataLoader of torch.
        UnsupportedTorchError: this version of torch cannot be watched.
    """
    from torch.utils.data import DataLoader

    if not isinstance(loader, DataLoader):
        raise TypeError(f"examine takes a torch.utils.data.DataLoader, not {type(loader).__name__}")
    clone: Any = copy.copy(loader)
    clone._iterator = None
    error = ""
    watch = Watch([clone], stall=stall).start()
    end = time.monotonic() + seconds
    try:
        with random_state_kept(clone):
            try:
                for _ in range(_EPOCHS):
                    _iterate(clone, max(1, batches // _EPOCHS), end, stall)
            except Exception as raised:
                error = f"{type(raised).__name__}: {raised}"
    finally:
        records = watch.stop()
    return diagnose(records, error=error, raised=watch.raised, machine=machine())


def _iterate(loader: Any, batches: int, end: float, stall: float) -> None:
    iterator = None
    try:
        with given_up_after(stall if loader.num_workers == 0 else 0, end):
            iterator = iter(loader)
            for _ in range(batches):
                if next(iterator, _END) is _END or time.monotonic() > end:
                    return
    finally:
        end_workers(loader, iterator)


_END = object()


@contextlib.contextmanager
def given_up_after(stall: float, end: float) -> Iterator[None]:
    """Raise TimeoutError in the main thread if the block takes much longer than it may, as a Dataset that hangs does.

    Does nothing for a `stall` of 0, in other threads, or where Ctrl-C has been given another meaning.
    """
    main = threading.main_thread()
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not stall or threading.current_thread() is not main or not usual or not hasattr(signal, "pthread_kill"):
        yield
        return
    done, expired, sending = threading.Event(), threading.Event(), threading.Lock()
    limit = max(0.0, end - time.monotonic()) + stall

    def guard() -> None:
        if done.wait(limit):
            return
        with sending:  # the signal comes while the block runs, or not at all
            if not done.is_set():
                expired.set()
                signal.pthread_kill(main.ident or 0, signal.SIGINT)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if expired.is_set():
            raise TimeoutError(f"the Dataset gave no batch for {stall:.0f} seconds")
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    threading.Thread(target=guard, daemon=True).start()
    try:
        yield
    finally:
        with sending:
            done.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)


class watch:  # noqa: N801 (used like a function)
    """A context in which one loader is watched while the program's own loop iterates it.

        with watch(loader) as watched:
            for batch in watched:
                train(batch)
        print(watched.report)

    The loop may also iterate the loader itself. `report` is there after the block, whatever ended it.
    """

    report: Report

    def __init__(self, loader: Any, *, stall: float = STALL) -> None:
        self._loader = loader
        self._watch = Watch([loader], stall=stall)

    def __enter__(self) -> Self:
        self._watch.start()
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(self._loader)

    def __len__(self) -> int:
        return len(self._loader)

    def __exit__(self, _kind: object, raised: BaseException | None, _trace: object) -> None:
        records = self._watch.stop()
        is_error = isinstance(raised, Exception)
        error = f"{type(raised).__name__}: {raised}" if is_error else ""
        self.report = diagnose(records, error=error, raised=self._watch.raised, machine=machine())
