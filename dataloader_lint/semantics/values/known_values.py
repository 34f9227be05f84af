"""Known values as numbers and truth values, and the results of `min` and `max`."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.values.values import (
    NOTHING_KNOWN,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    Library,
    Method,
    Module,
    Opaque,
    Partial,
    Sequence,
    Value,
    Values,
    constant,
)


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
    if isinstance(value, Library) and "." in value.name and not value.name.startswith("builtins."):
        return None  # `from settings import DEBUG`
    if isinstance(value, Function | Class | Method | Module | Partial | Library):
        return True
    return True if isinstance(value, CallResult) and value.library in _ALWAYS_TRUE else None


# Objects that have neither a length nor another way to be false.
_ALWAYS_TRUE = frozenset({"pathlib.Path", "torch.Generator", "torch.device"})


def extreme(ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> Values:
    """What a call of `min` or `max`, by its qualified name, gives."""
    given = [ev.values(arg.value, frame) for arg in call.args if arg.keyword is None and not arg.star]
    known = [constant(values) for values in given]
    if len(given) < 2 or len(given) != len(call.args):
        if len(given) == 1:  # the smallest of a list that is written out
            return _extreme_of_list(ev, name, given[0])
        return NOTHING_KNOWN
    numbers = [value.value for value in known if value is not None and isinstance(value.value, int | float)]
    if len(numbers) == len(given):
        pick = min(numbers) if name == "builtins.min" else max(numbers)
        return (Const(pick, next((value.default for value in known if value is not None and value.default), "")),)
    sides = [all(is_positive(value) for value in values) for values in given]
    if (any if name == "builtins.max" else all)(sides):
        return (Opaque("int", positive=True),)
    if name == "builtins.min" and any(number <= 0 for number in numbers):
        return (Opaque("int"),)
    return NOTHING_KNOWN


def _extreme_of_list(ev: Evaluator, name: str, values: Values) -> Values:
    if len(values) != 1 or not isinstance(values[0], Sequence) or values[0].items is None:
        return NOTHING_KNOWN
    sides = [all(is_positive(value) for value in item) for item in values[0].items]
    if sides and (any if name == "builtins.max" else all)(sides):
        return (Opaque("int", positive=True),)
    return NOTHING_KNOWN
