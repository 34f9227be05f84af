"""CUDA use in worker code."""

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
# Names in `torch.cuda` that initialize CUDA in the calling process.
_CUDA_INITIALIZERS = frozenset(
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
    """The first call in a function of worker code that initializes CUDA, and its form: `.cuda()`, `device=...`."""

    call: cst.Call
    function: WorkerFunction
    way: str


def cuda_in_workers(reach: DatasetFlow, module: ModuleFacts) -> list[CudaCall]:
    """The functions of a module that initialize CUDA in workers, each at the first such call."""
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
                way = _form_of_call(workers.ev, call, function.frame)
                if way and _always_runs(workers.ev, call, function.frame):
                    found[key] = CudaCall(call, function, way)
                    break
    return sorted(found.values(), key=lambda one: module.tree.order(one.call))


def _is_candidate(ev: Evaluation, call: cst.Call, module: ModuleFacts) -> bool:
    """True if a call may initialize CUDA; a cheap check before worker code is followed."""
    if isinstance(call.func, cst.Attribute):
        name = call.func.attr.value
        if name == "to":
            positional = positional_of(call)
            if positional and _may_be_cuda(ev, positional[0], module):
                return True
        elif name in _METHODS or name in _CUDA_INITIALIZERS:
            return True
    return any(
        arg.keyword is not None and arg.keyword.value in _DEVICE_KEYWORDS and _may_be_cuda(ev, arg.value, module)
        for arg in call.args
    )


def _may_be_cuda(ev: Evaluation, node: cst.BaseExpression, module: ModuleFacts) -> bool:
    """True if a device may be CUDA, judged by its syntax: `"cpu"` and `torch.float` are not."""
    if isinstance(node, cst.Call) and node.args and ev.library_name(node.func, module) == "torch.device":
        return _may_be_cuda(ev, node.args[0].value, module)
    if isinstance(node, cst.SimpleString):
        return "cuda" in node.value
    return not ev.library_name(node, module)


def _top_name(module: ModuleFacts, node: Node) -> str:
    """The name of the top-level function or class that contains a node; empty outside of them."""
    scope: Scope | None = module.tree.scope_of(node)
    while scope is not None and scope.parent is not None and scope.parent.parent is not None:
        scope = scope.parent
    top = scope.node if scope is not None else None
    return top.name.value if isinstance(top, cst.FunctionDef | cst.ClassDef) else ""


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


def _form_of_call(ev: Evaluator, call: cst.Call, frame: Frame) -> str:
    """The form in which a call initializes CUDA; empty if it does not, or if that is unknown."""
    callees = ev.values(call.func, frame)
    if any(isinstance(callee, Function | Method | Class) for callee in callees):
        return ""  # the function has its own report
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    for callee in callees:
        if isinstance(callee, Library) and callee.name.startswith("torch.cuda.") and name in _CUDA_INITIALIZERS:
            return f"`torch.cuda.{name}()`"
    if name == "cuda" and not _is_library_function(callees):
        return "`.cuda()`"
    if name == "pin_memory" and not call.args:
        return "`.pin_memory()`"
    positional = positional_of(call)
    if name == "to" and positional and is_cuda(ev, ev.values(positional[0], frame)):
        return "`.to(...)` with a CUDA device"
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value in _DEVICE_KEYWORDS:
            if is_cuda(ev, ev.values(arg.value, frame)):
                return f"a call with CUDA as `{arg.keyword.value}`"
    return ""


def _is_library_function(callees: Values) -> bool:
    """True if `cuda` names a function of a library: that is not the method of a tensor."""
    return bool(callees) and all(isinstance(callee, Library) for callee in callees)


def is_cuda(ev: Evaluator, found: Values, behind: Values = ()) -> bool:
    """True if a device is CUDA, always or if CUDA is available; False if it is unknown.

    `behind` holds the devices derived from it: it stops the recursion for `d = torch.device(d)`.
    """
    return UNKNOWN not in found and any(_is_cuda_value(ev, value, behind) for value in found if value not in behind)


def _is_cuda_value(ev: Evaluator, value: Value, behind: Values) -> bool:
    if isinstance(value, Const):
        return kind_of_constant(value.value) is Device.CUDA
    if isinstance(value, CallResult) and value.library == "torch.device" and value.call is not None and value.frame:
        return bool(value.call.args) and is_cuda(ev, ev.values(value.call.args[0].value, value.frame), (*behind, value))
    return False


_ABOUT_DEVICES = frozenset({"device", "is_cuda", "is_pinned", "type"})


def _always_runs(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
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
