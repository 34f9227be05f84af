"""CUDA that is touched in worker code."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.infer.dataset_bases import dataset_kind
from dataloader_lint.facts.infer.evaluate import Evaluation
from dataloader_lint.facts.infer.reachability import Condition, is_reached, path_conditions
from dataloader_lint.facts.infer.values import (
    UNKNOWN,
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    ItemOf,
    Library,
    Method,
    Value,
    Values,
    truth,
)
from dataloader_lint.facts.loaders.worker_processes import never_started
from dataloader_lint.facts.syntax.module import ModuleFacts
from dataloader_lint.facts.syntax.tree import Node, Scope, function_scope, positional_of
from dataloader_lint.facts.transfers.devices import Device, kind_of_constant
from dataloader_lint.facts.workers.dataset_flow import DatasetFlow
from dataloader_lint.facts.workers.worker_callgraph import ENTRIES, WorkerFunction

_METHODS = frozenset({"cuda", "pin_memory"})
_DEVICE_KEYWORDS = frozenset({"device", "map_location"})
# What of `torch.cuda` starts CUDA in the process that calls it.
_STARTING = frozenset(
    {
        "Event",
        "FloatTensor",
        "HalfTensor",
        "LongTensor",
        "IntTensor",
        "ByteTensor",
        "BoolTensor",
        "DoubleTensor",
        "Stream",
        "current_device",
        "current_stream",
        "default_stream",
        "get_device_capability",
        "get_device_name",
        "get_device_properties",
        "init",
        "mem_get_info",
        "set_device",
        "synchronize",
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class CudaCall:
    """The first call of a function in worker code that starts CUDA there, and how it does: `.cuda()`, `device=...`."""

    call: cst.Call
    function: WorkerFunction
    way: str


def cuda_in_workers(reach: DatasetFlow, module: ModuleFacts) -> list[CudaCall]:
    """The functions of a module that start CUDA in workers, each at the first call that does."""
    workers = reach.workers
    candidates = [call for call in module.all_calls() if _is_candidate(workers.ev, call, module)]
    names = {name for call in candidates if (name := _top_name(module, call))}
    if not names:
        return []
    found: dict[int, CudaCall] = {}
    for function in workers.functions_inside(module, workers.names_that_use(module, names)):
        key = id(function.scope)
        if key in found or not _has_workers(reach, function):
            continue
        for call in candidates:
            if function_scope(module.tree.scope_of(call)) is function.scope:
                way = _way(workers.ev, call, function.frame)
                if way and _is_sure_to_run(workers.ev, call, function.frame):
                    found[key] = CudaCall(call, function, way)
                    break
    return sorted(found.values(), key=lambda one: module.tree.order(one.call))


def _is_candidate(ev: Evaluation, call: cst.Call, module: ModuleFacts) -> bool:
    """A cheap look before worker code is followed."""
    if isinstance(call.func, cst.Attribute):
        name = call.func.attr.value
        if name == "to":
            positional = positional_of(call)
            if positional and _may_be_cuda(ev, positional[0], module):
                return True
        elif name in _METHODS or name in _STARTING:
            return True
    return any(
        arg.keyword is not None and arg.keyword.value in _DEVICE_KEYWORDS and _may_be_cuda(ev, arg.value, module)
        for arg in call.args
    )


def _may_be_cuda(ev: Evaluation, node: cst.BaseExpression, module: ModuleFacts) -> bool:
    """Whether a device may be CUDA by the looks of it: `"cpu"` and `torch.float` are not."""
    if isinstance(node, cst.Call) and node.args and ev.library_name(node.func, module) == "torch.device":
        return _may_be_cuda(ev, node.args[0].value, module)
    if isinstance(node, cst.SimpleString):
        return "cuda" in node.value
    return not ev.library_name(node, module)


def _top_name(module: ModuleFacts, node: Node) -> str:
    """The function or class at the top of the module in which a node stands; empty for other places."""
    scope: Scope | None = module.tree.scope_of(node)
    while scope is not None and scope.parent is not None and scope.parent.parent is not None:
        scope = scope.parent
    top = scope.node if scope is not None else None
    return top.name.value if isinstance(top, cst.FunctionDef | cst.ClassDef) else ""


def _has_workers(reach: DatasetFlow, function: WorkerFunction) -> bool:
    """Whether the Dataset whose code this is may be read by workers."""
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


def _way(ev: Evaluator, call: cst.Call, frame: Frame) -> str:
    """How a call starts CUDA; empty where it does not, or nobody can say."""
    callees = ev.values(call.func, frame)
    if any(isinstance(callee, Function | Method | Class) for callee in callees):
        return ""  # the function itself is looked at
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    for callee in callees:
        if isinstance(callee, Library) and callee.name.startswith("torch.cuda.") and name in _STARTING:
            return f"`torch.cuda.{name}()`"
    if name == "cuda" and not _is_module(callees):
        return "`.cuda()`"
    if name == "pin_memory" and not call.args:
        return "`.pin_memory()`"
    positional = positional_of(call)
    if name == "to" and positional and is_cuda(ev, ev.values(positional[0], frame)):
        return "`.to(...)` with a CUDA device"
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value in _DEVICE_KEYWORDS:
            if is_cuda(ev, ev.values(arg.value, frame)):
                return f"something with `{arg.keyword.value}` set to CUDA"
    return ""


def _is_module(callees: Values) -> bool:
    """`torch.cuda(...)` is no call that anybody writes; a library's function called `cuda` is not a tensor's method."""
    return bool(callees) and all(isinstance(callee, Library) for callee in callees)


def is_cuda(ev: Evaluator, found: Values, behind: Values = ()) -> bool:
    """Whether a device is CUDA, surely or where CUDA is available; not where it can be anything.

    `behind` are the devices that are made of it, so that one made of itself (`d = torch.device(d)`) has an end.
    """
    return UNKNOWN not in found and any(_names_cuda(ev, value, behind) for value in found if value not in behind)


def _names_cuda(ev: Evaluator, value: Value, behind: Values) -> bool:
    if isinstance(value, Const):
        return kind_of_constant(value.value) is Device.CUDA
    if isinstance(value, CallResult) and value.library == "torch.device" and value.call is not None and value.frame:
        return bool(value.call.args) and is_cuda(ev, ev.values(value.call.args[0].value, value.frame), (*behind, value))
    return False


_ABOUT_DEVICES = frozenset({"device", "is_cuda", "is_pinned", "type"})


def _is_sure_to_run(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """Whether nothing that is unknown, such as a flag of the caller's, may keep control away from the call."""
    if not is_reached(ev, call, frame):
        return False
    tree = frame.scope.module.tree
    for condition in path_conditions(call, frame.scope):
        test = condition.test
        if any(each.attr.value in _ABOUT_DEVICES for each in tree.find(test, cst.Attribute)):
            return False
        if _asks_for_started(ev, condition, frame):
            return False
        flag = test.expression if isinstance(test, cst.UnaryOperation) else test
        if isinstance(flag, cst.Name | cst.Attribute):
            found = ev.values(flag, frame)
            if truth(found) is None and any(
                value is UNKNOWN or isinstance(value, AttributeOf | ItemOf) for value in found
            ):
                return False
        elif _asks_for_main_process(test, frame):
            return False
    return True


def _asks_for_started(ev: Evaluator, condition: Condition, frame: Frame) -> bool:
    """`if torch.cuda.is_initialized():`, which is false in a worker, forked or not, until it starts CUDA itself."""
    tree = frame.scope.module.tree
    for call in tree.find(condition.test, cst.Call):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "is_initialized":
            above = tree.parent(call)
            is_turned = isinstance(above, cst.UnaryOperation) and isinstance(above.operator, cst.Not)
            if condition.wanted is not is_turned:
                found = ev.values(call.func, frame)
                return any(isinstance(each, Library) and each.name == "torch.cuda.is_initialized" for each in found)
    return False


def _asks_for_main_process(test: cst.BaseExpression, frame: Frame) -> bool:
    """`if get_worker_info() is None:`."""
    tree = frame.scope.module.tree
    names = {each.value for each in tree.find(test, cst.Name)} | {
        each.attr.value for each in tree.find(test, cst.Attribute)
    }
    return bool(names & {"get_worker_info", "worker_info", "current_process", "parent_process"})
