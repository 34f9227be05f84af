"""Loaders without workers that loops train with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.epochs import Pass, loaders_behind, trains
from dataloader_lint.pipeline.loaders.prepared import prepared
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, function_scope
from dataloader_lint.semantics.values.values import CallResult, Evaluator, Frame, Sequence, Values, merge


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """A loader without workers that a loop trains with."""

    node: Node  # the loader where it is made in the file, else the loop
    loader: Loader


def trainings_without_workers(ev: Evaluator, module: ModuleFacts) -> Iterator[Training]:
    """The loaders without workers that the loops of a module train with, each once."""
    tree = module.tree
    seen: set[int] = set()
    for made, loader, node in (*_looped_over(ev, module), *_drawn_from(ev, module)):
        workers = loader.known("num_workers")
        if workers is not None and workers.value == 0:
            place = made.call if made.call is not None and made.call in tree else node
            if id(place) not in seen:
                seen.add(id(place))
                yield Training(place, loader)


def _looped_over(ev: Evaluator, module: ModuleFacts) -> Iterator[tuple[CallResult, Loader, Node]]:
    """The loaders that loops go over and train with."""
    for scope in module.root.descend():
        if not isinstance(scope.node, cst.FunctionDef | cst.Module) or scope.own(cst.Yield):
            continue  # what a generator goes over is looked for where its batches are used
        frame = ev.frame_of(scope)
        for loop in scope.own(cst.For):
            values = ev.values(loop.iter, frame)
            given = [ev.values(*each) for each in prepared(ev, loop.iter, frame)]
            for made, loader in _behind(ev, merge(values, *given)):
                if Pass(loader, made, loop, (frame,)).trains(ev):
                    yield made, loader, loop.iter


def _drawn_from(ev: Evaluator, module: ModuleFacts) -> Iterator[tuple[CallResult, Loader, Node]]:
    """The loaders from which loops that train draw one batch after the other: `next(batches)`."""
    tree = module.tree
    for call in module.calls_named("next"):
        loop = next((each for each in tree.ancestors(call) if isinstance(each, cst.For | cst.While)), None)
        frame = ev.frame_of(function_scope(tree.scope_of(call)))
        if loop is None or not call.args or not trains(ev, loop, frame) or _is_evaluated(ev, call, loop, frame):
            continue
        for made, loader in _behind(ev, ev.values(call.args[0].value, frame)):
            yield made, loader, call.args[0].value


def _behind(ev: Evaluator, values: Values) -> Iterator[tuple[CallResult, Loader]]:
    """The loaders behind some values, also inside of generators of the project, which go over them."""
    for value in values:
        given: Values = (value,)
        if isinstance(value, Sequence) and isinstance(value.node, cst.FunctionDef):
            inside = value.frame
            given = merge(*(ev.values(each.iter, inside) for each in inside.scope.own(cst.For)))
        yield from loaders_behind(ev, given)


def _is_evaluated(ev: Evaluator, call: cst.Call, loop: Node, frame: Frame) -> bool:
    """True if a call stands in an arm of its loop that trains nothing: `if step % 100 == 0: score(next(held_out))`."""
    for above in frame.scope.module.tree.ancestors(call):
        if above is loop:
            return False
        is_block = isinstance(above, cst.If) or (
            isinstance(above, cst.With) and "grad" in frame.scope.module.tree.words(above.items[0])
        )
        if is_block and not trains(ev, above, frame):
            return True
    return False
