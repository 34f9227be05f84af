"""What a Dataset reads while it makes samples: its attributes, files and folders, and globals of its module."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from dataloader_lint.doctor.inert import is_container, state_of

MOST = 100  # names of a kind
_CHAIN = 8  # Datasets in Datasets
_LONGEST = 100  # characters of a value
_SIMPLE = (int, float, str, bool, type(None))


def chain(dataset: Any) -> list[Any]:
    """A Dataset, and the Datasets in it that are kept as `dataset` or in `datasets`."""
    found: list[Any] = []
    pending: list[Any] = [dataset]
    while pending and len(found) < _CHAIN:
        each = pending.pop()
        state = state_of(each)
        if (not state and not _is_written_in_python(each)) or any(each is one for one in found):
            continue
        found.append(each)
        inner: Any = state.get("datasets")
        pending += [state.get("dataset"), *(inner[:_CHAIN] if is_container(inner, list, tuple) else ())]
    return found


def _is_written_in_python(value: object) -> bool:
    try:
        return type(object.__getattribute__(value, "__dict__")) is dict
    except Exception:
        return False


def lengths(dataset: Any) -> dict[str, int]:
    """How many elements the containers of a Dataset have, by the names of its attributes."""
    state = state_of(dataset)
    if len(state) > MOST:
        return {}
    return {name: len(value) for name, value in state.items() if is_container(value, dict, list, set)}


def simple_attributes(dataset: Any) -> dict[str, str]:
    """The numbers and texts among the attributes of a Dataset and those in it: "0" for "Images.epoch"."""
    found: dict[str, str] = {}
    for each in chain(dataset):
        for name, value in list(state_of(each).items())[:MOST]:
            if type(value) in _SIMPLE:
                found.setdefault(f"{type(each).__name__}.{name}", repr(value)[:_LONGEST])
    return found


def variables(dataset: Any) -> dict[str, str]:
    """The globals with a number or text that the methods of a Dataset read, and what they are in this process."""
    found: dict[str, str] = {}
    for kind in {type(each): None for each in chain(dataset)}:
        for function in [each for each in vars(kind).values() if isinstance(each, FunctionType)]:
            for name in function.__code__.co_names:
                value = function.__globals__.get(name, function)
                if type(value) in _SIMPLE and len(found) < MOST and not name.startswith("__"):
                    found[name] = repr(value)[:_LONGEST]
    return found


@contextlib.contextmanager
def watched(dataset: Any, seen: dict[str, int], opened: dict[str, int], is_worker: bool) -> Iterator[None]:
    """Count the attributes that are read, in a worker, and the files and folders that are opened."""
    counting = [True]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if counting and event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, bytes)):
            name = f"{event} {os.fsdecode(arguments[0])}"
            if name in opened or len(opened) < MOST:
                opened[name] = opened.get(name, 0) + 1

    sys.addaudithook(hook)  # for as long as the process lives, so it is made to do nothing afterwards
    try:
        with _watched_attributes(dataset, seen) if is_worker else contextlib.nullcontext():
            yield
    finally:
        counting.clear()


@contextlib.contextmanager
def _watched_attributes(dataset: Any, seen: dict[str, int]) -> Iterator[None]:
    """Count the reads of attributes of a Dataset, and of Datasets in it. Changes their classes, in this process."""
    undo: list[tuple[Any, Any]] = []
    kinds: list[Any] = list({type(each): None for each in chain(dataset)})
    try:
        for kind in kinds:
            own = kind.__dict__.get("__getattribute__")
            with contextlib.suppress(Exception):  # a class that is not written in Python, or does not want it
                kind.__getattribute__ = _counting(kind.__getattribute__, kind.__name__, seen)
                undo.append((kind, own))
        yield
    finally:
        for kind, own in undo:
            with contextlib.suppress(Exception):
                if own is None:
                    del kind.__getattribute__
                else:
                    kind.__getattribute__ = own


def _counting(inner: Callable[[Any, str], Any], owner: str, seen: dict[str, int]) -> Any:
    def read(self: Any, name: str) -> Any:
        value = inner(self, name)
        if not name.startswith("__") and not callable(value):
            seen[f"{owner}.{name}"] = seen.get(f"{owner}.{name}", 0) + 1
        return value

    return read
