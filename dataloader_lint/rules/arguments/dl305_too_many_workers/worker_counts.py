"""How many workers and batches a loader is asked for, and which loops train with it."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.loaders.argument_sites import sites_of
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.origins import origins
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
        found = list(origins(place.node, place.frame.scope.module.tree))
        counts = [each for each in found if isinstance(each, cst.Call) and _counts_cpus(loader.ev, each, place.frame)]
        if counts and all(each in counts or isinstance(each, cst.Integer) for each in found):
            return dotted(counts[0].func)
    return ""


def _counts_cpus(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    callees = ev.values(call.func, frame)
    return bool(callees) and all(isinstance(each, Library) and row(each.name).positive for each in callees)
