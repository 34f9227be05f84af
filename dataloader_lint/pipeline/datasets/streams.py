"""Where an IterableDataset gets its samples: the loops of its generators, and what `__next__` takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.dataset_bases import is_iterable_base
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.short_names import YIELDING_ELEMENTS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.origins import ingredients, origins
from dataloader_lint.semantics.syntax.tree import LOOPS, Scope, Tree
from dataloader_lint.semantics.values.values import Bases, Evaluator, Function


def is_stream(bases: Bases) -> bool:
    """True if a loader iterates over instances of a class, and never indexes them.

    Stages of a data pipeline do not count: they iterate over the previous stage.
    """
    found = [name for name in bases.libraries if is_iterable_base(name)]
    return bool(found) and not any(name.endswith("DataPipe") for name in found)


def next_of(ev: Evaluator, bases: Bases) -> Function | None:
    """The `__next__` that yields the samples of a stream whose `__iter__` returns the object itself; otherwise None."""
    start = classes.find_method(ev, bases.classes, "__iter__") if is_stream(bases) else None
    if start is None:
        return None
    own = classes.receiver_name(start.scope)
    if not any(dotted(each.value) == own for each in start.scope.own(cst.Return) if each.value is not None):
        return None
    return classes.find_method(ev, bases.classes, "__next__")


def sample_loops(scope: Scope) -> list[cst.For]:
    """The loops of a generator that yield one sample per pass, made from the loop target.

    Not included:
    - loops that yield several samples per pass in an inner loop: they iterate over files or shards, which are fewer;
    - loops that yield their target unchanged to another stage: `for url in self.urls: yield {"url": url}`;
    - loops that call `next` for each sample: they alternate among a few sources.
    """
    tree = scope.module.tree
    found: list[cst.For] = []
    several: set[int] = set()
    for statement in scope.own(cst.Yield):
        around = [each for each in tree.ancestors(statement) if isinstance(each, LOOPS)]
        is_many = isinstance(statement.value, cst.From)
        several.update(id(each) for each in around[0 if is_many else 1 :])
        if around and isinstance(statement.value, cst.BaseExpression):
            loop = around[0]
            if isinstance(loop, cst.For) and tree.scope_of(loop) is scope:
                if not _yields_target(statement.value, loop, tree) and not _calls_next(statement.value, loop, tree):
                    found.append(loop)
    return [each for each in found if id(each) not in several]


def _calls_next(given: cst.BaseExpression, loop: cst.For, tree: Tree) -> bool:
    """True if the yielded value of a pass derives from a `next(...)` call."""
    calls = (call for each in ingredients(given, tree) for call in tree.find(each, cst.Call))
    return any(dotted(call.func) == "next" and tree.is_inside(call, loop.body) for call in calls)


def _yields_target(given: cst.BaseExpression, loop: cst.For, tree: Tree) -> bool:
    taken = {each.value for each in tree.find(loop.target, cst.Name)}
    parts = [given]
    if isinstance(given, cst.Dict):
        parts = [each.value for each in given.elements]
    elif isinstance(given, cst.Call) and last_name(given.func) == "dict":
        parts = [each.value for each in given.args]
    return bool(parts) and all(_is_target(each, taken, tree) for each in parts)


def _is_target(node: cst.BaseExpression, taken: set[str], tree: Tree) -> bool:
    """True if an expression is a loop target, or an element of a list at that place."""
    owner: cst.BaseExpression = node
    while isinstance(owner, cst.Subscript):
        owner = owner.value
    is_whole = bool(dotted(owner)) and isinstance(node, cst.Name | cst.Subscript)
    return is_whole and any(each.value in taken for each in tree.find(node, cst.Name))


def iterated(node: cst.BaseExpression, tree: Tree) -> Iterator[cst.BaseExpression]:
    """Yields what a loop iterates over, without slices and calls that only count, order or shuffle it."""
    return (each for each in origins(node, tree, _gone_over) if not isinstance(each, cst.Call))


def _gone_over(node: cst.BaseExpression) -> Iterable[cst.BaseExpression]:
    if isinstance(node, cst.Subscript):
        return (node.value,) if isinstance(node.slice[0].slice, cst.Slice) else ()
    name = last_name(node.func) if isinstance(node, cst.Call) else ""
    if not isinstance(node, cst.Call) or name not in _PASS_THROUGH | _DICT_VIEWS:
        return ()
    if name in _DICT_VIEWS:
        return (node.func.value,) if isinstance(node.func, cst.Attribute) else ()
    return [arg.value for arg in node.args[: None if name in ("chain", "zip") else 1]]


_DICT_VIEWS = frozenset({"items", "keys", "values"})
_PASS_THROUGH = YIELDING_ELEMENTS - {"trange"} | {"chain", "permutation", "sample", "zip"}


def iterates_over_numbers(node: cst.BaseExpression, tree: Tree) -> bool:
    """True if a loop iterates over numbers: `range(len(self))`, or a shuffled list of them."""
    calls = (call for each in origins(node, tree) for call in tree.find(each, cst.Call))
    return any(last_name(call.func) in _NUMBER_SOURCES for call in calls)


_NUMBER_SOURCES = frozenset({"arange", "permutation", "randperm", "range"})
