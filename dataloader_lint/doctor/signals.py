"""The signals that torch raises exceptions from, wherever the main thread is: those of workers that die."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

_ATTEMPTS = 100


def ignore_children() -> Any:
    """From now on the death of a worker raises nothing; what was in force before, or None if nothing was changed.

    While workers die one after the other, each of them may interrupt whatever handles the first. Exit codes are kept.
    """
    return _handle_children_by(signal.SIG_DFL)


@contextlib.contextmanager
def children_ignored() -> Iterator[None]:
    """A block in which the death of a worker raises nothing."""
    before = ignore_children()
    try:
        yield
    finally:
        if before is not None:
            _handle_children_by(before)


def _handle_children_by(handler: Any) -> Any:
    if not hasattr(signal, "SIGCHLD") or threading.current_thread() is not threading.main_thread():
        return None
    for _ in range(_ATTEMPTS):
        # A signal that came before is handled first, and raises here; the new handler is not set then.
        with contextlib.suppress(Exception):
            return signal.signal(signal.SIGCHLD, handler)
    return None
