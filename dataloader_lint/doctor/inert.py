"""Looking at objects without running the user's code: no property, `__getattr__`, `__len__` or `__reduce__`."""

from __future__ import annotations

import contextlib
import copyreg
import sys
import sysconfig
from types import FunctionType
from typing import Any

_LOOKED_UP = ("__getattribute__", "__class__")
_PICKLED_BY = ("__getstate__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__", *_LOOKED_UP)
_ITERATED_BY = ("__iter__", "__len__", "__getitem__", "items", "values", "keys", *_LOOKED_UP)
_INSTALLED = tuple({path for name, path in sysconfig.get_paths().items() if name.endswith("lib")})


def state_of(value: object) -> dict[str, Any]:
    """The attributes that an object has of its own; empty for objects without, and for classes."""
    if isinstance(value, type):
        return {}
    try:
        state = object.__getattribute__(value, "__dict__")
    except Exception:
        return {}
    return state if type(state) is dict else {}


def is_written_by_user(function: object) -> bool:
    """True for what is written in Python, in no installed package; also for properties, and callables of a class."""
    if isinstance(function, property):
        return any(is_written_by_user(each) for each in (function.fget,) if each is not None)
    function = (
        getattr(function, "__func__", function) if isinstance(function, (classmethod, staticmethod)) else function
    )
    if not isinstance(function, FunctionType):
        return False
    name = function.__code__.co_filename
    return not name.startswith(_INSTALLED) and "site-packages" not in name and not name.startswith("<frozen")


def defines(kind: type, *names: str) -> bool:
    """True if a class, or one that it derives from, defines one of the names in the user's code."""
    for each in type.__getattribute__(kind, "__mro__"):
        namespace = type.__getattribute__(each, "__dict__")
        if any(name in namespace and is_written_by_user(namespace[name]) for name in names):
            return True
    return False


def pickles_by_own_code(kind: type) -> bool:
    """True if pickling an object of this class runs the user's code."""
    if is_written_by_user(copyreg.dispatch_table.get(kind)):
        return True
    is_container = issubclass(kind, (list, dict, set, frozenset, tuple)) and kind.__module__ != "builtins"
    return defines(kind, *_PICKLED_BY) or (is_container and defines(kind, *_ITERATED_BY))


def is_container(value: object, *kinds: type) -> bool:
    """True for an object of these built-in classes, or of a class derived from them that is iterated as they are."""
    kind = type(value)
    return issubclass(kind, kinds) and (kind in kinds or not defines(kind, *_ITERATED_BY))


def has_length(value: object) -> bool:
    """True if asking for the length runs none of the user's code."""
    kind = type(value)
    return hasattr(kind, "__len__") and not isinstance(value, type) and not defines(kind, "__len__", *_LOOKED_UP)


def is_array(value: object) -> bool:
    """True for arrays of NumPy and the like, and for tensors: their class has these attributes."""
    kind = type(value)
    return hasattr(kind, "nbytes") and hasattr(kind, "dtype") and hasattr(kind, "shape")


def torch_functions_off() -> contextlib.AbstractContextManager[object]:
    """A block in which the attributes and methods of a tensor do not call its class, which may be the user's."""
    torch = sys.modules.get("torch")
    off = getattr(getattr(torch, "_C", None), "DisableTorchFunctionSubclass", None)
    return off() if off is not None else contextlib.nullcontext()


def named(key: object) -> str:
    """A key of a dict as text."""
    return repr(key) if type(key) in (str, int, float, bool, bytes, tuple, type(None)) else type(key).__name__
