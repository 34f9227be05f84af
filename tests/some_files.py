"""Which files the tests go through that try something on every fixture: all, or one a rule.

What is tried there goes wrong in many files at once, if at all. `EVERY_FILE=1`, as `.ci/run` sets it, takes all of
them, and so does `CI=true`, which services for continuous integration set by themselves.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

EVERY_FILE = any(os.environ.get(name, "").lower() not in ("", "0", "false") for name in ("EVERY_FILE", "CI"))


def some_of(several: Iterable[T], group: Callable[[T], object], name: Callable[[T], str]) -> list[T]:
    """All, or the first of each group: the one whose name says that most happens in it, if there is one."""
    found = list(several)
    if EVERY_FILE:
        return found
    first: dict[object, T] = {}
    for each in sorted(found, key=lambda one: not name(one).startswith(("fixable", "reported"))):
        first.setdefault(group(each), each)
    return list(first.values())
