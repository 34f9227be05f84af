"""What `min` and `max` give of numbers that are known, or known to be positive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataloader_lint.facts.infer.number_values import is_positive
from dataloader_lint.facts.infer.values import (
    NOTHING_KNOWN,
    Const,
    Evaluator,
    Frame,
    Opaque,
    Sequence,
    Values,
    constant,
)

if TYPE_CHECKING:
    import libcst as cst


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
