"""Processes that worker code starts: workers are daemons, which must not have children."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.rules.processes._shared.calls_in_workers import WorkerCall, calls_in_workers
from dataloader_lint.semantics.control.reachability import is_reached, path_conditions
from dataloader_lint.semantics.evaluation.loader_calls import loader_of
from dataloader_lint.semantics.libraries.calls import names_where, row
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import ModuleFacts, function_scope
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.values import AttributeOf, CallResult, Class, Evaluator, Frame, Library, Value

_NAMES = frozenset(name.rpartition(".")[2] for name in names_where(lambda call: call.starts == "process"))


def processes_in_workers(reach: DatasetFlow, module: ModuleFacts) -> list[WorkerCall]:
    """The functions of a module that start processes in workers, each at the first such call."""
    loaders = {id(each.node) for each in reach.workers.loaders(module)}
    candidates = [
        call for call in module.all_calls() if last_name(call.func) in _NAMES or (loaders and id(call) in loaders)
    ]
    found = calls_in_workers(reach, module, candidates, _started_by) if candidates else []
    return [each for each in found if all(_is_called(reach.ev, one) for one in each.function.path)]


def _is_called(ev: Evaluator, function: WorkerFunction) -> bool:
    """False if each call by which the caller runs a function is skipped, or depends on something unknown."""
    node, caller = function.scope.node, function.caller
    if caller is None or not isinstance(node, cst.FunctionDef):
        return True
    tree = caller.module.tree
    calls = [
        call
        for call in caller.module.calls_named(node.name.value)
        if function_scope(tree.scope_of(call)) is caller.scope
    ]
    return not calls or any(
        is_reached(ev, call, caller.frame)
        and not any(_is_unknown(ev, each.test, caller.frame) for each in path_conditions(call, caller.scope))
        for call in calls
    )


def _started_by(ev: Evaluator, call: cst.Call, frame: Frame) -> str:
    """What a call starts processes by, as written; empty if it starts none, or if that is unknown."""
    if any(_is_unknown(ev, each.test, frame) for each in path_conditions(call, frame.scope)):
        return ""
    name = last_name(call.func)
    callees = ev.values(call.func, frame)
    if any(_is_starter(each) for each in callees):
        return "" if name in ("Process", "BaseProcess") and not _starts(call, frame) else f"{name}(...)"
    if any(isinstance(each, Library | Class) for each in callees):
        for value in ev.values(call, frame):
            loader = loader_of(ev, value)
            workers = loader.known("num_workers") if loader is not None else None
            if loader is not None and loader.has_workers and workers is not None:
                return f"{name}(num_workers={workers.value})"
    return ""


def _is_unknown(ev: Evaluator, test: cst.BaseExpression, frame: Frame) -> bool:
    """True for a test that may keep a call from ever running; `self.pool is None` lets it run once."""
    if isinstance(test, cst.Comparison) and any(
        isinstance(each.operator, cst.Is | cst.IsNot) for each in test.comparisons
    ):
        return False
    return truth(ev.values(test, frame)) is None


def _is_starter(callee: Value) -> bool:
    """True for what starts processes: a function or class of a library, or the same taken from a context."""
    if isinstance(callee, AttributeOf):
        return isinstance(callee.of, CallResult) and row(callee.of.library).starts == "context"
    return isinstance(callee, Library) and row(callee.name).starts == "process"


def _starts(call: cst.Call, frame: Frame) -> bool:
    """True if the function that makes a process also starts one."""
    scope = function_scope(frame.scope.module.tree.scope_of(call))
    return any(last_name(each.func) == "start" for each in scope.within(cst.Call))
