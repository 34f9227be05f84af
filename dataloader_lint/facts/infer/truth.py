"""True or false in every case: the answer to a test, from what its expression can be."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts.infer.values import (
    Class,
    Const,
    Function,
    Library,
    Method,
    Module,
    Opaque,
    Partial,
    Sequence,
    Value,
    Values,
)


def truth(values: Values) -> bool | None:
    """True if the value is true in every case (True), false in every case (False), or unknown (None)."""
    answer = _truth(values[0]) if values else None
    if answer is None:
        return None  # mostly at once: nothing is known of the conditions of most `if` statements
    return answer if all(_truth(value) is answer for value in values[1:]) else None


def _truth(value: Value) -> bool | None:
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Opaque):
        return True if value.positive else None
    if isinstance(value, Sequence) and value.items is not None and isinstance(value.node, cst.Tuple):
        return bool(value.items)
    if isinstance(value, Function | Class | Method | Module | Partial | Library):
        return True
    return None
