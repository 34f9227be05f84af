"""Which parts of a loader's batches are pinned: tensors and what holds them, as far as the collate_fn shows."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.dicts import contents as dict_contents
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loader_of
from dataloader_lint.semantics.libraries.catalogue import DATALOADER_DEFAULTS
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name, positional_of
from dataloader_lint.semantics.syntax.names import bindings_of, dotted, resolve, written_part
from dataloader_lint.semantics.syntax.tree import Node, Tree
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    ItemOf,
    Mapping,
    Method,
    Opaque,
    Partial,
    Sequence,
    Value,
    Values,
    constant,
    merge,
)


def path_of(value: Value) -> tuple[list[ItemOf | AttributeOf], Value]:
    """The steps that lead from a whole to one of its parts, and the whole."""
    path: list[ItemOf | AttributeOf] = []
    while isinstance(value, ItemOf | AttributeOf):
        path.insert(0, value)
        value = value.of
    return path, value


def loader_of_batches(ev: Evaluator, value: Value) -> Loader | None:
    """The loader that a value is, if iterating over it gives the batches as torch made them."""
    loader = loader_of(ev, value)
    if loader is None or loader.kind.moves_batches:
        return None
    if isinstance(value, CallResult) and isinstance(value.by, Class):
        bases = ev.bases(value.by).classes
        if any(classes.find_method(ev, bases, name) is not None for name in ("__iter__", "__next__")):
            return None
    return loader


def is_pinned(ev: Evaluator, loader: Loader, path: list[ItemOf | AttributeOf]) -> bool | None:
    """True if a part of a loader's batches is pinned: the loader pins, and the part is of a kind that can be."""
    pins = loader.known("pin_memory")
    if pins is None:
        return None
    if not pins.value:
        return False
    if _is_off(loader.values("filter_per_worker")) or any(
        _was_moved(arg.value, loader.frame)
        for arg in loader.call.args
        if arg.keyword is None or arg.keyword.value not in _NO_DATA
    ):
        return None
    return _can_be_pinned(ev, loader, path)


# `collate_fn=model.collate` and `batch_size=model.batch_size` make no batches of what is on the device with the model.
_NO_DATA = frozenset(DATALOADER_DEFAULTS)


def _is_off(values: Values) -> bool:
    known = constant(values)
    return known is not None and known.value is False


def _can_be_pinned(ev: Evaluator, loader: Loader, path: list[ItemOf | AttributeOf]) -> bool | None:
    """Tensors, containers of them and objects with a `pin_memory` method are pinned, other objects are passed over."""
    collate = loader.values("collate_fn")
    if loader.kind.drops_collate or all(isinstance(each, Const) and each.value is None for each in collate):
        return True
    found = merge(*(collated(ev, each) for each in collate))
    for step in path:
        if any(is_passed_over(ev, value) for value in found):
            return False
        if isinstance(step, AttributeOf):
            found = merge(*(ev.attribute(value, step.name) for value in found))
        else:
            found = merge(*(item_of(ev, value, step.index) for value in found))
    if any(is_passed_over(ev, value) for value in found):
        return False
    if not path or isinstance(path[-1], AttributeOf):
        # A batch that a function of the user's made and that has methods or attributes may be any object.
        return True if all(isinstance(value, Opaque) and value.kind == "tensor" for value in found) else None
    return None if any(_is_foreign(value) for value in found) else True


def item_of(ev: Evaluator, value: Value, index: object) -> Values:
    """What stands under an index or key in a batch; None for any."""
    if isinstance(value, Mapping) and index is not None:
        return tuple(each for each in dict_contents.in_value(ev, value, index) if each is not ABSENT) or NOTHING_KNOWN
    found = ev.item(value, ABSENT if index is None else index)
    return merge(found, *_put_into(ev, value, index)) if isinstance(value, Sequence) else found


def _put_into(ev: Evaluator, value: Sequence, index: object) -> Iterator[Values]:
    """What is added to a list by the function that makes it and gives it a name, or stored at the index."""
    tree = value.frame.scope.module.tree
    if value.kind not in ("list", "tuple") or value.node not in tree:
        return
    names = set(_names_of(value.node, value.frame, tree)) - {""}
    for assign in value.frame.scope.within(cst.Assign) if names else ():
        for each in assign.targets:
            at = _place_in(each.target, names)
            if isinstance(at, cst.Integer) and index in (None, at.evaluated_value):
                yield ev.values(assign.value, value.frame)
    for call in value.frame.scope.within(cst.Call) if names else ():
        position = _ADDED.get(last_name(call.func))
        if position is not None and isinstance(call.func, cst.Attribute) and isinstance(call.func.value, cst.Name):
            given = positional_of(call)[position : position + 1]
            if call.func.value.value in names and given:
                yield ev.values(given[0], value.frame)


def _place_in(target: cst.BaseExpression, names: set[str]) -> cst.BaseExpression | None:
    """The index of a store into what has one of some names."""
    if not isinstance(target, cst.Subscript) or dotted(target.value) not in names:
        return None
    index = target.slice[0].slice
    return index.value if isinstance(index, cst.Index) and len(target.slice) == 1 else None


def _names_of(node: Node, frame: Frame, tree: Tree) -> Iterator[str]:
    """The names of a list in the function that makes it; for `tuple(xs)`, that of the list."""
    if isinstance(node, cst.Call) and last_name(node.func) in ("list", "tuple") and node.args:
        yield dotted(node.args[0].value)
    assign = tree.parent(node)
    if isinstance(assign, cst.Assign):
        yield from (each.target.value for each in assign.targets if isinstance(each.target, cst.Name))
    elif isinstance(assign, cst.Element):  # xs, ys = [], []
        yield from (
            binding.name
            for several in bindings_of(frame.scope).values()
            for binding in several
            if binding.value is not None and written_part(binding.value, binding.path) is node
        )


_ADDED = {"append": 0, "insert": 1}


# Libraries whose functions give tensors, arrays, or objects with a `pin_memory` method.
_PINNABLE = frozenset({"builtins", "numpy", "torch", "torch_geometric", "torchaudio", "torchvision"})


def _is_foreign(value: Value) -> bool:
    """True if a value comes from a call of a library that may give objects which pinning leaves as they are.

    What has keys is a mapping as a rule, and pinning goes through those.
    """
    if isinstance(value, ItemOf) and isinstance(value.of, CallResult) and isinstance(value.index, str):
        return False
    root = path_of(value)[1]
    return isinstance(root, CallResult) and bool(root.library) and root.library.partition(".")[0] not in _PINNABLE


def collated(ev: Evaluator, value: Value) -> Values:
    """What a collate function returns."""
    if isinstance(value, Partial):
        return collated(ev, value.callee)
    function: Function | None = None
    if isinstance(value, Function):
        function = value
    elif isinstance(value, Method):
        function = value.function
    elif isinstance(value, CallResult) and isinstance(value.by, Class):
        function = classes.find_method(ev, ev.bases(value.by).classes, "__call__")
    return ev.run(function, ev.frame_of(function.scope)) if function is not None else NOTHING_KNOWN


def is_passed_over(ev: Evaluator, value: Value) -> bool:
    """True if pinning leaves an object as it is: one of the project's own classes without a `pin_memory` method."""
    if not isinstance(value, CallResult) or not isinstance(value.by, Class):
        return False
    bases = ev.bases(value.by)
    is_plain = bases.complete and all(name == "builtins.object" for name in bases.libraries)
    return is_plain and not has_method(ev, value.by, "pin_memory")


def has_method(ev: Evaluator, klass: Class, name: str) -> bool:
    return classes.find_method(ev, ev.bases(klass).classes, name) is not None


def _was_moved(node: cst.CSTNode, frame: Frame, depth: int = 0) -> bool:
    """True if something in an expression, or in what its names were bound to, went to a device before."""
    tree = frame.scope.module.tree
    if node not in tree:
        return False
    for inner in tree.walk(node):
        if isinstance(inner, cst.Call) and isinstance(inner.func, cst.Attribute):
            name = inner.func.attr.value
            if name in ("to", "cuda") and not _keeps_on_cpu(inner):
                return True
        if isinstance(inner, cst.Name) and depth < 3:
            for binding in resolve(inner, tree):
                if isinstance(binding.node, cst.Param):
                    passed = frame.args.get(binding.name) if frame.args is not None else None
                    if passed is not None and passed.node is not None and passed.frame is not None:
                        if _was_moved(passed.node, passed.frame, depth + 1):
                            return True
                elif binding.value is not None and isinstance(binding.node, cst.Assign | cst.AnnAssign):
                    if _was_moved(binding.value, frame, depth + 1):
                        return True
    return False


def _keeps_on_cpu(call: cst.Call) -> bool:
    """True if a move names the CPU or a data type."""
    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "cuda":
        return False
    given = keyword_of(call, "device") or next(iter(positional_of(call)), None)
    if isinstance(given, cst.SimpleString):
        return given.raw_value == "cpu"
    return given is None or (
        isinstance(given, cst.Attribute) and isinstance(given.value, cst.Name) and (given.value.value == "torch")
    )
