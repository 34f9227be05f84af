"""The thread that lints: one piece of work after the other, the most urgent first, and none that nobody needs."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from enum import IntEnum
from typing import TypeVar

from dataloader_lint.semantics.interrupts import StoppedError, stop_unless

# LibCST's parser recurses natively; the stack of a thread is much smaller than the main one on some platforms.
_STACK = 64 * 1024 * 1024
# Seconds after which some work makes room for what waits, and is begun again behind it; twice as many each time, so
# that it comes to an end.
_PATIENCE = 2.0
_T = TypeVar("_T")


class Urgency(IntEnum):
    """What waits for some work, the most urgent first."""

    QUESTION = 0  # somebody who has asked for something
    KEY = 1  # the findings of a document that has just changed
    OPENED = 2  # those of one that has just been opened
    AHEAD = 3  # nobody yet
    REST = 4  # the findings of documents that have not changed themselves


class Worker:
    """Runs work in one thread, which ends with `shutdown`."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Urgency, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._is_over = False
        before = threading.stack_size(_STACK)
        threading.Thread(target=self._work, name="lint").start()
        threading.stack_size(before)

    def submit(self, urgency: Urgency, work: Callable[[], None]) -> None:
        """Do some work when its turn comes."""
        with self._changed:
            heapq.heappush(self._waiting, (urgency, next(self._numbers), work))
            self._changed.notify()

    async def run(self, urgency: Urgency, is_wanted: Callable[[], bool], work: Callable[[], _T]) -> _T | None:
        """The result of some work; None once it is not wanted, which stops it. So does cancelling whoever waits.

        Work that takes long is put off while other work waits.
        """
        result: Future[_T | None] = Future()
        is_left = threading.Event()
        patience = _PATIENCE

        def is_needed() -> bool:
            return is_wanted() and not is_left.is_set() and not self._is_over

        def guarded() -> None:
            nonlocal patience
            if not result.running() and not result.set_running_or_notify_cancel():
                return
            latest = time.monotonic() + patience

            def goes_on() -> bool:
                return is_needed() and not (self._waiting and time.monotonic() > latest)

            try:
                done = stop_unless(goes_on, work) if is_needed() else None
            except StoppedError:
                if is_needed():
                    patience *= 2
                    self.submit(Urgency.REST, guarded)
                    return
                done = None
            except BaseException as error:
                result.set_exception(error)
                return
            result.set_result(done)

        self.submit(urgency, guarded)
        try:
            return await asyncio.wrap_future(result)
        except asyncio.CancelledError:
            is_left.set()
            raise

    def shutdown(self) -> None:
        """Stop what is being done, and do none of what waits."""
        with self._changed:
            self._is_over = True
            self._changed.notify()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_over)
                if self._is_over:
                    return
                _, _, work = heapq.heappop(self._waiting)
            with contextlib.suppress(Exception):
                work()
