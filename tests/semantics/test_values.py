"""What an expression can be: `Evaluator.values`."""

from __future__ import annotations

from dataloader_lint.semantics.values.values import (
    AttributeOf,
    CallResult,
    Class,
    Const,
    Function,
    ItemOf,
    Library,
    Mapping,
    Opaque,
    Sequence,
    Value,
    Values,
)
from question_tables import Row, each_row


def shown(values: Values) -> str:
    """Values in a few words, as tables have them."""
    return " | ".join(sorted(map(_shown, values)))


def _shown(value: Value) -> str:
    if isinstance(value, Const):
        return f"{value.value!r} by default" if value.default else repr(value.value)
    if isinstance(value, Opaque | Sequence):
        return value.kind
    if isinstance(value, Class | Function):
        kind = "class" if isinstance(value, Class) else "function"
        return f"{kind} {value.scope.node.name.value}"  # type: ignore[attr-defined]
    if isinstance(value, CallResult):
        return f"object of {value.library or _shown(value.by)}"
    if isinstance(value, Library):
        return value.name
    if isinstance(value, AttributeOf | ItemOf):
        return f"part of {_shown(value.of)}"
    return "dict" if isinstance(value, Mapping) else type(value).__name__.lower()


@each_row(__file__, "values.md")
def test_values(row: Row) -> None:
    assert shown(row.asked.values) == row.answer
