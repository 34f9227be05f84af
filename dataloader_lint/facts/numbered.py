"""Lists that the labels of the samples number, `self.classes[self.labels[index]]`: what is numbered so is few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from dataloader_lint.facts.forms import Form, form_of, kind_of_filled
from dataloader_lint.facts.growth import added_to
from dataloader_lint.facts.names import Kind, resolve
from dataloader_lint.facts.tree import Scope
from dataloader_lint.facts.uses import Level, Place

if TYPE_CHECKING:
    from dataloader_lint.facts.datasets import Dataset
    from dataloader_lint.facts.kept_containers import Container


def is_numbered_by_labels(dataset: Dataset, container: Container) -> bool:
    """Whether workers ask a list of plain things only for numbers that construction gives to many samples each."""
    if any(kind_of_filled(each) or form_of(dataset.ev, each) is Form.LIST for each in container.elements):
        return False
    places = [place for place in dataset.reads.of(container.name).places if place.itself is not Level.NONE]
    return bool(places) and all(_is_asked_for_label(dataset, place) for place in places)


def _is_asked_for_label(dataset: Dataset, place: Place) -> bool:
    node = place.node.slice[0].slice if isinstance(place.node, cst.Subscript) else None
    index = node.value if isinstance(node, cst.Index) else None
    if isinstance(index, cst.Name):
        bindings = resolve(index, place.scope.module.tree)
        index = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
    labels = index.value if isinstance(index, cst.Subscript) else None
    return isinstance(labels, cst.Attribute) and _repeats(dataset, labels.attr.value)


def _repeats(dataset: Dataset, name: str) -> bool:
    """Whether each thing that an attribute gets is put into it again and again."""
    added = [each for binding in dataset.bound().get(name, ()) for each in added_to(dataset, name, binding)]
    return bool(added) and all(_is_repeated(node, scope) for node, scope in added)


def _is_repeated(node: cst.BaseExpression, scope: Scope) -> bool:
    """`[label] * n`, `[label for _ in files]`; a `label` of the loop around the one that adds it."""
    tree = scope.module.tree
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        return any(isinstance(side, cst.List) and len(side.elements) == 1 for side in (node.left, node.right))
    if isinstance(node, cst.ListComp) and isinstance(node.elt, cst.Name):
        return all(not isinstance(binding.node, cst.CompFor) for binding in resolve(node.elt, tree))
    if not isinstance(node, cst.Name):
        return False
    inner = next((above for above in tree.ancestors(node) if isinstance(above, cst.For)), None)
    bindings = resolve(node, tree)
    return bool(bindings) and all(each.kind is Kind.ELEMENT and each.node is not inner for each in bindings)
