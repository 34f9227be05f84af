"""What operators give: comparisons, arithmetic and augmented assignments."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.limits import INTEGER_BITS
from dataloader_lint.semantics.values.known_values import is_positive
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    UNKNOWN,
    AttributeOf,
    Const,
    Frame,
    ItemOf,
    Mapping,
    Opaque,
    Sequence,
    Value,
    Values,
    constant,
    merge,
)


def text_after(start: object) -> Opaque:
    """A text of which only the start is known: that of a format, or the left operand of `+` or `%`."""
    scheme, colon, _ = start.partition(":") if isinstance(start, str) else ("", "", "")
    return Opaque("str", scheme=scheme if colon and scheme.isalpha() else "")


def augmented(found: Values) -> Values:
    """What `name += value` leaves in the name: `value` is what is seen of it here."""
    result: list[Value] = []
    for value in found:
        if isinstance(value, Sequence):
            result.append(Sequence(value.kind, value.node, value.frame))
        elif isinstance(value, Const) and isinstance(value.value, int | float):
            result.append(Opaque("int" if isinstance(value.value, int) else "float"))
        elif isinstance(value, Opaque):
            result.append(value)
        else:
            result.append(UNKNOWN)
    return merge(tuple(result))


def compared(left: Values, operator: cst.CSTNode, right: Values) -> Values:
    """A comparison of two values: a constant where both are known."""
    a, b = constant(left), constant(right)
    if a is not None and b is not None:
        answer = _compare(operator, a.value, b.value)
        if answer is not None:
            return (Const(answer, a.default or b.default),)
    if b is not None and b.value == 0 and isinstance(operator, cst.GreaterThan):
        answers = {is_positive(value) for value in left}
        if answers == {True}:
            return (Const(True, next((v.default for v in left if isinstance(v, Const) and v.default), "")),)
    if b is not None and b.value is None and left and all(_never_none(value) for value in left):
        if isinstance(operator, cst.Is | cst.Equal):
            return (Const(False),)
        if isinstance(operator, cst.IsNot | cst.NotEqual):
            return (Const(True),)
    return (Opaque("bool"),)


def _never_none(value: Value) -> bool:
    if isinstance(value, Const):
        return value.value is not None
    return not (value is UNKNOWN or value is ABSENT or isinstance(value, ItemOf | AttributeOf))


def _compare(operator: cst.CSTNode, a: object, b: object) -> bool | None:
    if isinstance(operator, cst.Equal):
        return a == b
    if isinstance(operator, cst.NotEqual):
        return a != b
    if isinstance(operator, cst.Is):
        return a is b if a is None or b is None or isinstance(a, bool) or isinstance(b, bool) else None
    if isinstance(operator, cst.IsNot):
        return a is not b if a is None or b is None or isinstance(a, bool) or isinstance(b, bool) else None
    if isinstance(a, str) and isinstance(b, str) and isinstance(operator, cst.In | cst.NotIn):
        return (a in b) is isinstance(operator, cst.In)
    if isinstance(a, int | float) and isinstance(b, int | float):
        if isinstance(operator, cst.GreaterThan):
            return a > b
        if isinstance(operator, cst.GreaterThanEqual):
            return a >= b
        if isinstance(operator, cst.LessThan):
            return a < b
        if isinstance(operator, cst.LessThanEqual):
            return a <= b
    return None


def arithmetic(node: cst.BinaryOperation, left: Values, right: Values, frame: Frame) -> Values:
    """Sums of numbers, joined lists and dicts; paths from `/`."""
    a, b = constant(left), constant(right)
    if a is not None and b is not None:
        number = _calculate(node.operator, a.value, b.value)
        if number is not None:
            return (Const(number, a.default or b.default),)
    result: list[Value] = []
    for value in (*left, *right):
        if isinstance(value, Sequence) and isinstance(node.operator, cst.Add | cst.Multiply):
            result.append(Sequence(value.kind, node, frame))
        elif isinstance(value, Mapping) and isinstance(node.operator, cst.BitOr):
            result.append(Mapping(node, frame))
        elif isinstance(value, Opaque) and value.kind == "path" and isinstance(node.operator, cst.Divide):
            return (Opaque("path"),)
        elif isinstance(value, Const | Opaque) and _is_text(value) and isinstance(node.operator, cst.Add | cst.Modulo):
            return (text_after(value.value if isinstance(value, Const) and value is left[0] else ""),)
    if result:
        return merge(tuple(result[:1]))
    # Adding to or multiplying what is at least 1 keeps it so: `4 * n`, `n + 1`.
    if isinstance(node.operator, cst.Multiply | cst.Add) and all(is_positive(value) for value in (*left, *right)):
        return (Opaque("int", positive=True),)
    kinds = {value.kind for value in (*left, *right) if isinstance(value, Opaque)}
    if kinds & {"tensor", "array"}:
        return (Opaque("tensor" if "tensor" in kinds else "array"),)
    if kinds and kinds <= {"int", "bool"} and not isinstance(node.operator, cst.Divide):
        return (
            (Opaque("int"),) if all(isinstance(value, Opaque | Const) for value in (*left, *right)) else NOTHING_KNOWN
        )
    return NOTHING_KNOWN


def _is_text(value: Const | Opaque) -> bool:
    return isinstance(value.value, str) if isinstance(value, Const) else value.kind == "str"


def _is_huge(number: object) -> bool:
    """True for an integer that is too long to calculate with: each product of it would be twice as long."""
    return isinstance(number, int) and number.bit_length() > INTEGER_BITS


def _calculate(operator: cst.CSTNode, a: object, b: object) -> int | float | None:
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return None
    if _is_huge(a) or _is_huge(b):
        return None
    try:
        if isinstance(operator, cst.Add):
            return a + b
        if isinstance(operator, cst.Subtract):
            return a - b
        if isinstance(operator, cst.Multiply):
            return a * b
        if isinstance(operator, cst.Divide):
            return a / b
        if isinstance(operator, cst.FloorDivide):
            return a // b
        if isinstance(operator, cst.Modulo):
            return a % b
    except (ArithmeticError, ValueError):
        return None
    return None
