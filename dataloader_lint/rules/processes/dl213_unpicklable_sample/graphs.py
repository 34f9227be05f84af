"""Tensors with an autograd graph, which no worker can send: outputs of networks, and parts of their parameters."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.devices.devices import KEEPING
from dataloader_lint.pipeline.workers.constructor_steps import bare, steps_of
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.catalogue import MODULES
from dataloader_lint.semantics.libraries.objects import LAYERS, NETWORKS
from dataloader_lint.semantics.limits import SAMPLE_DEPTH
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.semantics.values.values import (
    AttributeOf,
    CallResult,
    Class,
    Evaluator,
    Frame,
    Function,
    Method,
    Value,
)

_NO_GRADIENTS = ("no_grad", "inference_mode", "set_grad_enabled")
# Methods of a tensor whose result has the same graph.
_RESHAPING = KEEPING - {"bool", "byte", "detach", "int", "long", "type"}
_WEIGHTS = "torch.nn.Parameter"


def graph_of(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> str:
    """Describes the tensor with a graph that an expression is; empty if it is not known to be one."""
    call = _call_behind(node, frame)
    if call is not None and _has_graph(ev, call, frame):
        return f"the output of `{dotted(call.func)}` with its graph"
    return "a part of a parameter with its graph" if _is_part_of_weights(ev, node, frame) else ""


def _is_part_of_weights(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True for a part of a parameter or of a layer's: unlike the whole, it cannot be sent with its graph."""
    if not isinstance(node, cst.Subscript):
        return False
    found = ev.values(node.value, frame)
    return bool(found) and all(map(_is_weight, found)) and _computes_gradients(node, frame)


def _is_weight(value: Value) -> bool:
    """True for `torch.nn.Parameter(...)`, and for the `weight` of a layer."""
    if isinstance(value, AttributeOf):
        layer = value.of
        return value.name in ("bias", "weight") and isinstance(layer, CallResult) and layer.library in LAYERS
    return isinstance(value, CallResult) and value.library == _WEIGHTS


def _call_behind(node: cst.BaseExpression, frame: Frame) -> cst.Call | None:
    """The call that an expression is, takes a part of or gives another shape, or that its name is bound to."""
    node = _whole(node)
    if isinstance(node, cst.Name):
        bindings = resolve(node, frame.scope.module.tree)
        if len(bindings) != 1 or bindings[0].kind is not Kind.VALUE or bindings[0].path:
            return None
        if bindings[0].scope is not frame.scope or any(
            dotted(call.func) == f"{node.value}.detach_" for call in frame.scope.own(cst.Call)
        ):
            return None
        node = _whole(bindings[0].value) if bindings[0].value is not None else node
    return node if isinstance(node, cst.Call) else None


def _whole(node: cst.BaseExpression) -> cst.BaseExpression:
    """`net(x)` of `net(x).squeeze(0)[0]`: what keeps the graph, as far as that is known by the name."""
    while True:
        if isinstance(node, cst.Subscript):
            node = node.value
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _RESHAPING:
            node = node.func.value
        else:
            return node


def _has_graph(ev: Evaluator, call: cst.Call, frame: Frame, depth: int = 0) -> bool:
    """True if a call runs a network that is known to have parameters, with gradients enabled.

    It may do so in functions of the project that return what the network gives.
    """
    callees = ev.values(call.func, frame)
    if callees and depth < SAMPLE_DEPTH and all(isinstance(each, Function | Method) for each in callees):
        entered = (_entered(ev, each, call, frame) for each in callees)
        return _computes_gradients(call, frame) and all(_returns_graph(ev, inner, depth) for inner in entered)
    if not callees or not all(isinstance(callee, CallResult) and _has_parameters(ev, callee) for callee in callees):
        return False
    return _computes_gradients(call, frame)


def _entered(ev: Evaluator, callee: Value, call: cst.Call, frame: Frame) -> Frame:
    assert isinstance(callee, Function | Method)
    function, receiver = (callee.function, callee.receiver) if isinstance(callee, Method) else (callee, None)
    return ev.enter(function, call, frame, receiver)


def _returns_graph(ev: Evaluator, frame: Frame, depth: int) -> bool:
    """True if a function returns the output of a network with its graph, wherever it returns."""
    node = frame.scope.node
    if not isinstance(node, cst.FunctionDef) or _stops_all(node):
        return False
    returned = [each.value for each in frame.scope.own(cst.Return) if each.value is not None]
    calls = [_call_behind(each, frame) for each in returned]
    return bool(calls) and all(each is not None and _has_graph(ev, each, frame, depth + 1) for each in calls)


def _stops_all(node: cst.FunctionDef) -> bool:
    return any(name.rpartition(".")[2] in _NO_GRADIENTS for name in classes.decorator_names(node))


def _computes_gradients(node: Node, frame: Frame) -> bool:
    """True if a node stands where no code turns gradients off."""
    tree = frame.scope.module.tree
    if any(word in tree.code for word in ("requires_grad", "set_grad_enabled(False)")):
        return False
    for above in tree.ancestors(node):
        if isinstance(above, cst.With) and any(_stops_gradients(item.item) for item in above.items):
            return False
        if isinstance(above, cst.FunctionDef) and _stops_all(above):
            return False
    return True


def _stops_gradients(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and dotted(node.func).rpartition(".")[2] in _NO_GRADIENTS


def _has_parameters(ev: Evaluator, value: CallResult) -> bool:
    """True if a module is a layer with weights, or a class of the project that constructs such a layer."""
    if value.library == "torch.nn.Sequential" and value.call is not None and value.frame is not None:
        inside = [each for arg in value.call.args for each in ev.values(arg.value, value.frame)]
        return any(isinstance(each, CallResult) and each.library in LAYERS for each in inside)
    if value.library:
        return value.library in LAYERS or value.library.startswith(NETWORKS)
    assert isinstance(value.by, Class)
    if not any(name in MODULES for name in ev.bases(value.by).libraries):
        return False
    forward = classes.find_method(ev, ev.bases(value.by).classes, "forward")
    if forward is None or any(
        name.rpartition(".")[2] in _NO_GRADIENTS
        for name in classes.decorator_names(forward.node)  # type: ignore[arg-type]
    ):
        return False
    if any(_stops_gradients(item.item) for block in forward.scope.own(cst.With) for item in block.items):
        return False
    made = value if value.call is not None else bare(value.by, ev)
    return any(
        isinstance(each, CallResult) and each.library in LAYERS
        for step in steps_of(ev, made)
        for bindings in classes.attribute_bindings(classes.class_of(step.scope) or step.scope).values()
        for binding in bindings
        if binding.method is step.scope and binding.value is not None
        for each in ev.values(binding.value, step.frame)
    )
