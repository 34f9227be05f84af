"""How many workers and batches a loader is asked for, and which loops train with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.infer.loader_calls import Loader
from dataloader_lint.facts.infer.values import Evaluator, Frame, Library
from dataloader_lint.facts.libraries.calls import row
from dataloader_lint.facts.limits import COUNT_HOPS
from dataloader_lint.facts.loaders.argument_sites import sites_of
from dataloader_lint.facts.loaders.epochs import Pass, loaders_behind
from dataloader_lint.facts.syntax.names import Kind, dotted, resolve
from dataloader_lint.facts.syntax.tree import ModuleFacts, Node

_PREFETCH = 2  # torch's own with workers


def number_of_workers(loader: Loader) -> int | None:
    """The number of workers that is written out for a loader; None where it is none, or a default."""
    known = loader.known("num_workers")
    if known is None or known.default or isinstance(known.value, bool) or not isinstance(known.value, int):
        return None
    return known.value


def takes_all_cpus(loader: Loader) -> str:
    """The call that counts the CPUs, where a loader gets one worker for each; empty otherwise."""
    for place in sites_of(loader, "num_workers") or ():
        node = place.node
        for _ in range(COUNT_HOPS):
            if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or):
                node = node.left
            elif isinstance(node, cst.Name):
                bindings = resolve(node, place.frame.scope.module.tree)
                is_plain = len(bindings) == 1 and bindings[0].kind is Kind.VALUE and not bindings[0].path
                node = bindings[0].value if is_plain else None
        if isinstance(node, cst.Call) and _counts_cpus(loader.ev, node, place.frame):
            return dotted(node.func)
    return ""


def _counts_cpus(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    callees = ev.values(call.func, frame)
    return bool(callees) and all(isinstance(each, Library) and row(each.name).positive for each in callees)


def prefetched_batches(loader: Loader) -> tuple[int, int] | None:
    """How many workers, and how many batches each of them keeps ready; None where that is not known."""
    workers = loader.known("num_workers")
    factor = loader.known("prefetch_factor")
    if workers is None or factor is None or not isinstance(workers.value, int) or workers.value <= 0:
        return None
    number = _PREFETCH if factor.value is None else factor.value
    return (workers.value, number) if isinstance(number, int) else None


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
            for made, loader in loaders_behind(ev, ev.values(loop.iter, frame)):
                workers = loader.known("num_workers")
                if workers is None or workers.value != 0 or not Pass(loader, made, loop, (frame,)).trains(ev):
                    continue
                call = made.call
                node: Node = call if call is not None and call in tree else loop.iter
                if id(node) not in seen:
                    seen.add(id(node))
                    yield Training(node, loader)
