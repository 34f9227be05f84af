"""What a type annotation says about a value, for parameters and returns of which nothing better is known."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.values.values import (
    NONE,
    NOTHING_KNOWN,
    CallResult,
    Class,
    Evaluator,
    Frame,
    Library,
    Opaque,
    Sequence,
    Value,
    Values,
    merge,
)

_KINDS = {
    "builtins.list": "list",
    "typing.List": "list",
    "builtins.dict": "dict",
    "typing.Dict": "dict",
    "builtins.set": "set",
    "typing.Set": "set",
    "builtins.str": "str",
    "builtins.int": "int",
    "builtins.float": "float",
    "builtins.bool": "bool",
    "torch.Tensor": "tensor",
    "numpy.ndarray": "array",
    "numpy.array": "array",
    "pathlib.Path": "path",
    "pandas.DataFrame": "frame",
}
_ELEMENT_KINDS = {"str": "list of str", "int": "list of int"}


def values_of(ev: Evaluator, annotation: cst.BaseExpression, frame: Frame) -> Values:
    """The values that an annotation allows, as far as it says anything of use here."""
    if isinstance(annotation, cst.SimpleString):
        return _quoted(ev, annotation, frame)
    if isinstance(annotation, cst.BinaryOperation):
        return merge(values_of(ev, annotation.left, frame), values_of(ev, annotation.right, frame))
    if isinstance(annotation, cst.Name) and annotation.value == "None":
        return (NONE,)
    if isinstance(annotation, cst.Subscript):
        return _subscripted(ev, annotation, frame)
    return merge(*(_object(each) for each in ev.values(annotation, frame))) or NOTHING_KNOWN


def _object(kind: Value) -> Values:
    """Any object of a class."""
    if isinstance(kind, Class) or (isinstance(kind, Library) and kind.name in LOADERS):
        return (CallResult(kind, None, None),)
    if isinstance(kind, Library) and kind.name in _KINDS:
        return (Opaque(_KINDS[kind.name]),)
    return NOTHING_KNOWN


def _quoted(ev: Evaluator, annotation: cst.SimpleString, frame: Frame) -> Values:
    text = annotation.evaluated_value
    if not isinstance(text, str):
        return NOTHING_KNOWN
    head = text.partition("[")[0].strip()
    kind = {"list": "list", "List": "list", "dict": "dict", "Dict": "dict", "str": "str", "int": "int"}.get(head)
    if kind is not None:
        return (Opaque(kind),)
    first, *rest = text.strip().split(".")
    if not all(part.isidentifier() for part in (first, *rest)):
        return NOTHING_KNOWN
    found = ev.member(frame.scope.module.root, first)
    for part in rest:
        found = merge(*(ev.attribute(each, part) for each in found))
    return merge(*(_object(each) for each in found)) or NOTHING_KNOWN


def _subscripted(ev: Evaluator, annotation: cst.Subscript, frame: Frame) -> Values:
    inside = [element.slice.value for element in annotation.slice if isinstance(element.slice, cst.Index)]
    found: list[Values] = []
    for value in ev.values(annotation.value, frame):
        name = value.name if isinstance(value, Library) else ""
        if name == "typing.Optional" and inside:
            found.append(merge(values_of(ev, inside[0], frame), (NONE,)))
        elif name in ("typing.Type", "builtins.type") and len(inside) == 1:
            found.append(ev.values(inside[0], frame) or NOTHING_KNOWN)  # the class, or one derived from it
        elif name == "typing.Union":
            found.append(merge(*(values_of(ev, each, frame) for each in inside)))
        elif name in ("typing.Tuple", "builtins.tuple"):
            if len(inside) == 2 and isinstance(inside[1], cst.Ellipsis):
                found.append((Opaque("tuple"),))
            else:
                items = tuple(values_of(ev, each, frame) for each in inside)
                found.append((Sequence("tuple", annotation, frame, items),))
        elif name in _KINDS:
            kind = _KINDS[name]
            if kind == "list" and inside:
                element = values_of(ev, inside[0], frame)
                if len(element) == 1 and isinstance(element[0], Opaque):
                    kind = _ELEMENT_KINDS.get(element[0].kind, kind)
            found.append((Opaque(kind),))
        elif isinstance(value, Class):
            found.append((CallResult(value, None, None),))
        else:
            found.append(NOTHING_KNOWN)
    return merge(*found) or NOTHING_KNOWN
