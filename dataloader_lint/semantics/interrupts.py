"""Ends work that takes too long, or that nobody needs any more, wherever it is.

The work itself asks now and then (`check`), which ends it where that does no harm. Where it does not come to ask, as
one step takes too long, another thread raises the error in the one that works. What was being made then may be
incomplete: see `Limit.was_forced`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

# Seconds between two looks at the limits, and how long work may go on without asking before it is interrupted.
_PERIOD = 0.25
_LATE = 1.0
# Looks without any work after which the watching thread ends; starting it takes 0.1 ms.
_IDLE = 4


class StoppedError(BaseException):
    """Nobody needs the answer any more. Not an `Exception`, so that no rule's error handling stops it."""


class OutOfTimeError(BaseException):
    """A limit of CPU time is used up. Not an `Exception`, for the same reason."""


class Limit:
    """What ends the work of one thread: a point of its CPU time, or that the work is not wanted.

    `deadline` may be moved while the work goes on. `was_forced` is True once an error was raised in the middle of
    something; `outer` is the limit that held before and goes on holding.
    """

    __slots__ = ("_clock", "_raised", "_thread", "_unwanted_since", "deadline", "is_wanted", "outer", "was_forced")

    def __init__(self, deadline: float, is_wanted: Callable[[], bool] | None = None) -> None:
        self.deadline = deadline
        self.is_wanted = is_wanted
        self.was_forced = False
        self.outer: Limit | None = None
        self._clock = _clock_of_this_thread()
        self._thread = threading.get_ident()
        self._unwanted_since = 0.0
        self._raised = 0.0  # when an error was last raised from outside

    def check(self) -> None:
        """Raise the error that is due, if one is. Called in the thread that works."""
        if self.is_wanted is not None and not self.is_wanted():
            raise StoppedError
        if time.thread_time() > self.deadline:
            raise OutOfTimeError

    def start(self) -> None:
        """From now on, the limit holds for this thread."""
        self.outer = _HERE.limit
        _HERE.limit = self
        _WATCHED.add(self)

    def stop(self) -> None:
        """The limit does not hold any longer, and an error that is on its way does not come. May be called again."""
        _WATCHED.remove(self)
        if _HERE.limit is self:
            _HERE.limit = self.outer

    def enforce(self, now: float) -> None:
        """Raise the error that is due in the thread that works, unless it came to ask by itself."""
        if now - self._raised < _LATE:  # it is on its way out
            return
        is_unwanted = self.is_wanted is not None and not self.is_wanted()
        if not is_unwanted:
            self._unwanted_since = 0.0
        elif not self._unwanted_since:
            self._unwanted_since = now
        if is_unwanted and now - self._unwanted_since > _LATE:
            self._force(StoppedError, now)
        elif self._clock() > self.deadline + _LATE / 2:
            self._force(OutOfTimeError, now)

    def _force(self, error: type[BaseException], now: float) -> None:
        self.was_forced = True
        self._raised = now
        _raise_in(self._thread, error)

    def take_back(self) -> None:
        """An error that was raised from outside, and has not arrived, does not come."""
        if self._raised:
            _raise_in(self._thread, None)


class _Here(threading.local):
    limit: Limit | None = None


class _Watched:
    """The limits that hold at present, and the thread that looks at them; no thread while there are none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: set[Limit] = set()
        self._thread: threading.Thread | None = None

    def add(self, limit: Limit) -> None:
        """Look at a limit from now on."""
        with self._lock:
            self._limits.add(limit)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="limits", daemon=True)
                self._thread.start()

    def remove(self, limit: Limit) -> None:
        """Do not look at a limit any more."""
        with self._lock:
            self._limits.discard(limit)
            limit.take_back()

    def _watch(self) -> None:
        idle = 0
        while idle < _IDLE:
            time.sleep(_PERIOD)
            now = time.monotonic()
            with self._lock:
                idle = 0 if self._limits else idle + 1
                for limit in self._limits:
                    with suppress(Exception):  # of a predicate; the next look asks it again
                        limit.enforce(now)
                if idle == _IDLE:
                    self._thread = None

    def forked(self) -> None:
        """Start anew: only the thread that forked lives on, and another one may have held the lock."""
        self._lock = threading.Lock()
        self._limits = set()
        self._thread = None


_HERE = _Here()
_WATCHED = _Watched()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WATCHED.forked)


def check() -> None:
    """Raise StoppedError or OutOfTimeError if this thread has to end its work."""
    limit = _HERE.limit
    while limit is not None:
        limit.check()
        limit = limit.outer


def was_forced() -> bool:
    """True if an error was raised in this thread in the middle of something, under a limit that still holds."""
    limit = _HERE.limit
    while limit is not None:
        if limit.was_forced:
            return True
        limit = limit.outer
    return False


def limited(limit: Limit, work: Callable[[], T]) -> T:
    """What some work gives, which ends with an error where the limit says so. No error of its comes afterwards."""
    try:
        try:
            limit.start()
            return work()
        finally:
            limit.stop()
    except BaseException:
        limit.stop()  # the error may have come while it was being stopped; another one would be a second off
        raise


def stop_unless(is_wanted: Callable[[], bool], work: Callable[[], T]) -> T:
    """What some work gives, which ends with StoppedError soon after `is_wanted` returns False."""
    return limited(Limit(float("inf"), is_wanted), work)


def at_most(seconds: float) -> Limit:
    """The limit that ends work with OutOfTimeError after so many seconds of this thread's CPU time from now on."""
    return Limit(time.thread_time() + seconds)


def _clock_of_this_thread() -> Callable[[], float]:
    """The CPU time of this thread, as another one can read it; that of the process where no thread can."""
    if not hasattr(time, "pthread_getcpuclockid"):
        ahead = time.process_time() - time.thread_time()
        return lambda: time.process_time() - ahead
    clock = time.pthread_getcpuclockid(threading.get_ident())

    def read() -> float:
        try:
            return time.clock_gettime(clock)
        except OSError:  # the thread has ended
            return 0.0

    return read


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an error in another thread before its next step; with None, not to raise the one that is to come."""
    try:
        from ctypes import c_ulong, py_object, pythonapi
    except ImportError:  # Python without them: work ends where it asks
        return
    pythonapi.PyThreadState_SetAsyncExc(c_ulong(thread), py_object(error) if error is not None else None)
