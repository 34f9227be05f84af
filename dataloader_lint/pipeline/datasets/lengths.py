"""Which attributes determine the length of a Dataset."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.field_uses import AccessSite, FieldUses
from dataloader_lint.pipeline.datasets.worker_body import Body, Entry
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.short_names import COPYING, MAKING_ARRAYS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import Bases, CallResult, Evaluator


def is_geometric(bases: Bases) -> bool:
    """True for a Dataset of torch_geometric, whose subclasses define `get` and `len`."""
    return any(name.startswith("torch_geometric.") for name in bases.libraries)


def add_lengths(ev: Evaluator, bases: Bases, reads: FieldUses) -> None:
    """Adds the attributes whose `len()` is the length of the Dataset, directly or stored in another attribute."""
    method = classes.find_method(ev, bases.classes, "__len__") or (
        classes.find_method(ev, bases.classes, "len") if is_geometric(bases) else None
    )
    if method is None:
        return
    body = Body(ev, bases, reads, Entry(method.scope, classes.receiver_name(method.scope)), {})
    for _ in body.run():
        pass
    for statement in method.scope.own(cst.Return):
        if statement.value is not None:
            _length_of(body, statement.value, method.scope, 0)


def _length_of(body: Body, node: cst.BaseExpression, scope: Scope, depth: int) -> None:
    tree = scope.module.tree
    for call in tree.find(node, cst.Call):
        if _is_len(call) and not _is_factor_of_lengths(call, node, scope):
            measured = call.args[0].value
            while isinstance(measured, cst.Subscript) and not _has_number_index(measured):
                measured = measured.value
            for name in body.attributes(measured):
                body.use(name).measure(AccessSite(call, scope))
            for klass in body.bases.classes:
                _measure_columns(body, klass.scope, measured, AccessSite(call, scope))
    for attribute in tree.find(node, cst.Attribute):
        if isinstance(attribute.value, cst.Name) and attribute.value.value == body.own and depth < 2:
            _length_in_attribute(body, attribute.attr.value, depth)


def _is_len(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Name) and call.func.value == "len" and bool(call.args)


def _is_factor_of_lengths(call: cst.Call, node: cst.BaseExpression, scope: Scope) -> bool:
    """True if a length is multiplied by another: `len(self.leads) * len(self.rows)` does not tell which one is long."""
    tree = scope.module.tree
    child: cst.CSTNode = call
    for above in tree.ancestors(call):
        if isinstance(above, cst.BinaryOperation) and isinstance(above.operator, cst.Multiply):
            other = above.left if child is above.right else above.right
            if any(_is_len(each) for each in tree.find(other, cst.Call)):
                return True
        if above is node:
            break
        child = above
    return False


def _has_number_index(node: cst.Subscript) -> bool:
    """True for `self.columns[0]`: its length differs from that of the list around it. A string key is a field."""
    index = node.slice[0].slice
    return isinstance(index, cst.Index) and isinstance(index.value, cst.Integer)


def _length_in_attribute(body: Body, name: str, depth: int) -> None:
    """`self.length = len(self.paths)`, or `len(paths)` of a name that is also stored as `self.paths`."""
    for klass in body.bases.classes:
        for binding in classes.attribute_bindings(klass.scope).get(name, ()):
            if binding.value is None:
                continue
            entry = Entry(binding.method, classes.receiver_name(binding.method))
            inner = Body(body.ev, body.bases, body.reads, entry, {})
            for call in binding.method.module.tree.find(binding.value, cst.Call):
                if _is_len(call) and not _is_factor_of_lengths(call, binding.value, binding.method):
                    measured, place = call.args[0].value, AccessSite(call, binding.method)
                    for each in inner.attributes(measured):
                        body.use(each).measure(place)
                    if isinstance(measured, cst.Name):
                        for kept in _stored_as(klass.scope, measured.value, binding.method):
                            body.use(kept).measure(place)
                    _measure_columns(body, klass.scope, measured, place)


def _stored_as(klass: Scope, name: str, method: Scope) -> Iterator[str]:
    for attribute, found in classes.attribute_bindings(klass).items():
        for binding in found:
            if binding.method is method and isinstance(binding.value, cst.Name) and binding.value.value == name:
                yield attribute


def _measure_columns(body: Body, klass: Scope, table: cst.BaseExpression, place: AccessSite) -> None:
    """Note the attributes that are whole columns of a table: they are as long as it, `np.asarray(table["name"])`."""
    found = body.ev.values(table, body.ev.frame_of(place.scope))
    if not any(isinstance(each, CallResult) and each.library.startswith(_TABLES) for each in found):
        return
    for attribute, bindings in classes.attribute_bindings(klass).items():
        for binding in bindings:
            owner = _table_of(binding.value) if not binding.path else None
            is_local = isinstance(owner, cst.Name) and binding.method is not place.scope
            if owner is not None and dotted(owner) == dotted(table) != "" and not is_local:
                body.use(attribute).measure(place)


_TABLES = ("pandas.", "polars.")


def _table_of(node: cst.CSTNode | None) -> cst.BaseExpression | None:
    """The table of which an expression is a whole column, whatever holds it: an array, a list, another column."""
    while True:
        if isinstance(node, cst.ListComp) and not node.for_in.ifs and node.for_in.inner_for_in is None:
            node = node.for_in.iter
        elif isinstance(node, cst.Attribute) and node.attr.value == "values":
            node = node.value
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and last_name(node.func) in COPYING:
            node = node.func.value
        elif isinstance(node, cst.Call) and node.args and last_name(node.func) in MAKING_ARRAYS | {"list", "tuple"}:
            node = node.args[0].value
        else:
            break
    if not isinstance(node, cst.Subscript):
        return None
    *rows, column = [each.slice for each in node.slice]
    index = column.value if isinstance(column, cst.Index) else None
    if isinstance(node.value, cst.Attribute) and node.value.attr.value in ("iloc", "loc"):
        are_all = len(rows) == 1 and isinstance(rows[0], cst.Slice) and rows[0].lower is None and rows[0].upper is None
        return node.value.value if are_all and isinstance(index, cst.Integer | cst.SimpleString) else None
    return node.value if not rows and isinstance(index, cst.SimpleString) else None
