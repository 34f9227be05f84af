"""What a call of a library does: the one lookup in the rows of `models/`."""

from __future__ import annotations

from collections.abc import Callable

from dataloader_lint.semantics.libraries.models import (
    builtin_functions,
    files,
    media,
    methods,
    numpy,
    pandas,
    paths,
    pretrained,
    processes,
    progress,
    settings,
    standard_library,
    stores,
    torch,
)
from dataloader_lint.semantics.libraries.rows import Call

_MODELS = (
    builtin_functions,
    files,
    media,
    numpy,
    pandas,
    paths,
    pretrained,
    processes,
    progress,
    settings,
    standard_library,
    stores,
    torch,
)
_ROWS: dict[str, Call] = {name: call for model in _MODELS for name, call in model.ROWS.items()}
_UNKNOWN = Call()

# What a call can give by the column `gives`: a plain value of a known kind, or a container that is asked for keys.
VALUE_KINDS = frozenset({"str", "int", "float", "bool", "path", "tensor", "array", "image"})
KEYED = frozenset({"dict", "set"})


def row(name: str) -> Call:
    """Returns what a call of the function or class with this qualified name does; nothing holds for unknown names."""
    return _ROWS.get(name, _UNKNOWN)


def method_row(kind: str, name: str) -> Call:
    """Returns what a method does, by the kind of value that it is called on, or `any`."""
    return methods.ROWS.get(f"{kind}.{name}", _UNKNOWN)


def names_where(holds: Callable[[Call], object]) -> frozenset[str]:
    """Returns the qualified names of which something holds: for looks at text, which need the words beforehand."""
    return frozenset(name for name, call in _ROWS.items() if holds(call))
