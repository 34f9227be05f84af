"""What a Dataset holds: its attributes by path, with the number of Python objects and the bytes in each."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dataloader_lint.doctor.inert import (
    defines,
    has_length,
    is_array,
    is_container,
    named,
    state_of,
    torch_functions_off,
)
from dataloader_lint.doctor.pickling import pickled

_MOST_OWNERS = 60
_DEEPEST = 4
_SAMPLED = 500  # elements of a container that stand for all of them
_LONG = 10_000  # elements of a container from which on they stand for its pickled size, too
_SECONDS = 10.0
_MOST_PICKLED = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a Dataset, or of what it holds.

    `objects` is how many Python objects it is made of, about: each has a reference count, which workers write to when
    they read it. `size` are their bytes and those of its arrays; `owner` is the class that has the attribute,
    `element` the type of most elements of a container.
    """

    path: str
    name: str
    owner: str
    kind: str
    elements: int | None
    element: str
    objects: int
    size: int
    pickled: int
    is_cut: bool


def attributes_of(dataset: object, seconds: float = _SECONDS) -> list[Attribute]:
    """The attributes of a Dataset and of the objects of Python classes in it, the largest first.

    Takes so many seconds at most, or a little more. Runs no code of the user's.
    """
    end = time.monotonic() + seconds
    found: list[Attribute] = []
    pending: list[tuple[str, object, int]] = [("dataset", dataset, 0)]
    seen: set[int] = set()
    while pending and len(seen) < _MOST_OWNERS and time.monotonic() < end:
        path, owner, depth = pending.pop(0)
        if id(owner) in seen:
            continue
        seen.add(id(owner))
        if is_container(owner, list, tuple, dict):
            found.append(_attribute(path, path, type(owner), owner, end))
            continue
        for name, value in list(state_of(owner).items()):
            if time.monotonic() > end:
                break
            found.append(_attribute(f"{path}.{name}", name, type(owner), value, end))
            if depth < _DEEPEST:
                pending += [(f"{path}.{name}{step}", part, depth + 1) for step, part in _owners(value)]
    return sorted(found, key=lambda one: (-one.size, one.path))


def objects_of(dataset: object) -> list[object]:
    """The objects of Python classes that a Dataset is made of, itself first."""
    pending: list[tuple[object, int]] = [(dataset, 0)]
    found: list[object] = []
    while pending and len(found) < _MOST_OWNERS:
        owner, depth = pending.pop(0)
        if any(owner is each for each in found):
            continue
        found.append(owner)
        if depth < _DEEPEST:
            for value in list(state_of(owner).values()):
                pending += [(part, depth + 1) for _, part in _owners(value)]
    return found


def _owners(value: Any) -> Iterator[tuple[str, object]]:
    """The objects with attributes of their own that a value is or holds: datasets in datasets, transforms in lists."""
    if is_container(value, list, tuple):
        if len(value) <= _MOST_OWNERS:
            yield from ((f"[{number}]", each) for number, each in enumerate(value) if _has_attributes(each))
    elif is_container(value, dict):
        if len(value) <= _MOST_OWNERS:
            yield from ((f"[{named(key)}]", each) for key, each in value.items() if _has_attributes(each))
    elif _has_attributes(value):
        yield "", value


def _has_attributes(value: object) -> bool:
    kind = type(value)
    if kind.__module__ in ("builtins", "types", "functools", "collections", "re", "pathlib") or is_array(value):
        return False
    return bool(state_of(value))


def _attribute(path: str, name: str, owner: type, value: Any, end: float) -> Attribute:
    objects, size = measure(value)
    left = max(0.05, end - time.monotonic())
    sent, is_cut = _sent(value, left)
    elements = len(value) if issubclass(type(value), Collection) and has_length(value) else None
    first = next(iter(value), None) if is_container(value, list, tuple, dict, set, frozenset) else None
    element = type(first).__name__ if elements and first is not None else ""
    kind = type(value).__name__
    return Attribute(path, name, owner.__name__, kind, elements, element, objects, size, sent, is_cut)


def _sent(value: Any, seconds: float) -> tuple[int, bool]:
    """The bytes that a value is pickled as, and if that was cut short; a long list or dict is sampled."""
    some, scale = value, 1.0
    if is_container(value, list, tuple, dict) and len(value) > _LONG:
        step = len(value) // _SAMPLED
        each = value.items() if is_container(value, dict) else value
        some = list(islice(each, 0, None, step))
        scale = len(value) / len(some)
    found = pickled(some, most=_MOST_PICKLED, seconds=seconds)
    return round(found.size * scale), found.is_cut


def measure(value: Any, depth: int = 0) -> tuple[int, int]:
    """About how many Python objects a value is made of, and their bytes; large containers are sampled."""
    if is_array(value):
        with torch_functions_off():
            nbytes, kind = int(value.nbytes), str(value.dtype)
        if kind == "object" and hasattr(type(value), "tolist") and depth < _DEEPEST:
            flat = value.reshape(-1)
            step = max(1, len(flat) // _SAMPLED)
            objects, size = _sum_of(list(flat[::step]), len(flat), depth)
            return objects, size + nbytes
        return 1, nbytes
    size = 64 if defines(type(value), "__sizeof__") else sys.getsizeof(value, 64)
    if depth >= _DEEPEST:
        return 1, size
    if is_container(value, dict):
        step = max(1, len(value) // _SAMPLED)
        some = [part for item in islice(value.items(), 0, None, step) for part in item]
        objects, inner = _sum_of(some, 2 * len(value), depth)
    elif is_container(value, list, tuple, set, frozenset):
        step = max(1, len(value) // _SAMPLED)
        objects, inner = _sum_of(list(islice(value, 0, None, step)), len(value), depth)
    elif _has_attributes(value):
        objects, inner = _sum_of(list(state_of(value).values()), len(state_of(value)), depth)
    else:
        return 1, size
    return objects + 1, size + inner


def _sum_of(some: list[Any], count: int, depth: int) -> tuple[int, int]:
    if not some:
        return 0, 0
    distinct = {id(each): each for each in some}
    # Few objects that stand in many places, such as small numbers, count once.
    repeated = len(distinct) * 10 < len(some)
    measured = [measure(each, depth + 1) for each in distinct.values()]
    scale = 1.0 if repeated else count / len(some)
    objects = sum(objects for objects, _ in measured) * scale
    size = sum(size for _, size in measured) * scale
    return round(objects), round(size)
