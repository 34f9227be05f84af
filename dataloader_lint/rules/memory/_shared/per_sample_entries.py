"""Dicts with an entry for each file or record that workers look up by a field of the sample."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.field_uses import FieldUse
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.rules.memory._shared.container_fields import Container
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.semantics.values.values import Mapping, Sequence


def has_entry_for_each(dataset: StoringDataset, container: Container) -> bool:
    """True for `{image["id"]: image for image in self.images}`, of as many as there are samples."""
    made = container.value.node if isinstance(container.value, Mapping | Sequence) else None
    return isinstance(made, cst.DictComp | cst.SetComp) and any(
        _is_samples(dataset, each) for each in _iterated(made.for_in.iter)
    )


def _is_samples(dataset: StoringDataset, node: cst.BaseExpression) -> bool:
    """True if it is what the index is looked up in: as long as the Dataset, or asked for the index itself."""
    return isinstance(node, cst.Attribute) and _is_dynamic(dataset.reads.of(node.attr.value))


def _is_dynamic(use: FieldUse) -> bool:
    return use.is_length or use.itself is IndexDep.INDEX


def _iterated(node: Node) -> Iterator[cst.BaseExpression]:
    """What a loop iterates over, seen through `sorted(...)`, `.keys()` and the like."""
    while isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in ("items", "keys") and not node.args:
            yield node.func.value
        if not node.args:
            return
        node = node.args[0].value
    if isinstance(node, cst.BaseExpression):
        yield node
