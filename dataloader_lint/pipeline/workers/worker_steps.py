"""The steps of a chain that lead from a loader to a function that its workers run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.steps import MAX_STEPS, Step
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class


def to_function(reach: DatasetFlow, function: WorkerFunction, near: ModuleFacts) -> tuple[Step, ...]:
    """The loader whose workers run a function, if one is known, and the calls that lead there.

    Of several loaders one of the module `near`, which is linted.
    """
    loader = loader_running(reach, function, near)
    steps = loader_steps.made(loader, "num_workers") if loader is not None else ()
    return (*steps, *_calls(reach, function))[:MAX_STEPS]


def loader_running(reach: DatasetFlow, function: WorkerFunction, near: ModuleFacts) -> Loader | None:
    """The loader whose workers run a function, if one is known: one that has workers before one that has none."""
    entry = function.path[0]
    receiver = entry.frame.receiver
    by = receiver.by if isinstance(receiver, CallResult) else None
    return _loader_that_runs(reach, by, entry.scope, near) if isinstance(by, Class) else None


def _loader_that_runs(reach: DatasetFlow, klass: Class, method: Scope, near: ModuleFacts) -> Loader | None:
    """A loader whose workers run a method of the objects of a class: subclasses may have another one of that name."""
    given = sorted(reach.arguments_with(klass), key=lambda one: _rank(one.loader, near))
    if not isinstance(method.node, cst.FunctionDef):
        return next((each.loader for each in given), None)
    for each in given:
        made = each.value.by if isinstance(each.value, CallResult) else None
        if isinstance(made, Class) and _runs(reach, made, method, method.node.name.value):
            return each.loader
    name = method.node.name.value
    inside = (each for each in given if any(_runs(reach, one, method, name) for one in each.held.classes))
    return next((each.loader for each in inside), None)


def _runs(reach: DatasetFlow, klass: Class, method: Scope, name: str) -> bool:
    """True if a method is the one that objects of a class have, or may be run by that: `super().__getitem__(index)`."""
    found = classes.find_method(reach.ev, reach.ev.bases(klass).classes, name)
    return found is not None and (
        found.scope is method or any(last_name(call.func) == name for call in found.scope.own(cst.Call))
    )


def _rank(loader: Loader, near: ModuleFacts | None) -> tuple[bool, bool, bool, bool]:
    call, frame = loader.construction
    is_far = near is not None and frame.scope.module is not near
    return last_name(call.func) == "__init__", loader.has_workers is False, is_far, not loader.has_workers


def loader_of_class(
    reach: DatasetFlow, klass: Class, near: ModuleFacts | None = None, fits: Sequence[Callable[[Loader], bool]] = ()
) -> Loader | None:
    """A loader that is given objects of a class: one of the module `near` before others, then one with workers.

    What stands in a subclass of DataLoader comes last. If `fits` are given, it is one for which the first of these
    holds, else the next.
    """
    found = sorted(reach.loaders_of(klass), key=lambda one: _rank(one, near))
    if not fits:
        return next(iter(found), None)
    return next((each for holds in fits for each in found if holds(each)), None)


def _calls(reach: DatasetFlow, function: WorkerFunction) -> Iterator[Step]:
    for one in function.path:
        if one.caller is None:
            how = f"is a `{one.argument}`" if one.argument else "runs in workers, for each sample"
            yield Step(one.module, one.scope.node, f"`{one.label}` {how}")
        elif (call := _call_of(reach, one)) is not None:
            yield Step(one.caller.module, call, f"it calls `{one.label}`")


def _call_of(reach: DatasetFlow, function: WorkerFunction) -> cst.Call | None:
    """A call by which the caller of a function runs it, as far as its name tells; for `__call__`, what it calls."""
    node = function.scope.node
    if function.caller is None or not isinstance(node, cst.FunctionDef):
        return None
    caller = function.caller.scope
    if node.name.value == "__call__":
        return _call_of_object(reach, function, function.caller)
    tree = caller.module.tree
    calls = caller.module.calls_named(node.name.value)
    return next((each for each in calls if function_scope(tree.scope_of(each)) is caller), None)


def _call_of_object(reach: DatasetFlow, function: WorkerFunction, caller: WorkerFunction) -> cst.Call | None:
    """The call of an object by its caller: `step(image)`; or of what a library makes of it, `self.transform(image)`."""
    wanted = function.frame.receiver
    made_of_others: list[cst.Call] = []
    for call in caller.scope.within(cst.Call):
        for value in reach.ev.values(call.func, caller.frame):
            if value == wanted:
                return call
            if isinstance(value, CallResult) and value.library and value.call is not None:
                made_of_others.append(call)
    return made_of_others[0] if len(made_of_others) == 1 else None
