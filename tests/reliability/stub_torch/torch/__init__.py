"""A stand-in for torch that starts in no time and shows every race: what tests of fixes run their programs under.

`STUB_ACCELERATOR` says what the machine has (cuda, mps or nothing). `STUB_RACES=0` makes every copy wait, as if the
host were slow; otherwise copies that need not be waited for come as late as they may.
"""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from torch import state


class dtype:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


float16, float32, float64 = dtype("float16"), dtype("float32"), dtype("float64")
int32, int64, uint8 = dtype("int32"), dtype("int64"), dtype("uint8")
bool_ = dtype("bool")
float, half, double, long = float32, float16, float64, int64
strided, channels_last = "strided", "channels_last"
_BY_NAME = {each.name: each for each in (float16, float32, float64, int32, int64, uint8, bool_)}


class device:
    def __init__(self, kind: Any, index: int | None = None) -> None:
        if isinstance(kind, device):
            kind, index = kind.type, kind.index
        if isinstance(kind, int):
            kind, index = "cuda", kind
        name, _, number = kind.partition(":")
        if name not in ("cpu", "cuda", "mps", "xpu", "meta"):
            raise RuntimeError(f"Expected one of cpu, cuda, ... device type at start of device string: {name}")
        self.type, self.index = name, builtins_int(number) if number else index

    def __repr__(self) -> str:
        return (
            f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


builtins_int = int


class Tensor:
    """An array somewhere. `pending` gives its content to whoever waits for the copy."""

    def __init__(self, array: Any, where: str = "cpu", pinned: bool = False) -> None:
        self.array = np.asarray(array)
        self.where, self.pinned = where, pinned
        self.source: Tensor | None = None

    # Copies.

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        where, kind, waits, copy = _arguments_of_to(args, kwargs)
        return self._copied(where or self.where, kind, not waits, copy)

    def cuda(self, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
        return self._copied(_where("cuda" if device is None else device), None, non_blocking, False)

    def cpu(self, memory_format: Any = None) -> Tensor:
        return self._copied("cpu", None, False, False)

    def _copied(self, where: str, kind: dtype | None, is_async: bool, copy: bool) -> Tensor:
        wanted = self.dtype if kind is None else kind
        kinds = where.partition(":")[0], self.where.partition(":")[0]
        if kinds[0] != "cpu" and kinds[0] != state.accelerator():
            raise AssertionError(f"Torch not compiled with {kinds[0].upper()} enabled")
        state.note("copy", self.where, where, wanted.name)
        if kinds[0] == kinds[1] and wanted is self.dtype and not copy:
            return self
        made = Tensor(self._read().astype(wanted.name), where)
        if is_async and state.has_races() and kinds[0] != kinds[1] and self.array.size:
            if "mps" in kinds:
                made.array = np.zeros_like(made.array)  # pytorch#189690
            elif kinds[0] == "cpu":
                made.source, made.array = Tensor(made.array), np.zeros_like(made.array)
                state.pending.append(made.arrive)
            elif self.pinned and wanted is self.dtype:
                made.source = self  # read when it is needed: whoever changes the source before is too early
                state.pending.append(made.arrive)
        return made

    def arrive(self) -> None:
        """The copy is complete."""
        if self.source is not None:
            self.array, self.source = self.source._read().copy(), None

    def _read(self) -> np.ndarray[Any, Any]:
        if self.where != "cpu":
            self.arrive()  # the device waits by itself
        return self.array

    def pin_memory(self, device: Any = None) -> Tensor:
        return Tensor(self._read().copy(), "cpu", pinned=True)

    def is_pinned(self) -> bool:
        return self.pinned

    # What programs do with it.

    @property
    def device(self) -> device:
        return device(self.where)

    @property
    def dtype(self) -> dtype:
        return _BY_NAME[self.array.dtype.name]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def float(self) -> Tensor:
        return self.to(float32)

    def half(self) -> Tensor:
        return self.to(float16)

    def long(self) -> Tensor:
        return self.to(int64)

    def numpy(self) -> np.ndarray[Any, Any]:
        if self.where != "cpu":
            raise TypeError(f"can't convert {self.where} device type tensor to numpy")
        return self.array

    def tolist(self) -> Any:
        return self.to("cpu")._read().tolist()

    def item(self) -> Any:
        return self.to("cpu")._read().item()

    def detach(self) -> Tensor:
        return self

    def clone(self) -> Tensor:
        return Tensor(self._read().copy(), self.where)

    def _inplace(self, change: Callable[[Any], Any]) -> Tensor:
        self._read()[...] = change(self._read())
        return self

    def backward(self) -> None:
        state.note("backward", self.tolist())

    def zero_(self) -> Tensor:
        return self._inplace(lambda array: 0)

    def add_(self, other: Any) -> Tensor:
        return self._inplace(lambda array: array + _plain(other))

    def mul_(self, other: Any) -> Tensor:
        return self._inplace(lambda array: array * _plain(other))

    def _made(self, array: Any) -> Tensor:
        return Tensor(array, self.where)

    def sum(self) -> Tensor:
        return self._made(self._read().sum())

    def mean(self) -> Tensor:
        return self._made(self._read().mean())

    def unsqueeze(self, dim: int) -> Tensor:
        return self._made(np.expand_dims(self._read(), dim))

    def __add__(self, other: Any) -> Tensor:
        return self._made(self._read() + _plain(other))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Tensor:
        return self._made(self._read() * _plain(other))

    __rmul__ = __mul__

    def __gt__(self, other: Any) -> Tensor:
        return self._made(self._read() > _plain(other))

    def __lt__(self, other: Any) -> Tensor:
        return self._made(self._read() < _plain(other))

    def __bool__(self) -> bool:
        return bool(self._read())

    def __format__(self, spec: str) -> str:
        return format(self.item() if self.array.ndim == 0 else str(self), spec)

    def __getitem__(self, index: Any) -> Tensor:
        return self._made(self._read()[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._read()[index] = _plain(value)

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Any:
        if self.array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter([self._made(each) for each in self._read()])

    def __int__(self) -> int:
        return builtins_int(self._read().item())

    def __float__(self) -> Any:
        return self._read().item()

    def __index__(self) -> int:
        return builtins_int(self._read().item())

    def __repr__(self) -> str:
        return f"tensor({self.array.tolist() if self.where == 'cpu' else self._read().tolist()}, {self.where})"

    def __reduce__(self) -> Any:
        return Tensor, (self._read(), self.where)


def _plain(value: Any) -> Any:
    return value._read() if isinstance(value, Tensor) else value


def _where(value: Any) -> str:
    return str(device(value))


def _arguments_of_to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, dtype | None, bool, bool]:
    rest, where, kind = list(args), "", None
    if rest and isinstance(rest[0], Tensor):
        other = rest.pop(0)
        where, kind = other.where, other.dtype
    elif rest and isinstance(rest[0], dtype):
        kind = rest.pop(0)
    elif rest:
        where = "" if rest[0] is None else _where(rest[0])
        rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], dtype)):
            kind = rest.pop(0)
    names = ["non_blocking", "copy"][: len(rest)]
    if len(rest) > 2 or any(not isinstance(each, bool) for each in rest) or any(name in kwargs for name in names):
        raise TypeError("to() received an invalid combination of arguments")
    options = dict(zip(names, rest, strict=True)) | kwargs
    if "device" in options:
        if where:
            raise TypeError("to() received an invalid combination of arguments")
        given = options.pop("device")
        where = "" if given is None else _where(given)
    if "dtype" in options:
        if kind is not None:
            raise TypeError("to() received an invalid combination of arguments")
        kind = options.pop("dtype")
    waits, copy = not options.pop("non_blocking", False), options.pop("copy", False)
    options.pop("memory_format", None)
    if options:
        raise TypeError(f"to() got an unexpected keyword argument {next(iter(options))!r}")
    return where, kind, waits, copy


def tensor(data: Any, dtype: dtype | None = None, device: Any = None) -> Tensor:
    array = np.array([_plain(each) for each in data] if isinstance(data, list) else _plain(data))
    if array.dtype == np.float64 and not isinstance(data, np.ndarray):
        array = array.astype(np.float32)
    made = Tensor(array if dtype is None else array.astype(dtype.name))
    return made if device is None else made.to(device)


def as_tensor(data: Any, dtype: dtype | None = None, device: Any = None) -> Tensor:
    return data if isinstance(data, Tensor) and dtype is None and device is None else tensor(data, dtype, device)


def from_numpy(array: Any) -> Tensor:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return Tensor(array)


def stack(tensors: Any, dim: int = 0) -> Tensor:
    parts = list(tensors)
    if any(not isinstance(each, Tensor) for each in parts):
        raise TypeError("expected Tensor as element 0 in argument 0")
    return Tensor(np.stack([each._read() for each in parts], dim), parts[0].where)


def arange(*args: Any) -> Tensor:
    return Tensor(np.arange(*args))


def zeros(*size: Any) -> Tensor:
    return Tensor(np.zeros(size, dtype=np.float32))


def is_tensor(value: object) -> bool:
    return isinstance(value, Tensor)


class Generator:
    def __init__(self, device: str = "cpu") -> None:
        self.random = random.Random(0)

    def manual_seed(self, seed: int) -> Generator:
        self.random.seed(seed)
        return self


def manual_seed(seed: int) -> None:
    state.seed(seed)


def initial_seed() -> int:
    return state.initial


def randint(low: int, high: int, size: tuple[int, ...]) -> Tensor:
    return Tensor(
        np.array([state.chance.randrange(low, high) for _ in range(builtins_int(np.prod(size)))]).reshape(size)
    )


class no_grad:
    """A context manager and a decorator."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> None:
        pass

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapped


inference_mode = enable_grad = no_grad


def get_num_threads() -> int:
    return builtins_int(os.environ.get("OMP_NUM_THREADS", "4"))


from torch import accelerator, backends, cuda, multiprocessing, utils  # noqa: E402
