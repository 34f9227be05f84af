"""Whether spawned workers could be given an object: what pickling it gives, how large it is, which part of it fails.

Nothing is sent anywhere. Tensors are counted and not moved into shared memory, as real pickling for a worker would do.
"""

from __future__ import annotations

import functools
import multiprocessing.context as contexts
import sys
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import reduction
from typing import Any

MOST_BYTES = 512 * 2**20
MOST_SECONDS = 5.0
_DEEPEST = 12
_MOST_PARTS = 2_000


@dataclass(frozen=True, slots=True)
class Pickled:
    """What came of pickling an object.

    `size` are the bytes that each spawned worker is sent, `tensors` the bytes of tensors, which all workers share.
    `is_cut` says that the object was too large or slow to be pickled to its end. `error` is the exception, as
    "type: text", and `path` leads to the part that fails.
    """

    size: int
    tensors: int
    is_cut: bool = False
    error: str = ""
    path: str = ""
    culprit: object = None


class _EnoughError(Exception):
    """The object is larger, or takes longer, than what is looked at."""


class _Sink:
    """Counts what a pickler writes."""

    def __init__(self, most: int, seconds: float) -> None:
        self.size = 0
        self._most = most
        self._end = time.monotonic() + seconds

    def write(self, content: Any) -> int:
        length = memoryview(content).nbytes
        self.size += length
        if self.size > self._most or time.monotonic() > self._end:
            raise _EnoughError
        return length


def _nothing(*_: object) -> None:
    """What tensors are replaced by."""


class _Pickler(reduction.ForkingPickler):
    """Pickles as multiprocessing does for a spawned process, without tensors."""

    tensors = 0

    def reducer_override(self, value: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(value, torch.Tensor):
            return NotImplemented
        if value.requires_grad and not value.is_leaf:
            raise RuntimeError("Cowardly refusing to serialize non-leaf tensor which requires_grad")
        self.tensors += value.nbytes if value.layout is torch.strided else 0
        return _nothing, ()


class _Spawning:
    """Stands for the process being started: what is only sent to children can be pickled while there is one."""

    DupFd = staticmethod(lambda fd: fd)

    def duplicate_for_child(self, fd: int) -> int:
        return fd


def pickled(value: object, most: int = MOST_BYTES, seconds: float = MOST_SECONDS) -> Pickled:
    """Pickle an object as for a spawned worker, and throw the result away. Raises nothing that pickling raises."""
    sink = _Sink(most, seconds)
    pickler = _Pickler(sink)
    before = contexts.get_spawning_popen()
    contexts.set_spawning_popen(_Spawning())  # type: ignore[arg-type]
    try:
        pickler.dump(value)
    except _EnoughError:
        return Pickled(sink.size, pickler.tensors, is_cut=True)
    except RecursionError as error:
        return Pickled(sink.size, pickler.tensors, error=f"RecursionError: {error}", culprit=value)
    except Exception as error:
        return Pickled(sink.size, pickler.tensors, error=f"{type(error).__name__}: {error}", culprit=value)
    finally:
        contexts.set_spawning_popen(before)
    return Pickled(sink.size, pickler.tensors)


def pickled_by_path(value: object, name: str, seconds: float = MOST_SECONDS) -> Pickled:
    """As `pickled`; where it fails, with the path to the innermost part that fails by itself."""
    whole = pickled(value, seconds=seconds)
    if not whole.error:
        return whole
    end = time.monotonic() + seconds
    path, culprit, error = name, value, whole.error
    for _ in range(_DEEPEST):
        inner = _failing_part(culprit, end)
        if inner is None:
            break
        step, culprit, error = inner
        path += step
    return Pickled(whole.size, whole.tensors, error=error, path=path, culprit=culprit)


def _failing_part(value: object, end: float) -> tuple[str, object, str] | None:
    for step, part in _parts(value):
        left = end - time.monotonic()
        if left <= 0:
            return None
        result = pickled(part, seconds=left)
        if result.error:
            return step, part, result.error
    return None


def _parts(value: object) -> Iterator[tuple[str, object]]:
    """What an object is pickled with, by the step that leads there."""
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in list(value.items())[:_MOST_PARTS])
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{number}]", part) for number, part in enumerate(value[:_MOST_PARTS]))
    elif isinstance(value, functools.partial):
        yield ".func", value.func
        yield from ((f".args[{number}]", part) for number, part in enumerate(value.args))
        yield from ((f".keywords[{name!r}]", part) for name, part in value.keywords.items())
    elif isinstance(value, types.MethodType):
        yield ".__self__", value.__self__
    elif not isinstance(value, (type, types.FunctionType, types.ModuleType)):
        state = _state(value)
        if isinstance(state, dict):
            yield from ((f".{name}", part) for name, part in state.items())


def _state(value: object) -> object:
    """The attributes that are pickled with an object."""
    kind = type(value)
    own: Callable[[object], object] | None = getattr(kind, "__getstate__", None)
    if own is not None and own is not getattr(object, "__getstate__", None):
        try:
            return own(value)
        except Exception:  # user code; the object itself is then what fails
            return None
    return getattr(value, "__dict__", None)


def is_out_of_reach(value: object) -> bool:
    """True for what is pickled by a name that no spawned process can import: it is defined in a notebook or prompt."""
    kind = value if isinstance(value, (type, types.FunctionType)) else type(value)
    main = sys.modules.get("__main__")
    return kind.__module__ == "__main__" and main is not None and not hasattr(main, "__file__")
