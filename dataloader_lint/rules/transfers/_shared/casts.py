"""Casts of batch parts: `images.float()` gives `images` itself, in the same pinned memory, if these are float32."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.rules.transfers._shared.dtypes import UNKNOWN_TYPE, target_type, types_of_part
from dataloader_lint.rules.transfers._shared.pinned_parts import path_of
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.limits import CAST_DEPTH
from dataloader_lint.semantics.syntax.names import resolve
from dataloader_lint.semantics.syntax.tree import Tree
from dataloader_lint.semantics.values.values import AttributeOf, CallResult, Const, Evaluator, ItemOf, Value

_CAST = "torch.Tensor."
# Views whose elements lie in another order: making them contiguous copies them.
_REORDERING = frozenset({"T", "expand", "flip", "mT", "movedim", "moveaxis", "permute", "swapaxes", "t", "transpose"})

Path = list[ItemOf | AttributeOf]


def parts_behind(
    ev: Evaluator, value: Value, casts: tuple[tuple[CallResult, int], ...] = ()
) -> Iterator[tuple[Path, Value, tuple[tuple[CallResult, int], ...]]]:
    """What a value is a part of: the steps to it, the whole, and the casts on the way with the steps before each."""
    path, root = path_of(value)
    call = root.call if isinstance(root, CallResult) and root.library.startswith(_CAST) else None
    if call is None or not isinstance(call.func, cst.Attribute):
        yield path, root, casts
        return
    assert isinstance(root, CallResult) and root.frame is not None
    if any(cast.call is call for cast, _ in casts):
        return  # the same cast again, in the next round of a loop
    for inner in ev.values(call.func.value, root.frame):
        for before, whole, all_casts in parts_behind(ev, inner, (*casts, (root, len(path)))):
            yield [*before, *path], whole, all_casts


def leave_as_is(ev: Evaluator, loader: Loader, path: Path, casts: tuple[tuple[CallResult, int], ...]) -> bool | None:
    """True if casts surely give the tensor that they are called on, None if they may, False if not as far as known."""
    is_sure = True
    length = len(path)
    for cast, after in casts:  # the last one first
        length -= after
        part = path[:length]
        if cast.library.endswith(".contiguous"):
            if not _is_contiguous(cast, loader, part):
                return False
            continue
        target = target_type(ev, cast)
        types = types_of_part(ev, loader, part)
        if target == UNKNOWN_TYPE or target not in types:
            return False
        is_sure = is_sure and types == {target}
    return True if is_sure else None


def _is_contiguous(cast: CallResult, loader: Loader, path: Path) -> bool:
    """True for a tensor of the default collate_fn, or a sample of it, in the order in which it was made."""
    collate = loader.values("collate_fn")
    if not all(isinstance(each, Const) and each.value is None for each in collate):
        return False
    if any(isinstance(step, AttributeOf) or step.index is None for step in path):
        return False
    assert cast.call is not None and cast.frame is not None
    return not _is_reordered(cast.call.func, cast.frame.scope.module.tree, 0)


def _is_reordered(node: cst.BaseExpression, tree: Tree, depth: int) -> bool:
    """True if an expression may be a view in another order: `images.permute(0, 3, 1, 2)`."""
    while isinstance(node, cst.Attribute | cst.Call | cst.Subscript):
        if isinstance(node, cst.Subscript) and any(isinstance(each.slice, cst.Slice) for each in node.slice):
            return True
        if isinstance(node, cst.Attribute) and node.attr.value in _REORDERING:
            return True
        node = node.func if isinstance(node, cst.Call) else node.value
    if not isinstance(node, cst.Name) or node not in tree or depth > CAST_DEPTH:
        return depth > CAST_DEPTH
    values = [each.value for each in resolve(node, tree) if each.value is not None]
    return any(_is_reordered(value, tree, depth + 1) for value in values)
