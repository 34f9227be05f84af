"""Samples that worker code picks at random.

What is picked may be a size or the name of a class. A file that is opened, or a record, is a sample of many.
"""

from __future__ import annotations

import libcst as cst

from dataloader_lint.rules.memory._shared.container_fields import Container
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.semantics.limits import PICKED_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import resolve
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.size_classes import Size, container_kind
from dataloader_lint.semantics.values.values import Opaque, Sequence, Value

_READING = ("imread", "load", "open", "read")
_JOINING = frozenset({"Path", "format", "fspath", "join", "joinpath", "str"})
_RECORDS = frozenset({"array", "image", "tensor"})
_TEXTS = frozenset({"path", "str"})


def holds_samples(dataset: StoringDataset, container: Container) -> bool:
    """True if what is chosen from a container is a record, or a file that the worker opens."""
    places = [place for place in dataset.reads.of(container.name).places if place.is_sampled]
    if container.size is Size.LIST:
        held = container.elements
        if all(_is_from_element(place.node) for place in places):
            held = tuple(each for each in held if not isinstance(each, Opaque) or each.kind not in _RECORDS)
        if any(map(_is_record, held)):
            return True
    return holds_opened_files(dataset, container)


def holds_opened_files(dataset: StoringDataset, container: Container) -> bool:
    """True if what is chosen from a container is a file that the worker opens."""
    places = dataset.reads.of(container.name).places
    return any(place.is_sampled and _is_opened(place.node, place.scope) for place in places)


def _is_from_element(node: Node) -> bool:
    """True if it is one of the elements that is chosen from: `random.choice(self.numbers[label])`."""
    given = node.args[0].value if isinstance(node, cst.Call) and node.args else None
    return isinstance(given, cst.Subscript) and isinstance(given.slice[0].slice, cst.Index)


def _is_record(value: Value) -> bool:
    """A list, a dict, an array, or a pair of which a part is a text; one of numbers may be a size."""
    if isinstance(value, Sequence) and value.kind == "tuple":
        return any(isinstance(part, Opaque) and part.kind in _TEXTS for each in value.items or () for part in each)
    return container_kind(value) is not None or (isinstance(value, Opaque) and value.kind in _RECORDS)


def _is_opened(node: Node, scope: Scope, depth: int = 0) -> bool:
    """True if an expression, joined with a folder or not, goes to what reads files."""
    tree = scope.module.tree
    child: Node = node
    for above in tree.ancestors(node):
        if isinstance(above, cst.Call):
            name = last_name(above.func).lstrip("_")
            if name.startswith(_READING) and child is not above.func:
                return True
            if name not in _JOINING:
                return isinstance(above.func, cst.Attribute) and child is above.func and name in ("open", "read_bytes")
        elif isinstance(above, cst.Assign | cst.For | cst.CompFor):
            return depth < PICKED_DEPTH and any(
                _is_opened(use, scope, depth + 1)
                for use in tree.find(scope.node, cst.Name)
                if any(binding.node is above and not binding.path for binding in resolve(use, tree))
            )
        elif isinstance(above, cst.BaseStatement | cst.BaseSmallStatement | cst.Subscript):
            return False
        child = above
    return False
