"""How many workers and batches a loader is asked for, and which loops train with it."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.loaders.argument_sites import sites_of
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.limits import COUNT_HOPS
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.values.values import Evaluator, Frame, Library


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
