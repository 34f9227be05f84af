"""What is known of a value as a number."""

from __future__ import annotations

from dataloader_lint.facts.infer.values import Const, Opaque, Value


def is_positive(value: Value) -> bool | None:
    """True if a number is known to be above zero (True), known not to be (False), or unknown (None)."""
    if isinstance(value, Const):
        number = value.value
        if isinstance(number, bool) or not isinstance(number, int | float):
            return False if number is None else None
        return number > 0
    if isinstance(value, Opaque):
        return True if value.positive else None
    return None


def is_whole_number(value: Value) -> bool:
    """True if a value is known to be a whole number, and no truth value."""
    if isinstance(value, Const):
        return isinstance(value.value, int) and not isinstance(value.value, bool)
    return isinstance(value, Opaque) and value.kind == "int"
