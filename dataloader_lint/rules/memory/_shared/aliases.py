"""Other names of a stored container: where it was created and filled before it was passed on."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as Mapping_
from collections.abc import Sequence as Sequence_

import libcst as cst

from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind
from dataloader_lint.semantics.callers.run_arguments import receiving_parameters
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.heap.writes import Place
from dataloader_lint.semantics.libraries.calls import KEYED, row
from dataloader_lint.semantics.limits import ALIAS_DEPTH
from dataloader_lint.semantics.syntax.names import Binding, bindings_of, written_part
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.size_classes import kind_of_object
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Frame, Mapping, Sequence, Value


def other_names(ev: Evaluator, binding: AttributeBinding, receiver: CallResult) -> Iterator[Place]:
    """The other names under which the value of a binding was filled: here, or where it comes from.

    `receiver` is the object whose attribute is bound: the method of a subclass may give the value.
    """
    if isinstance(binding.value, cst.Name):
        yield Place(binding.method, "", binding.value.value)
    for made in attributes.bound(ev, binding, receiver):
        yield from _names_behind(ev, made, 0)


def _names_behind(ev: Evaluator, made: Value, depth: int) -> Iterator[Place]:
    """The names of what a value is, or is a slice of, or was joined from."""
    if kind_of_object(ev, made) is not None and isinstance(made, CallResult) and isinstance(made.by, Class):
        for method in classes.methods_of(made.by.scope).values():  # `class Rows(list)`, which adds to itself
            yield Place(method, "", classes.receiver_name(method))
    node, frame = _display(made)
    if node is None or frame is None or node not in frame.scope.module.tree or depth > ALIAS_DEPTH:
        return
    tree = frame.scope.module.tree
    home = tree.scope_of(node)
    for part in _joined(node):
        while isinstance(part, cst.Subscript):
            part = part.value
        if isinstance(part, cst.Name):
            yield Place(home, "", part.value)
            for each in ev.values(part, frame):
                yield from _names_behind(ev, each, depth + 1)
    parent = tree.parent(node)
    if isinstance(parent, cst.Arg) and isinstance(call := tree.parent(parent), cst.Call):  # `collect(root, [])`
        yield from (Place(scope, "", param) for scope, param in receiving_parameters(ev, call, parent.value, home))
    is_part = isinstance(parent, cst.DictElement | cst.Element)  # `{"train": [], "val": []}`, `columns = [], []`
    whole = tree.parent(parent) if is_part and parent is not None else None
    for kept in (node, whole) if whole is not None else (node,):
        yield from (Place(home, "", name) for name in _names_of(home).get(id(kept), ()))
        yield from _attributes_of_others(ev, kept, frame)


def _attributes_of_others(ev: Evaluator, kept: Node, frame: Frame) -> Iterator[Place]:
    """The attribute that a container is kept as by what is no Dataset itself: `self.rows = []`, `Rows(self.rows)`."""
    by = frame.receiver.by if isinstance(frame.receiver, CallResult) else None
    home = classes.class_of(frame.scope)
    if home is None or not isinstance(by, Class) or dataset_kind(ev, by):
        return
    for name in _attributes_of(home).get(id(kept), ()):
        for method in classes.methods_of(home).values():
            yield Place(method, classes.receiver_name(method), name)


def _joined(node: Node) -> list[Node]:
    """What lists are made of that were filled before: of a slice of one, or of several, `images + masks`."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return [*_joined(node.left), *_joined(node.right)]
    return [node] if isinstance(node, cst.Name | cst.Subscript) else []


def _display(made: Value) -> tuple[Node | None, Frame | None]:
    """Where a container is written out, or made empty by a call: `{}`, `defaultdict(list)`."""
    if isinstance(made, Sequence | Mapping):
        return made.node, made.frame
    if isinstance(made, CallResult) and row(made.library).gives in KEYED:
        return made.call, made.frame
    return None, None


def _names_of(scope: Scope) -> dict[int, list[str]]:
    """The names that a scope binds to expressions that are written out, by the `id` of the expression."""
    return scope.module.tree.of_text(("written", id(scope)), lambda: _by_expression(bindings_of(scope)))


def _attributes_of(klass: Scope) -> dict[int, list[str]]:
    found = classes.attribute_bindings
    return klass.module.tree.of_text(("written attributes", id(klass)), lambda: _by_expression(found(klass)))


def _by_expression(names: Mapping_[str, Sequence_[Binding | AttributeBinding]]) -> dict[int, list[str]]:
    by_expression: dict[int, list[str]] = {}
    for name, found in names.items():
        for node in {id(node) for each in found for node in _written(each.value, each.path)}:
            by_expression.setdefault(node, []).append(name)
    return by_expression


def _written(value: cst.BaseExpression | None, path: tuple[int, ...]) -> Iterator[Node]:
    """What a binding may give its name, as it is written: both of `x = {} if one else []`."""
    todo = [written_part(value, path)]
    while todo:
        given = todo.pop()
        if isinstance(given, cst.IfExp):
            todo += (given.body, given.orelse)
        elif given is not None:
            yield given
