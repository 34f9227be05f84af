"""CUDA use in worker code."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.devices.devices import is_cuda
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.rules.processes._shared.calls_in_workers import WorkerCall, calls_in_workers
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.libraries.short_names import short
from dataloader_lint.semantics.syntax.expressions import last_name, positional_of
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Tree, function_scope
from dataloader_lint.semantics.values.values import (
    Class,
    Evaluator,
    Frame,
    Function,
    Library,
    Method,
    Values,
)

_METHODS = frozenset({"cuda", "pin_memory", "to"})
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
_MAKING = short(lambda call: call.on_default_device)


def cuda_in_workers(reach: DatasetFlow, module: ModuleFacts) -> list[WorkerCall]:
    """The functions of a module that initialize CUDA in workers, each at the first such call."""
    return calls_in_workers(reach, module, calls_that_may_start_cuda(module), form_of_call)


def calls_that_may_start_cuda(module: ModuleFacts) -> list[cst.Call]:
    """The calls of a module that may initialize CUDA, from a cheap check before worker code is followed."""
    return module.tree.once(
        ("may start cuda", id(module.root)),
        lambda: [call for call in module.all_calls() if _may_start_cuda(call, module)],
    )


def _may_start_cuda(call: cst.Call, module: ModuleFacts) -> bool:
    """True if a call may initialize CUDA; a cheap check before worker code is followed."""
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    if name in _METHODS or name in _CUDA_INITIALIZERS:
        return True
    if name in _MAKING and ("set_default_device" in module.called or _devices_around(call, module.tree)):
        return True
    return any(arg.keyword is not None and arg.keyword.value in _DEVICE_KEYWORDS for arg in call.args)


def form_of_call(ev: Evaluator, call: cst.Call, frame: Frame) -> str:
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
    if name in _MAKING and _is_made_on_cuda(ev, callees, call, frame):
        return f"`{dotted(call.func)}` on CUDA by default"
    positional = positional_of(call)
    if name == "to" and positional and is_cuda(ev, ev.values(positional[0], frame)):
        return "`.to(...)` with a CUDA device"
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value in _DEVICE_KEYWORDS:
            if is_cuda(ev, ev.values(arg.value, frame)):
                return f"a call with CUDA as `{arg.keyword.value}`"
    return ""


def _devices_around(node: Node, tree: Tree) -> list[cst.BaseExpression]:
    """The devices of the `with torch.device(...)` blocks around a node in its function, from the inside out."""
    found: list[cst.BaseExpression] = []
    for above in tree.ancestors(node):
        if isinstance(above, cst.FunctionDef | cst.Lambda):
            break
        if isinstance(above, cst.With):
            items = [item.item for item in above.items]
            found.extend(each for each in items if isinstance(each, cst.Call) and last_name(each.func) == "device")
    return found


def _is_made_on_cuda(ev: Evaluator, callees: Values, call: cst.Call, frame: Frame) -> bool:
    """True if a call makes a tensor where it says no device, and the block around it or the default says CUDA."""
    if not any(isinstance(each, Library) and row(each.name).on_default_device for each in callees):
        return False
    if any(arg.star or (arg.keyword is not None and arg.keyword.value == "device") for arg in call.args):
        return False
    module = frame.scope.module
    around = _devices_around(call, module.tree)
    if around:
        return is_cuda(ev, ev.values(around[0], frame))
    found = []
    for setting in module.calls_named("set_default_device"):
        where = ev.frame_of(function_scope(module.tree.scope_of(setting)))
        if setting.args and is_reached(ev, setting, where):
            found.append(is_cuda(ev, ev.values(setting.args[0].value, where)))
    return bool(found) and all(found)


def _is_library_function(callees: Values) -> bool:
    """True if `cuda` names a function of a library: that is not the method of a tensor."""
    return bool(callees) and all(isinstance(callee, Library) for callee in callees)
