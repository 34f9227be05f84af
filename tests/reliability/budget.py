"""How long the long tests go on: `LONG_MINUTES=10` ends each of them after ten minutes, and the summary says how far
it has come. Without it each goes through all of its examples.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
import unittest
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from hypothesis.errors import UnsatisfiedAssumption

SECONDS = 60 * float(os.environ.get("LONG_MINUTES", "inf"))

tried: Counter[str] = Counter()
"""The number of examples by test."""

T = TypeVar("T")


def within(name: str, examples: Iterable[T]) -> Iterator[T]:
    """The examples, as many as there is time for; at least one."""
    end = time.monotonic() + SECONDS
    for each in examples:
        yield each
        tried[name] += 1
        if time.monotonic() > end:
            return


class TimeIsUpError(unittest.SkipTest):
    """Ends a test of hypothesis at once, which takes other exceptions for failures to look into."""


def for_a_while(test: Callable[..., None]) -> Callable[..., None]:
    """A test of hypothesis, above its `@given`, that ends when its time is up, but not before a failure is shrunk."""
    details = test.hypothesis  # type: ignore[attr-defined]
    inner, end, has_failed = details.inner_test, float("inf"), False

    def bounded(*arguments: Any, **keywords: Any) -> None:
        nonlocal end, has_failed
        end = min(end, time.monotonic() + SECONDS)
        if time.monotonic() > end and not has_failed:
            raise TimeIsUpError
        tried[test.__name__] += 1
        try:
            inner(*arguments, **keywords)
        except Exception as error:
            has_failed = has_failed or not isinstance(error, UnsatisfiedAssumption)
            raise

    details.inner_test = bounded

    @functools.wraps(test)
    def whole(*arguments: Any, **keywords: Any) -> None:
        with contextlib.suppress(TimeIsUpError):
            test(*arguments, **keywords)

    return whole
