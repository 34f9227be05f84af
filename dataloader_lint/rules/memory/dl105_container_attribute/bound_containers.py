"""Every list, dict and set that the constructor of a Dataset binds, whatever its size and use."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.libraries.calls import KEYED, row
from dataloader_lint.semantics.syntax.names import Kind
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.semantics.values.values import CallResult, Mapping, Opaque, Sequence, Value

_KINDS = {"list": "list", "list of str": "list", "list of int": "list", "dict": "dict", "set": "set"}


@dataclass(frozen=True, slots=True, eq=False)
class BoundContainer:
    """An attribute that holds a Python container, at the first binding that shows it."""

    name: str
    kind: str  # `list`, `dict` or `set`
    binding: AttributeBinding

    @property
    def node(self) -> Node:
        return self.binding.node


def bound_containers(dataset: StoringDataset, reported: AbstractSet[str]) -> Iterator[BoundContainer]:
    """The containers that `__init__` binds in the Dataset's own file, but those of names that are reported already."""
    tree = dataset.klass.scope.module.tree
    for name, bindings in dataset.bound().items():
        for binding in bindings if name not in reported else ():
            method = binding.method.function
            if method is None or not isinstance(method.node, cst.FunctionDef) or binding.node not in tree:
                continue
            if method.node.name.value != "__init__" or binding.kind is Kind.AUGMENTED:
                continue
            kinds = [_kind(value) for value in attributes.bound(dataset.ev, binding, dataset.self_value)]
            kind = next((each for each in kinds if each), "")
            if kind:
                yield BoundContainer(name, kind, binding)
                break


def _kind(value: Value) -> str:
    if isinstance(value, Sequence):
        return value.kind if value.kind in ("list", "set") else ""
    if isinstance(value, Mapping):
        return "dict"
    if isinstance(value, Opaque):
        return _KINDS.get(value.kind, "")
    if isinstance(value, CallResult) and row(value.library).gives in KEYED:
        return "set" if value.library == "builtins.set" else "dict"
    return ""
