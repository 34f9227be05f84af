"""The steps of a chain that lead from a loader to a function that its workers run."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.facts.infer.loader_calls import Loader
from dataloader_lint.facts.infer.values import CallResult, Class
from dataloader_lint.facts.loaders import loader_steps
from dataloader_lint.facts.syntax.module import last_name
from dataloader_lint.facts.syntax.steps import MAX_STEPS, Step
from dataloader_lint.facts.syntax.tree import function_scope
from dataloader_lint.facts.workers.dataset_flow import DatasetFlow
from dataloader_lint.facts.workers.worker_callgraph import WorkerFunction


def to_function(reach: DatasetFlow, function: WorkerFunction) -> tuple[Step, ...]:
    """The loader whose workers run a function, if one is known, and the calls that lead there."""
    loader = loader_of_worker(reach, function)
    steps = [loader_steps.made(loader, "num_workers")] if loader is not None else []
    return (*steps, *_calls(function))[:MAX_STEPS]


def loader_of_worker(reach: DatasetFlow, function: WorkerFunction) -> Loader | None:
    """A loader that is given the Dataset whose code a worker runs; one with workers before others."""
    receiver = function.path[0].frame.receiver
    by = receiver.by if isinstance(receiver, CallResult) else None
    return loader_of_class(reach, by) if isinstance(by, Class) else None


def loader_of_class(reach: DatasetFlow, klass: Class) -> Loader | None:
    """A loader that is given objects of a class; one with workers before others, subclasses of DataLoader last."""
    loaders = sorted(reach.loaders_of(klass), key=lambda each: last_name(each.construction[0].func) == "__init__")
    return next((each for each in loaders if each.has_workers), loaders[0] if loaders else None)


def _calls(function: WorkerFunction) -> Iterator[Step]:
    for one in function.path:
        if one.caller is None:
            how = f"is a `{one.argument}`" if one.argument else "runs in workers, for each sample"
            yield Step(one.module, one.scope.node, f"`{one.label}` {how}")
        elif (call := _call_of(one)) is not None:
            yield Step(one.caller.module, call, f"it calls `{one.label}`")


def _call_of(function: WorkerFunction) -> cst.Call | None:
    """A call by which the caller of a function runs it, as far as its name tells."""
    node = function.scope.node
    if function.caller is None or not isinstance(node, cst.FunctionDef):
        return None
    caller = function.caller.scope
    tree = caller.module.tree
    calls = caller.module.calls_named(node.name.value)
    return next((each for each in calls if function_scope(tree.scope_of(each)) is caller), None)
