"""Loaders without workers that loops train with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.epochs import Pass, loaders_behind
from dataloader_lint.pipeline.loaders.prepared import prepared
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node
from dataloader_lint.semantics.values.values import Evaluator, merge


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """A loader without workers that a loop trains with."""

    node: Node  # the loader where it is made in the file, else the loop
    loader: Loader


def trainings_without_workers(ev: Evaluator, module: ModuleFacts) -> Iterator[Training]:
    """The loaders without workers that the loops of a module train with, each once."""
    tree = module.tree
    seen: set[int] = set()
    for scope in module.root.descend():
        if not isinstance(scope.node, cst.FunctionDef | cst.Module):
            continue
        frame = ev.frame_of(scope)
        for loop in scope.own(cst.For):
            values = ev.values(loop.iter, frame)
            given = [ev.values(*each) for each in prepared(ev, loop.iter, frame)]
            for made, loader in loaders_behind(ev, merge(values, *given)):
                workers = loader.known("num_workers")
                if workers is None or workers.value != 0 or not Pass(loader, made, loop, (frame,)).trains(ev):
                    continue
                call = made.call
                node: Node = call if call is not None and call in tree else loop.iter
                if id(node) not in seen:
                    seen.add(id(node))
                    yield Training(node, loader)
