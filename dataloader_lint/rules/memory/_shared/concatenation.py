"""Lists of sub-datasets that a Dataset concatenates or alternates between."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.rules.memory._shared.container_fields import Container
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.size_classes import Size, size_of
from dataloader_lint.semantics.values.values import CallResult, Opaque, Value

_ADDING = frozenset({"accumulate", "cumsum", "sum"})


def holds_parts(dataset: StoringDataset, container: Container, is_asked_itself: bool) -> bool:
    """True if the lengths of a list's elements are added up, and no annotation says that these are lists themselves.

    Then the samples are in its elements, and of these there are few. Where only its elements are asked for something
    of the sample, never the list itself, it is enough that their lengths are taken.
    """
    if any(size_of(dataset.ev, value) is Size.LIST for value in container.elements):
        return False
    if container.elements and all(is_loaded_array(value) for value in container.elements):
        return False
    kept = container.binding.value
    names = {container.name} | ({kept.value} if isinstance(kept, cst.Name) else set())
    return any(
        _measures_element(call, inner, names) and (not is_asked_itself or _is_added(call, inner))
        for scope in _scopes(dataset)
        for inner in scope.descend()
        for call in inner.own(cst.Call)
    )


def is_loaded_array(value: Value) -> bool:
    """True for an array or tensor in memory; of files that are mapped there are few."""
    if isinstance(value, CallResult) and value.call is not None:
        return row(value.library).loads_array == "file" and keyword_of(value.call, "mmap_mode") is None
    return isinstance(value, Opaque) and value.kind in ("array", "tensor")


def _scopes(dataset: StoringDataset) -> Iterator[Scope]:
    yield from dataset.construction
    method = classes.find_method(dataset.ev, dataset.bases.classes, "__len__")
    if method is not None:
        yield method.scope


def _measures_element(call: cst.Call, scope: Scope, names: set[str]) -> bool:
    """`len(part)` in a loop over one of some names, or `map(len, self.parts)`."""
    if last_name(call.func) == "map" and len(call.args) == 2:
        return last_name(call.args[0].value) == "len" and last_name(call.args[1].value) in names
    if last_name(call.func) != "len" or len(call.args) != 1 or not isinstance(call.args[0].value, cst.Name):
        return False
    return any(
        each.kind is Kind.ELEMENT and each.value is not None and last_name(each.value) in names
        for each in resolve(call.args[0].value, scope.module.tree)
    )


def _is_added(node: cst.Call, scope: Scope) -> bool:
    for above in scope.module.tree.ancestors(node):
        if isinstance(above, cst.AugAssign):
            return isinstance(above.operator, cst.AddAssign)
        if isinstance(above, cst.Call) and last_name(above.func) in _ADDING:
            return True
        if isinstance(above, cst.BaseSmallStatement):
            return False
    return False
