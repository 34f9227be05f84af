"""The other names of a container that a Dataset keeps: where it was made and filled before it was handed on."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.facts.evaluation import classes, members
from dataloader_lint.facts.evaluation.classes import AttributeBinding
from dataloader_lint.facts.evaluation.dataset_bases import dataset_kind
from dataloader_lint.facts.evaluation.values import Class, Evaluator, Frame, Made, Mapping, Sequence, Value
from dataloader_lint.facts.libraries.catalogue import DICT_MAKERS
from dataloader_lint.facts.syntax.names import bindings_of, written_part
from dataloader_lint.facts.syntax.tree import Node, Scope

MAX_DEPTH = 4


def other_names(ev: Evaluator, binding: AttributeBinding, receiver: Made) -> Iterator[tuple[Scope, str, str]]:
    """The other names under which the value of a binding was filled: here, or where it comes from.

    `receiver` is the object whose attribute is bound: the method of an heir may give the value.
    Each is a function, the object there whose attribute it is, or none for a local name, and the name.
    """
    if isinstance(binding.value, cst.Name):
        yield binding.method, "", binding.value.value
    for made in members.bound(ev, binding, receiver):
        yield from _names_behind(ev, made, 0)


def _names_behind(ev: Evaluator, made: Value, depth: int) -> Iterator[tuple[Scope, str, str]]:
    """The names of what a value is, or is a slice of, or was joined from."""
    node, frame = _display(made)
    if node is None or frame is None or node not in frame.scope.module.tree or depth > MAX_DEPTH:
        return
    tree = frame.scope.module.tree
    home = tree.scope_of(node)
    for part in _joined(node):
        while isinstance(part, cst.Subscript):
            part = part.value
        if isinstance(part, cst.Name):
            yield home, "", part.value
            for each in ev.values(part, frame):
                yield from _names_behind(ev, each, depth + 1)
    parent = tree.parent(node)
    kept = tree.parent(parent) if isinstance(parent, cst.DictElement) else node  # `{"train": [], "val": []}`
    if kept is not None:
        for name, found in bindings_of(home).items():
            if any(_may_be_written(each.value, each.path, kept) for each in found):
                yield home, "", name
        yield from _attributes_of_others(ev, kept, frame)


def _attributes_of_others(ev: Evaluator, kept: Node, frame: Frame) -> Iterator[tuple[Scope, str, str]]:
    """The attribute that a container is kept as by what is no Dataset itself: `self.rows = []`, `Rows(self.rows)`."""
    by = frame.receiver.by if isinstance(frame.receiver, Made) else None
    home = classes.class_of(frame.scope)
    if home is None or not isinstance(by, Class) or dataset_kind(ev, by):
        return
    for name, found in classes.attribute_bindings(home).items():
        if any(_may_be_written(each.value, each.path, kept) for each in found):
            for method in classes.methods_of(home).values():
                yield method, classes.receiver_name(method), name


def _joined(node: Node) -> list[Node]:
    """What lists are made of that were filled before: of a slice of one, or of several, `images + masks`."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return [*_joined(node.left), *_joined(node.right)]
    return [node] if isinstance(node, cst.Name | cst.Subscript) else []


def _display(made: Value) -> tuple[Node | None, Frame | None]:
    """Where a container is written out, or made empty by a call: `{}`, `defaultdict(list)`."""
    if isinstance(made, Sequence | Mapping):
        return made.node, made.frame
    if isinstance(made, Made) and made.library in DICT_MAKERS:
        return made.call, made.frame
    return None, None


def _may_be_written(value: cst.BaseExpression | None, path: tuple[int, ...], node: Node) -> bool:
    """Whether a binding gives its name a container that is written out: `x = []`, `x = {} if one else []`."""
    given = written_part(value, path)
    while isinstance(given, cst.IfExp):
        if _may_be_written(given.body, (), node):
            return True
        given = given.orelse
    return given is node
