"""Batches of loaders with workers that are stored unchanged; each tensor keeps a file descriptor open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.epochs import loaders_behind
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loader_of
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Tree, function_scope
from dataloader_lint.semantics.values.values import (
    AttributeOf,
    Evaluator,
    Frame,
    ItemOf,
    Library,
    Mapping,
    Sequence,
    Value,
)


@dataclass(frozen=True, slots=True, eq=False)
class RetainedBatches:
    """A place that stores batches, or parts of them: `list(loader)`, `out.append(batch)`, `[y for _, y in loader]`."""

    node: Node
    loader: Loader


def retained_batches(ev: Evaluator, module: ModuleFacts) -> Iterator[RetainedBatches]:
    """Yields the places of a module that store batches of a loader that is known to have workers."""
    tree = module.tree
    for node, kept in _kept_otherwise(module):
        loader = _loader_of_batch(ev, kept, ev.frame_of(function_scope(tree.scope_of(node))))
        if loader is not None:
            yield RetainedBatches(node, loader)
    for call in (call for name in ("list", "tuple", "zip", *_ADDING) for call in module.calls_named(name)):
        frame = ev.frame_of(function_scope(tree.scope_of(call)))
        if len(call.args) != 1 or (call.args[0].star == "*") is not (last_name(call.func) == "zip"):
            continue
        given = call.args[0].value
        if isinstance(call.func, cst.Attribute):
            if call.func.attr.value in _ADDING and _accumulates(tree, call, call.func.value):
                loader = _loader_of_batch(ev, given, frame)
                if loader is not None:
                    yield RetainedBatches(call, loader)
        elif ev.values(call.func, frame) in _WHOLE:
            found = [each for _, each in loaders_behind(ev, ev.values(given, frame))]
            if found and found[0].has_workers is True:
                yield RetainedBatches(call, found[0])


def _kept_otherwise(module: ModuleFacts) -> Iterator[tuple[Node, cst.BaseExpression]]:
    """Comprehensions, `out += [batch]` and `out[step] = batch`, each with what is stored: a name or a part of one."""
    for scope in module.root.descend():
        made = scope.node
        if isinstance(made, cst.ListComp) and isinstance(made.elt, _PARTS):
            yield made, made.elt
        for stored in scope.own(cst.Assign):
            target = stored.targets[0].target
            if isinstance(target, cst.Subscript) and isinstance(stored.value, _PARTS):
                if _fills_dict(module.tree, stored, target):
                    yield stored, stored.value
        for added in scope.own(cst.AugAssign):
            elements = added.value.elements if isinstance(added.value, cst.List) else ()
            if (
                len(elements) == 1
                and isinstance(elements[0].value, _PARTS)
                and isinstance(added.operator, cst.AddAssign)
            ):
                if _accumulates(module.tree, added, added.target):
                    yield added, elements[0].value


_ADDING = ("append", "extend")
_WHOLE = tuple((Library(f"builtins.{name}"),) for name in ("list", "tuple", "zip"))  # keep all batches of a loader
_PARTS = (cst.Name, cst.Attribute, cst.Subscript)


def _container(node: cst.BaseExpression) -> str:
    """The name of a list, or of the dict that holds it: `self.results` for `self.results["target"]`."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return dotted(node)


def _accumulates(tree: Tree, place: Node, of: cst.BaseExpression) -> bool:
    """True if what a loop appends accumulates over many steps: nothing in the loop empties the list."""
    name = _container(of)
    loop = next((above for above in tree.ancestors(place) if isinstance(above, cst.For | cst.FunctionDef)), None)
    if not name or not isinstance(loop, cst.For):
        return False
    body = loop.body
    emptied = tree.once(("emptied", id(body)), lambda: {each for node in tree.walk(body) for each in _emptied_by(node)})
    return name not in emptied


def _fills_dict(tree: Tree, stored: cst.Assign, target: cst.Subscript) -> bool:
    """True if each step of a loop stores under a key of its own, that the loop counts: `out[step] = batch`."""
    loop = next((above for above in tree.ancestors(stored) if isinstance(above, cst.For | cst.FunctionDef)), None)
    if not isinstance(loop, cst.For) or last_name(getattr(loop.iter, "func", loop.iter)) != "enumerate":
        return False
    counter = loop.target.elements[0].value if isinstance(loop.target, cst.Tuple) else loop.target
    index = target.slice[0].slice
    others = (node for node in tree.walk(loop.body) if node is not stored)
    name = _container(target)
    return (
        isinstance(index, cst.Index)
        and dotted(index.value) == dotted(counter)
        and all(name != each for node in others for each in _emptied_by(node))
    )


def _emptied_by(node: Node) -> Iterator[str]:
    if isinstance(node, cst.Assign):
        yield from (_container(each.target) for each in node.targets)
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        if node.func.attr.value in ("clear", "pop", "popleft"):
            yield _container(node.func.value)
    elif isinstance(node, cst.Del):
        yield _container(node.target)


def _loader_of_batch(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> Loader | None:
    """The loader whose batch, or part of one, an expression surely is."""
    loader: Loader | None = None
    for value in ev.values(node, frame):
        found = _loader_of_value(ev, value)
        if found is None or found.has_workers is not True:
            return None
        loader = found
    return loader


def _loader_of_value(ev: Evaluator, value: Value) -> Loader | None:
    if isinstance(value, Sequence) and value.items:
        inner = [_loader_of_value(ev, each) for item in value.items for each in item]
        return next((each for each in inner if each is not None), None)
    if isinstance(value, Mapping) and isinstance(value.node, cst.Dict):
        given = (each for element in value.node.elements for each in ev.values(element.value, value.frame))
        return next((found for each in given if (found := _loader_of_value(ev, each)) is not None), None)
    if not isinstance(value, ItemOf | AttributeOf):
        return None
    is_whole = not isinstance(value.of, ItemOf | AttributeOf)
    while isinstance(value, ItemOf | AttributeOf):
        value = value.of
    loader = loader_of(ev, value)
    if loader is None or is_whole:
        return loader
    collate = loader.known("collate_fn")  # the result of a custom collate function may contain anything
    return loader if collate is not None and collate.value is None else None
