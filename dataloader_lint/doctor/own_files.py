"""The user's files that a loader comes from. Imported in the process that is watched, so it brings little with it."""

from __future__ import annotations

import contextlib
import inspect
import os
import sysconfig
from collections.abc import Iterable
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from dataloader_lint.doctor.sizes import objects_of

_MOST_FILES = 60


def source_files(dataset: Any, functions: Iterable[Any], kinds: Iterable[type]) -> list[str]:
    """The user's files that a loader comes from: those of its Dataset, its functions, and its classes."""
    found = []
    for thing in (*(type(each) for each in objects_of(dataset)), *functions, *kinds):
        with contextlib.suppress(TypeError, OSError):  # built in, or defined at a prompt
            whole = thing.func if type(thing) is partial else thing
            if isinstance(whole, (type, FunctionType, MethodType)):
                found.append(inspect.getsourcefile(inspect.unwrap(whole)) or "")
            elif whole is not None:
                found.append(inspect.getsourcefile(type(whole)) or "")
    return own_files(found)


def own_files(names: Iterable[str]) -> list[str]:
    """The files among the names that exist and belong to no installed package."""
    installed = tuple(
        os.path.realpath(path) + os.sep for name, path in sysconfig.get_paths().items() if name.endswith("lib")
    )
    real = dict.fromkeys(os.path.realpath(name) for name in names if name and os.path.isfile(name))
    own = [name for name in real if not name.startswith(installed) and f"{os.sep}site-packages{os.sep}" not in name]
    return [name for name in own if name.endswith((".py", ".ipynb"))][:_MOST_FILES]
