"""Calls in worker code that surely run: the common part of the rules about what workers must not do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst

from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind
from dataloader_lint.pipeline.loaders.worker_processes import never_started
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.instances import harms_one, of_object
from dataloader_lint.pipeline.workers.worker_callgraph import ENTRIES, WorkerFunction
from dataloader_lint.semantics.control.reachability import Condition, is_reached, path_conditions
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.definitions import enclosing_definitions
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, function_scope
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    AttributeOf,
    CallResult,
    Class,
    Evaluator,
    Frame,
    ItemOf,
    Library,
)

N = TypeVar("N", bound=cst.BaseExpression)


@dataclass(frozen=True, slots=True, eq=False)
class WorkerCall:
    """The first call, or use of a name, of some kind in a function of worker code, and its form in words."""

    call: cst.BaseExpression
    function: WorkerFunction
    way: str

    @property
    def name(self) -> str:
        """What is called, as written: `self.files.open`; the last part where that is no plain name."""
        named = self.call.func if isinstance(self.call, cst.Call) else self.call
        return dotted(named) or last_name(named)


def calls_in_workers(
    reach: DatasetFlow,
    module: ModuleFacts,
    candidates: Iterable[N],
    form: Callable[[Evaluator, N, Frame], str],
) -> list[WorkerCall]:
    """The functions of a module that run one of the candidates in workers, each at the first that surely runs.

    `form` returns what a call does, in words, and an empty text for a call that does not matter.
    """
    workers = reach.workers
    several = list(candidates)
    names = enclosing_definitions(module, several)
    if not names:
        return []
    found: dict[int, WorkerCall] = {}
    for function in workers.functions_inside(module, workers.names_that_use(module, names)):
        key = id(function.scope)
        if key in found or not _has_workers(reach, function):
            continue
        for call in several:
            if function_scope(module.tree.scope_of(call)) is function.scope:
                way = form(workers.ev, call, function.frame)
                if (
                    way
                    and _always_runs(workers.ev, call, function.frame)
                    and _runs_for_one(reach, function, call, form)
                ):
                    found[key] = WorkerCall(call, function, way)
                    break
    return sorted(found.values(), key=lambda one: module.tree.order(one.call))


def _has_workers(reach: DatasetFlow, function: WorkerFunction) -> bool:
    """True if workers may read the Dataset that the function belongs to."""
    entry = function.path[0]
    receiver = entry.frame.receiver
    if (
        not isinstance(receiver, CallResult)
        or not isinstance(receiver.by, Class)
        or not dataset_kind(reach.ev, receiver.by)
    ):
        return True
    node = entry.scope.node
    if isinstance(node, cst.FunctionDef) and node.name.value not in ENTRIES:
        return True
    return not never_started(reach.loaders_of(receiver.by))


def _runs_for_one(
    reach: DatasetFlow, function: WorkerFunction, call: N, form: Callable[[Evaluator, N, Frame], str]
) -> bool:
    """False if the call is known not to matter for any object of the Dataset that a loader with workers gets."""
    receiver = function.path[0].frame.receiver
    if not isinstance(receiver, CallResult) or not isinstance(receiver.by, Class):
        return True

    def runs(made: CallResult, loader: Loader) -> bool:
        frame = of_object(function.frame, made)
        return bool(form(reach.ev, call, frame)) and is_reached(reach.ev, call, frame)

    started = [loader for loader in reach.loaders_of(receiver.by) if loader.has_workers is not False]
    return harms_one(reach.ev, receiver.by, started, runs)


_ABOUT_DEVICES = frozenset({"device", "is_cuda", "is_pinned", "type"})


def _always_runs(ev: Evaluator, call: cst.BaseExpression, frame: Frame) -> bool:
    """True if no unknown condition, such as a flag from the caller, can skip the call."""
    if not is_reached(ev, call, frame):
        return False
    tree = frame.scope.module.tree
    for condition in path_conditions(call, frame.scope):
        test = condition.test
        if any(each.attr.value in _ABOUT_DEVICES for each in tree.find(test, cst.Attribute)):
            return False
        if _is_cuda_initialized_test(ev, condition, frame):
            return False
        flag = test.expression if isinstance(test, cst.UnaryOperation) else test
        if isinstance(flag, cst.Name | cst.Attribute):
            found = ev.values(flag, frame)
            if truth(found) is None and any(
                value is UNKNOWN or isinstance(value, AttributeOf | ItemOf) for value in found
            ):
                return False
        elif _is_main_process_test(test, frame):
            return False
    return True


def _is_cuda_initialized_test(ev: Evaluator, condition: Condition, frame: Frame) -> bool:
    """True for `if torch.cuda.is_initialized():`, which is False in any worker until the worker itself uses CUDA."""
    tree = frame.scope.module.tree
    for call in tree.find(condition.test, cst.Call):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "is_initialized":
            above = tree.parent(call)
            is_turned = isinstance(above, cst.UnaryOperation) and isinstance(above.operator, cst.Not)
            if condition.wanted is not is_turned:
                found = ev.values(call.func, frame)
                return any(isinstance(each, Library) and each.name == "torch.cuda.is_initialized" for each in found)
    return False


def _is_main_process_test(test: cst.BaseExpression, frame: Frame) -> bool:
    """True for `if get_worker_info() is None:` and similar tests."""
    tree = frame.scope.module.tree
    names = {each.value for each in tree.find(test, cst.Name)} | {
        each.attr.value for each in tree.find(test, cst.Attribute)
    }
    return bool(names & {"get_worker_info", "worker_info", "current_process", "parent_process"})
