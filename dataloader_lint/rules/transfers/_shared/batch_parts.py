"""A cheap look before the evaluation: whether what is moved can be part of a batch at all."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.calls import names_where
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.values.values import Frame

# Functions that return what they are given, by the last part of their names.
_HANDING_BACK = frozenset(name.rpartition(".")[2] for name in names_where(lambda call: call.gives_argument))


def may_be_part(node: cst.CSTNode | None, frame: Frame, depth: int = 0) -> bool:
    """True if an expression can be part of what a loop or `next` gave.

    Models and tensors made on the spot, which is what most moves move, can not.
    """
    while isinstance(node, cst.Subscript):
        node = node.value
    if isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute):  # batch.squeeze(), iterator.next(), autograd.Variable(batch)
            given = node.args[:1] if node.func.attr.value in _HANDING_BACK else ()
            return any(may_be_part(each, frame, depth) for each in (node.func.value, *(arg.value for arg in given)))
        name = node.func.value if isinstance(node.func, cst.Name) else ""
        return (name not in ("super", "len") and bool(name) and not name[0].isupper()) or any(
            may_be_part(arg.value, frame, depth) for arg in node.args[:1]
        )
    tree = frame.scope.module.tree
    if node is None or depth > 4 or node not in tree:
        return depth > 4
    if isinstance(node, cst.Attribute):
        method = tree.scope_of(node).function
        klass = classes.class_of(method) if method is not None else None
        if isinstance(node.value, cst.Name) and method is not None and klass is not None:
            if node.value.value == classes.receiver_name(method):
                bound = classes.attribute_bindings(klass).get(node.attr.value, ())
                return any(_binds_part(each.kind, each.value, frame, depth) for each in bound)
        return may_be_part(node.value, frame, depth)
    if isinstance(node, cst.Name):
        return any(_binds_part(each.kind, each.value, frame, depth) for each in resolve(node, tree))
    if isinstance(node, cst.Tuple | cst.List):
        return any(may_be_part(element.value, frame, depth) for element in node.elements)
    return isinstance(node, cst.IfExp | cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.Dict | cst.NamedExpr)


def _binds_part(kind: Kind, value: cst.BaseExpression | None, frame: Frame, depth: int) -> bool:
    if kind in (Kind.ELEMENT, Kind.PARAMETER):
        return True
    return kind in (Kind.VALUE, Kind.ENTERED) and may_be_part(value, frame, depth + 1)
