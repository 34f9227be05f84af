"""Lists and dicts that `__init__` binds and that are as long as the Dataset, though nothing shows them to be long."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.rules.memory._shared.container_fields import Container, containers_of
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.rules.memory._shared.sample_storage import SampleStorage
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.names import Kind, dotted
from dataloader_lint.semantics.syntax.tree import Tree
from dataloader_lint.semantics.values.size_classes import Size, container_kind, size_of
from dataloader_lint.semantics.values.values import Opaque, Value


def plain_storage(dataset: StoringDataset, size: Size, tree: Tree) -> Iterator[SampleStorage]:
    """Those of one kind that workers ask for the sample index: written out, or parameters declared as dicts.

    What is known to be long is not among them, nor are the small examples of tests.
    """
    if is_test(dataset.klass.scope.module):
        return
    long: set[str] | None = None
    for name, bindings in dataset.bound().items():
        use = dataset.reads.of(name)
        if not use.is_length or use.itself is not IndexDep.INDEX or len(bindings) > 1 or "." in name:
            continue
        binding = bindings[0]
        if not _is_plain(binding) or not _is_in_constructor(binding) or binding.node not in tree:
            continue
        values = attributes.bound(dataset.ev, binding, dataset.self_value)
        if any(size_of(dataset.ev, each) in (Size.ARRAY, Size.SLOTS) for each in values):
            continue
        if long is None:
            long = {each.name for each in containers_of(dataset, tree)}
        is_parameter = isinstance(binding.value, cst.Name)
        shown = next(
            (each for each in values if isinstance(each, Opaque) is is_parameter and _kind(each) is size), None
        )
        if shown is not None and name not in long:
            elements = () if isinstance(shown, Opaque) else dataset.ev.element(shown)
            yield SampleStorage(Container(name, size, binding, shown, elements, grows=False), use, dataset)


def _kind(value: Value) -> Size | None:
    if isinstance(value, Opaque):
        return Size.DICT if value.kind == "dict" else None
    return container_kind(value)


def _is_plain(binding: AttributeBinding) -> bool:
    """True for a parameter, and for what is written at the place itself and not empty."""
    node = binding.value
    if isinstance(node, cst.Dict | cst.List | cst.Tuple):
        return bool(node.elements)
    if isinstance(node, cst.Call):
        return dotted(node.func) == "dict" and bool(node.args)
    return isinstance(node, cst.DictComp | cst.ListComp | cst.Name)


def _is_in_constructor(binding: AttributeBinding) -> bool:
    function = binding.method.function
    node = function.node if function is not None else None
    return isinstance(node, cst.FunctionDef) and node.name.value == "__init__" and binding.kind is not Kind.AUGMENTED
