"""What cannot be pickled for workers: `is_unpicklable`."""

from __future__ import annotations

import pytest

from asking import asked
from dataloader_lint.pipeline.loaders.picklable import is_unpicklable

BEFORE = """
import functools


def plain(batch):
    return batch


@functools.cache
def cached(batch):
    return batch


def local():
    def inner(batch):
        return batch

    return inner


def wrapped(function):
    @functools.wraps(function)
    def inner(batch):
        return function(batch)

    return inner


class Rows:
    def method(self, batch):
        return batch
"""
TABLE = [
    ("plain", False),
    ("cached", False),
    ("Rows().method", False),
    ("lambda batch: batch", True),
    ("local()", True),
    ("wrapped(plain)", False),  # found under the name of the function that it took over
    ("functools.lru_cache(plain)", True),
    ("Rows()", False),
    ("'text'", False),
]


@pytest.mark.parametrize(("expression", "answer"), TABLE)
def test_picklable(expression: str, answer: bool) -> None:
    assert any(map(is_unpicklable, asked(expression, BEFORE).values)) is answer
