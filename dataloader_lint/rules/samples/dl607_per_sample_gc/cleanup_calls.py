"""Calls that free memory or set how it is shared, and whether they run for every sample or step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.epochs import loaders_behind
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.rules.samples._shared.per_sample import calls_to_next
from dataloader_lint.semantics.control.reachability import enclosing_tests
from dataloader_lint.semantics.syntax.tree import ModuleFacts, function_scope
from dataloader_lint.semantics.values.values import Evaluator, Frame, Library

COLLECT, EMPTY = "gc.collect", "torch.cuda.empty_cache"


@dataclass(frozen=True, slots=True, eq=False)
class CleanupCall:
    """A call that frees memory; `where` says how often it runs."""

    call: cst.Call
    name: str
    where: str


def cleanup_calls(workers: Workers, module: ModuleFacts) -> Iterator[CleanupCall]:
    """Yields the cleanup calls of a module that run in worker code, or in each step of a loop over a loader."""
    calls = {
        id(call): name
        for name in (COLLECT, EMPTY)
        for call in module.calls_named(name.rpartition(".")[2])
        if workers.ev.values(call.func, _frame(workers.ev, module, call)) == (Library(name),)
    }
    if not calls:
        return
    names = {
        scope.node.name.value for scope in module.root.inner if isinstance(scope.node, cst.FunctionDef | cst.ClassDef)
    }
    seen: set[int] = set()
    for function in workers.functions_inside(module, workers.names_that_use(module, names)):
        for call, name in function.library_calls:
            if id(call) in calls and id(call) not in seen and _runs_each_time(function, call):
                seen.add(id(call))
                yield CleanupCall(call, name, f"`{function.label}` calls it in workers for every sample or batch")
    for name in (COLLECT, EMPTY):
        for call in module.calls_named(name.rpartition(".")[2]):
            if id(call) in calls and id(call) not in seen and _is_in_each_step(workers.ev, module, call):
                yield CleanupCall(call, name, "this loop calls it in every step")


def _runs_each_time(function: WorkerFunction, call: cst.Call) -> bool:
    """True if a call is unconditional on the call path from the loader; a worker_init_fn runs only once."""
    if function.argument == "worker_init_fn":
        return False
    for each in function.path:
        sites = [call] if each is function else calls_to_next(each, function)
        if sites and all(enclosing_tests(site, each.frame) for site in sites):
            return False
    return True


def _frame(ev: Evaluator, module: ModuleFacts, call: cst.Call) -> Frame:
    return ev.frame_of(function_scope(module.tree.scope_of(call)))


def _is_in_each_step(ev: Evaluator, module: ModuleFacts, call: cst.Call) -> bool:
    """True if a call runs unconditionally in each step of a loop over a loader."""
    frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
    for above in module.tree.ancestors(call):
        if isinstance(above, cst.If | cst.IfExp | cst.ExceptHandler | cst.FunctionDef | cst.Lambda | cst.While):
            return False
        if isinstance(above, cst.For):
            return any(True for _ in loaders_behind(ev, ev.values(above.iter, frame)))
    return False
