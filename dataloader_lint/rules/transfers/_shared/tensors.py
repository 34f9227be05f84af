"""Which parts of a loader's batches surely are tensors: other objects may have a `to` of their own."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.rules.transfers._shared.pinned_parts import collated, item_of
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.datasets import OF_TENSORS, SELECTING
from dataloader_lint.semantics.limits import TENSOR_DEPTH
from dataloader_lint.semantics.syntax.expressions import positional_of
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    ItemOf,
    Library,
    Mapping,
    Opaque,
    Sequence,
    Value,
    Values,
    merge,
)

_TENSOR = Opaque("tensor")
# What the default collate_fn makes tensors of.
_COLLATED_TO_TENSORS = frozenset({"array", "bool", "float", "int", "tensor"})
_IMAGES = "torchvision.datasets."


def is_tensor(ev: Evaluator, loader: Loader, path: list[ItemOf | AttributeOf]) -> bool | None:
    """True for a part of a loader's batches that is a tensor if it can be moved; None where nothing speaks against it.

    False where a function makes batches of which nothing is known, and where the part has a class of its own. The
    default collate_fn gives tensors, strings, and containers of the classes that samples have: of these, only classes
    of the project, and few of libraries, can be moved as well.
    """
    if loader.kind.drops_collate:
        return True if not path else None  # a graph of torch_geometric, whose `to` takes what that of tensors does
    collate = loader.values("collate_fn")
    by_default = all(isinstance(each, Const) and each.value is None for each in collate)
    if by_default:
        if not _is_batched(loader):  # samples as they are
            return None if path and not _may_move_otherwise(ev, loader) else False
        found = merge(*(_samples(ev, value) for value in loader.values("dataset")))
    else:
        found = merge(*(collated(ev, each) for each in collate))
    if by_default and path and found == (_TENSOR,):
        return True  # every sample is a tuple of tensors
    for step in path:
        found = merge(*(_part(ev, value, step) for value in found))
    if any(isinstance(value, CallResult | Mapping) for value in found):
        return False  # an object, or a dict of a class of the project: plain ones cannot be moved
    kinds = _COLLATED_TO_TENSORS if by_default else {"tensor"}
    if found and all(_is_of(value, kinds, by_default) for value in found):
        return True
    if not by_default or not path:
        return False
    return None if any(isinstance(step, AttributeOf) for step in path) or _may_move_otherwise(ev, loader) else True


def _may_move_otherwise(ev: Evaluator, loader: Loader) -> bool:
    """True if the project may have batches with a `to` of their own: it defines one, or uses dicts that have one."""
    module = loader.frame.scope.module
    return any(ev.project.defines(module, name) for name in ("to", "cuda")) or any(
        ev.project.mentions_word(module, word)
        for word in ("from transformers", "import transformers", "default_collate_fn_map")
    )


def _is_batched(loader: Loader) -> bool:
    """True if samples are collated: `batch_size` is not None."""
    if loader.is_passed("batch_size") is False:
        return True
    sizes = loader.values("batch_size")
    return bool(sizes) and all(
        (isinstance(each, Const) and each.value is not None) or (isinstance(each, Opaque) and each.kind == "int")
        for each in sizes
    )


def _is_of(value: Value, kinds: frozenset[str] | set[str], by_default: bool) -> bool:
    if isinstance(value, Const):
        return by_default and isinstance(value.value, int | float)
    return isinstance(value, Opaque) and value.kind in kinds


def _part(ev: Evaluator, value: Value, step: ItemOf | AttributeOf) -> Values:
    if isinstance(value, Opaque) and value.kind in ("array", "tensor") and isinstance(step, ItemOf):
        return (value,)  # a part of a tensor
    if isinstance(step, AttributeOf):
        return ev.attribute(value, step.name)
    return item_of(ev, value, step.index)


def _samples(ev: Evaluator, dataset: Value, depth: int = 0) -> Values:
    """What a Dataset gives for an index; a tensor alone for those whose samples are tuples of nothing else."""
    if isinstance(dataset, Sequence):
        return ev.element(dataset)
    if not isinstance(dataset, CallResult) or dataset.call is None or dataset.frame is None or depth > TENSOR_DEPTH:
        return (UNKNOWN,)
    if isinstance(dataset.by, Library):
        if dataset.library in OF_TENSORS or (dataset.library.startswith(_IMAGES) and _is_plain(ev, dataset)):
            return (_TENSOR,)
        given = positional_of(dataset.call)
        if dataset.library in SELECTING and given:
            return merge(*(_samples(ev, each, depth + 1) for each in ev.values(given[0], dataset.frame)))
        return (UNKNOWN,)
    bases = ev.bases(dataset.by).classes
    getter = classes.find_method(ev, bases, "__getitem__")
    if getter is not None and classes.find_method(ev, bases, "__getitems__") is None:
        return ev.run(getter, ev.method_frame(getter.scope, dataset))
    stream = classes.find_method(ev, bases, "__iter__")
    if stream is None:
        return (UNKNOWN,)
    frame = ev.method_frame(stream.scope, dataset)
    return merge(*(ev.values(each, frame) for each in _yielded(list(stream.scope.own(cst.Yield))))) or (UNKNOWN,)


def _yielded(statements: list[cst.Yield]) -> Iterator[cst.BaseExpression]:
    if all(each.value is not None and not isinstance(each.value, cst.From) for each in statements):
        yield from (each.value for each in statements if isinstance(each.value, cst.BaseExpression))


def _is_plain(ev: Evaluator, dataset: CallResult) -> bool:
    """True if nothing of the project's own makes the samples of a library's Dataset."""
    assert dataset.call is not None and dataset.frame is not None
    for arg in dataset.call.args:
        values = ev.values(arg.value, dataset.frame)
        is_root = arg.keyword is None and not arg.star and arg is dataset.call.args[0]
        if arg.star or not (is_root or all(_is_library(value) for value in values)):
            return False
    return True


def _is_library(value: Value) -> bool:
    if isinstance(value, CallResult):
        return not isinstance(value.by, Class)
    return isinstance(value, Const | Library | Opaque)
