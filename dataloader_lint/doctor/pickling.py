"""Can spawned workers be given an object: what pickling it gives, how large it is, which part of it fails.

Nothing is sent anywhere. Tensors are counted and not moved into shared memory, as real pickling for a worker would do.
Objects that the user's own code pickles (`__getstate__`, `__reduce__`) are passed over unless that is asked for: such
code may close a file or hand something over, which the program under the doctor has not asked for.
"""

from __future__ import annotations

import dataclasses
import functools
import multiprocessing.context as contexts
import sys
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing import reduction
from typing import Any

from dataloader_lint.doctor.inert import is_container, named, pickles_by_own_code, state_of, torch_functions_off

MOST_BYTES = 512 * 2**20
MOST_SECONDS = 5.0
_DEEPEST = 12
_MOST_FAILURES = 8
_MOST_PARTS = 2_000


@dataclass(frozen=True, slots=True)
class Failure:
    """A part that cannot be pickled: the exception, as "type: text", the path there, and where its code is defined."""

    error: str
    path: str
    place: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Pickled:
    """What came of pickling an object.

    `size` are the bytes that each spawned worker is sent, `tensors` the bytes of tensors, which all workers share.
    `is_cut` says that the object was too large or slow to be pickled to its end. `failures` are the innermost parts
    that fail by themselves.
    """

    size: int
    tensors: int
    is_cut: bool = False
    failures: tuple[Failure, ...] = ()
    passed_over: int = 0  # objects that the user's own code pickles

    @property
    def error(self) -> str:
        """The exception of the first part that fails; "" if there is none."""
        return self.failures[0].error if self.failures else ""

    @property
    def path(self) -> str:
        """The path to the first part that fails."""
        return self.failures[0].path if self.failures else ""


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
    passed_over = 0
    runs_code = False

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        torch = sys.modules.get("torch")
        if torch is None or not issubclass(kind, torch.Tensor):
            if self.runs_code or issubclass(kind, type) or not pickles_by_own_code(kind):
                return NotImplemented
            self.passed_over += 1
            return _nothing, ()
        with torch_functions_off():
            if value.requires_grad and not value.is_leaf:
                raise RuntimeError("Cowardly refusing to serialize non-leaf tensor which requires_grad")
            self.tensors += value.nbytes if value.layout is torch.strided else 0
        return _nothing, ()


class _Spawning:
    """Stands for the process being started: what is only sent to children can be pickled while there is one."""

    DupFd = staticmethod(lambda fd: fd)

    def duplicate_for_child(self, fd: int) -> int:
        return fd


def pickled(
    value: object, most: int = MOST_BYTES, seconds: float = MOST_SECONDS, *, runs_code: bool = False
) -> Pickled:
    """Pickle an object as for a spawned worker, and throw the result away. Raises nothing that pickling raises.

    `runs_code` has methods of the user's, such as `__getstate__`, called.
    """
    sink = _Sink(most, seconds)
    pickler = _Pickler(sink)
    pickler.runs_code = runs_code
    before = contexts.get_spawning_popen()
    contexts.set_spawning_popen(_Spawning())  # type: ignore[arg-type]
    error = ""
    is_cut = False
    try:
        pickler.dump(value)
    except _EnoughError:
        is_cut = True
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    finally:
        contexts.set_spawning_popen(before)
    failures = (Failure(error, "", _place_of(value)),) if error else ()
    return Pickled(sink.size, pickler.tensors, is_cut, failures, pickler.passed_over)


def pickled_by_path(value: object, name: str, seconds: float = MOST_SECONDS, *, runs_code: bool = False) -> Pickled:
    """As `pickled`; where it fails, with the paths to the innermost parts that fail by themselves."""
    whole = pickled(value, seconds=seconds, runs_code=runs_code)
    if not whole.error:
        return whole
    end = time.monotonic() + seconds
    failures = _failures(Failure(whole.error, name, _place_of(value)), value, end, runs_code)
    return dataclasses.replace(whole, failures=tuple(islice(failures, _MOST_FAILURES)))


def _place_of(culprit: object) -> tuple[str, int] | None:
    code = culprit.__code__ if isinstance(culprit, types.FunctionType) else None
    return (code.co_filename, code.co_firstlineno) if code is not None else None


def _failures(whole: Failure, value: object, end: float, runs_code: bool, depth: int = 0) -> Iterator[Failure]:
    """The innermost parts of an object that fail; the object itself if none of its parts does."""
    found = False
    if depth < _DEEPEST:
        for step, part in _parts(value, runs_code):
            left = end - time.monotonic()
            if left <= 0:
                break
            result = pickled(part, seconds=left, runs_code=runs_code)
            if result.error:
                found = True
                one = Failure(result.error, whole.path + step, _place_of(part))
                yield from _failures(one, part, end, runs_code, depth + 1)
    if not found:
        yield whole


def _parts(value: Any, runs_code: bool) -> Iterator[tuple[str, object]]:
    """What an object is pickled with, by the step that leads there."""
    if is_container(value, dict):
        yield from ((f"[{named(key)}]", part) for key, part in list(value.items())[:_MOST_PARTS])
    elif is_container(value, list, tuple):
        yield from ((f"[{number}]", part) for number, part in enumerate(value[:_MOST_PARTS]))
    elif isinstance(value, functools.partial):
        yield ".func", value.func
        yield from ((f".args[{number}]", part) for number, part in enumerate(value.args))
        yield from ((f".keywords[{name!r}]", part) for name, part in value.keywords.items())
    elif isinstance(value, types.MethodType):
        yield ".__self__", value.__self__
    elif not isinstance(value, (type, types.FunctionType, types.ModuleType)):
        state = _state(value, runs_code)
        if isinstance(state, dict):
            yield from ((f".{name}", part) for name, part in state.items())


def _state(value: object, runs_code: bool) -> object:
    """The attributes that are pickled with an object."""
    kind = type(value)
    if pickles_by_own_code(kind) and not runs_code:
        return None
    own: Callable[[object], object] | None = getattr(kind, "__getstate__", None)
    if own is not None and own is not getattr(object, "__getstate__", None):
        try:
            return own(value)
        except Exception:  # user code; the object itself is then what fails
            return None
    return state_of(value)


main_is_a_file = False
"""True where the main module is known to come from a file; when that has run, Python takes the name of it away."""


def is_out_of_reach(value: object) -> bool:
    """True for what is pickled by a name that no spawned process can import: it is defined in a notebook or prompt."""
    kind = value if isinstance(value, (type, types.FunctionType)) else type(value)
    main = sys.modules.get("__main__")
    is_at_prompt = not main_is_a_file and main is not None and not hasattr(main, "__file__")
    return kind.__module__ == "__main__" and is_at_prompt
