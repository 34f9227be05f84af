"""Records: dataclasses and named tuples, whose fields are their constructor's arguments."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Sequence,
    Value,
    Values,
)

# Called with the names of the fields, they give a class.
MAKERS_OF_NAMED_TUPLES = ("collections.namedtuple", "typing.NamedTuple")


def field_argument(ev: Evaluator, made: CallResult, klass: Class, name: str) -> Values | None:
    """The argument of a field in the construction of an object; None where its default applies."""
    if made.call is None or made.frame is None:
        return None
    for call, frame in ((made.call, made.frame), *made.before):
        found = _given_in(ev, call, frame, klass, name)
        if found is not None:
            return found
    return None


def _given_in(ev: Evaluator, call: cst.Call, frame: Frame, klass: Class, name: str) -> Values | None:
    """The argument of a field in one call: the construction, or a later `replace`."""
    position = 0
    for arg in call.args[1:] if last_name(call.func) == "replace" else call.args:
        if arg.star:
            return NOTHING_KNOWN
        if arg.keyword is not None:
            if arg.keyword.value == name:
                return ev.values(arg.value, frame)
            continue
        fields = _by_position(ev, klass)
        if position < len(fields) and fields[position] == name:
            return ev.values(arg.value, frame)
        position += 1
    # The parameters of a constructor that a decorator generates are not known.
    return NOTHING_KNOWN if position and _is_made_otherwise(ev, klass) else None


def replaced(value: Value, call: cst.Call, frame: Frame) -> Values:
    """What `dataclasses.replace(value, ...)` or `value._replace(...)` gives: the record, with some fields changed."""
    if not isinstance(value, CallResult) or not isinstance(value.by, Class) or value.call is None:
        return NOTHING_KNOWN
    assert value.frame is not None
    return (CallResult(value.by, call, frame, ((value.call, value.frame), *value.before)),)


def in_record(ev: Evaluator, value: Value, key: object) -> Values | None:
    """What a record as a dict (`asdict`, `_asdict`, `vars`) holds under a key; None for what is no record."""
    if isinstance(value, Sequence) and isinstance(key, str) and _is_named(ev, value):
        return field_of_tuple(ev, value, key) or (ABSENT,)
    if isinstance(value, CallResult) and isinstance(value.by, Class) and is_record(ev, value.by):
        fields = _declared(ev, value.by)
        if fields is None:
            return NOTHING_KNOWN
        return ev.attribute(value, key) if isinstance(key, str) and key in fields else (ABSENT,)
    return None


def _is_named(ev: Evaluator, value: Sequence) -> bool:
    makers = ev.values(value.node.func, value.frame) if isinstance(value.node, cst.Call) else ()
    return any(isinstance(maker, CallResult) and maker.library in MAKERS_OF_NAMED_TUPLES for maker in makers)


def defaults(ev: Evaluator, made: CallResult, klass: Class) -> Iterator[tuple[str, cst.BaseExpression, Class]]:
    """The fields that the construction of an object leaves at their defaults, with these and where they stand."""
    for home in ev.bases(klass).classes:
        for declared in home.scope.own(cst.AnnAssign):
            value = declared.value
            if isinstance(value, cst.Call) and last_name(value.func) == "field":
                value = keyword_of(value, "default")
            if value is None or not isinstance(declared.target, cst.Name) or _kind(declared) == "ClassVar":
                continue
            if field_argument(ev, made, klass, declared.target.value) is None:
                yield declared.target.value, value, home


def is_record(ev: Evaluator, klass: Class) -> bool:
    """True if the constructor of a class is made from the fields that it or a base declares."""
    return _is_named_tuple(ev, klass) or any(map(classes.is_dataclass, ev.bases(klass).classes))


def is_filled_by_call(ev: Evaluator, klass: Class) -> bool:
    """True if what constructs an object of a class becomes its fields, as it is."""
    return is_record(ev, klass) and not _has_constructor(ev, klass)


def _is_made_otherwise(ev: Evaluator, klass: Class) -> bool:
    """True if a decorator may have made the constructor of a class, in an unknown way."""
    if _has_constructor(ev, klass) or _by_position(ev, klass):
        return False
    return any(each.node.decorators for each in ev.bases(klass).classes)


def element_at(ev: Evaluator, value: Value, index: object) -> Values | None:
    """What an object of a class of named tuples holds at an index; None for all else."""
    if not isinstance(value, CallResult) or not isinstance(value.by, Class) or not isinstance(index, int):
        return None
    if not _is_named_tuple(ev, value.by):
        return None
    fields = _by_position(ev, value.by)
    return ev.attribute(value, fields[index]) if -len(fields) <= index < len(fields) else None


def _is_named_tuple(ev: Evaluator, klass: Class) -> bool:
    return "typing.NamedTuple" in ev.bases(klass).libraries


def _by_position(ev: Evaluator, klass: Class) -> tuple[str, ...]:
    """The fields that a constructor takes by position, in its order; empty where the class has one of its own."""
    return () if _has_constructor(ev, klass) else _declared(ev, klass) or ()


def _declared(ev: Evaluator, klass: Class) -> tuple[str, ...] | None:
    """The fields of a record in order; None where some are not plain fields of the constructor."""
    is_tuple = _is_named_tuple(ev, klass)
    records = [each for each in reversed(ev.bases(klass).classes) if is_tuple or classes.is_dataclass(each)]
    found: dict[str, None] = {}  # a subclass may give a field another default, which leaves it in its place
    for each in records:
        for declared in each.scope.own(cst.AnnAssign):
            kind = _kind(declared)
            if kind in ("InitVar", "KW_ONLY") or _says_more(declared):
                return None
            if kind != "ClassVar" and isinstance(declared.target, cst.Name):
                found[declared.target.value] = None
    return tuple(found)


def _has_constructor(ev: Evaluator, klass: Class) -> bool:
    found = ev.bases(klass).classes
    return any(classes.find_method(ev, found, name) is not None for name in ("__init__", "__new__"))


def _kind(declared: cst.AnnAssign) -> str:
    annotation = declared.annotation.annotation
    return dotted(annotation.value if isinstance(annotation, cst.Subscript) else annotation).rpartition(".")[2]


def _says_more(declared: cst.AnnAssign) -> bool:
    """True if a field may be none of the constructor's, or by name only: `field(init=False)`."""
    value = declared.value
    return isinstance(value, cst.Call) and any(
        arg.keyword is not None and arg.keyword.value in ("init", "kw_only") for arg in value.args
    )


def named_tuple(ev: Evaluator, maker: CallResult, call: cst.Call, frame: Frame) -> Values:
    """What a class that `namedtuple("Data", "loader dataset")` made gives when it is called."""
    names = _names(ev, maker)
    if not names or any(arg.star for arg in call.args):
        return NOTHING_KNOWN
    items = dict.fromkeys(names, NOTHING_KNOWN)
    for name, arg in zip(names, call.args, strict=False):
        items[name if arg.keyword is None else arg.keyword.value] = ev.values(arg.value, frame)
    return (Sequence("tuple", call, frame, tuple(items[name] for name in names)),)


def field_of_tuple(ev: Evaluator, value: Sequence, name: str) -> Values | None:
    """What such a tuple holds under a name; None for other tuples."""
    call = value.node if isinstance(value.node, cst.Call) else None
    for maker in ev.values(call.func, value.frame) if call is not None and value.items else ():
        if isinstance(maker, CallResult) and maker.library in MAKERS_OF_NAMED_TUPLES:
            names = _names(ev, maker)
            if name in names and value.items is not None:
                return value.items[names.index(name)]
    return None


def _names(ev: Evaluator, maker: CallResult) -> tuple[str, ...]:
    """The fields that are written out where a class of named tuples is made."""
    call, frame = maker.call, maker.frame
    if call is None or frame is None or len(call.args) < 2 or call.args[1].star:
        return ()
    return tuple(_written_names(ev, call.args[1].value, frame))


def _written_names(ev: Evaluator, node: Node, frame: Frame) -> Iterator[str]:
    for value in ev.values(node, frame)[:1]:
        if isinstance(value, Const) and isinstance(value.value, str):
            yield from value.value.replace(",", " ").split()
        elif isinstance(value, Sequence):
            for item in value.items or ():
                first = item[0] if item else None
                if isinstance(first, Sequence) and first.items:  # ("loader", DataLoader)
                    first = first.items[0][0]
                yield first.value if isinstance(first, Const) and isinstance(first.value, str) else ""
