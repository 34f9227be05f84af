"""The signals that torch raises exceptions from, wherever the main thread is: those of workers that die."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType, FunctionType
from typing import Any

_ATTEMPTS = 100


@contextlib.contextmanager
def children_ignored() -> Iterator[None]:
    """A block in which the death of a worker raises nothing; what the program does at the death of a child waits.

    While workers die one after the other, each of them may interrupt whatever handles the first. Exit codes are kept.
    """
    came: list[tuple[int, FrameType | None]] = []
    before = _handle_children_by(lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        if before is not None:
            _handle_children_by(before)
            own = _handler_of_program(before)
            if came and callable(own):
                own(*came[-1])


def _handler_of_program(handler: Any) -> Any:
    """What the program itself does when a child dies: torch's handler, which raises, calls the one before it."""
    names = handler.__code__.co_freevars if isinstance(handler, FunctionType) else ()
    if "previous_handler" not in names or not (handler.__module__ or "").startswith("torch."):
        return handler
    return (handler.__closure__ or ())[names.index("previous_handler")].cell_contents


def _handle_children_by(handler: Any) -> Any:
    """Handle the death of children by this; what did before, or None if nothing was changed."""
    if not hasattr(signal, "SIGCHLD") or threading.current_thread() is not threading.main_thread():
        return None
    if signal.getsignal(signal.SIGCHLD) in (None, signal.SIG_DFL, signal.SIG_IGN):  # nothing raises
        return None
    for _ in range(_ATTEMPTS):
        # A signal that came before is handled first, and raises here; the new handler is not set then.
        with contextlib.suppress(Exception):
            return signal.signal(signal.SIGCHLD, handler)
    return None
