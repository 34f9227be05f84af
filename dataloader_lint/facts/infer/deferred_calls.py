"""Functions that a library runs with arguments that are given beside them, in another process or thread.

`mp.spawn(work, args=(options,), nprocs=8)`, `Process(target=work, args=(options,))`, `pool.submit(work, options)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.infer.values import (
    Argument,
    Class,
    Deferred,
    Evaluator,
    Frame,
    Function,
    Method,
    Value,
    Values,
)
from dataloader_lint.facts.limits import PASSED_FUNCTION_CALLS
from dataloader_lint.facts.syntax.expressions import keyword_of, last_name
from dataloader_lint.facts.syntax.tree import ModuleFacts, Scope, function_scope

# Calls that run the function that they are given first with the arguments that follow.
DEFERRING = frozenset({"submit", "partial", "apply_async", "to_thread", "run_sync"})
# What most calls are called that have a function of another file run later: a look at texts before these are opened.
_RUNNERS = ["Process", "Thread", "apply_async", "launch", "spawn", "start_processes", "submit"]


@dataclass(frozen=True, slots=True)
class DeferredCall:
    """What a call says of a function that is run later."""

    function: cst.BaseExpression
    arguments: list[cst.BaseExpression]
    keywords: cst.BaseExpression | None  # a dict


def deferred_call(call: cst.Call) -> DeferredCall | None:
    """The function that a call has run later, with the arguments for it; None for other calls."""
    target, packed = keyword_of(call, "target"), keyword_of(call, "args")
    positional = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    if target is None:
        if not positional or (packed is None and last_name(call.func) not in DEFERRING):
            return None
        target, positional = positional[0], positional[1:]
        if packed is None and len(positional) == 1 and last_name(call.func) == "apply_async":
            packed = positional[0]
    given = [element.value for element in packed.elements] if isinstance(packed, cst.Tuple | cst.List) else positional
    return DeferredCall(target, given, keyword_of(call, "kwargs"))


def calls_of_deferred(ev: Evaluator, function: Scope) -> Iterator[tuple[cst.Call, Frame, Values]]:
    """The calls that have a function of the project run later, in its module and a few that import it."""
    node = function.node
    assert isinstance(node, cst.FunctionDef)
    name = node.name.value
    number = 0
    for module in (function.module, *ev.project.callers(function.module, _RUNNERS, "function")):
        for call, given in _deferring_in(module).get(name, ()):
            frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
            if number >= PASSED_FUNCTION_CALLS or _is_of_project(ev, call, frame):
                continue
            callees = tuple(Deferred(value) for value in ev.values(given, frame) if _is(value, function))
            if callees:
                number += 1
                yield call, frame, callees


def _deferring_in(module: ModuleFacts) -> dict[str, list[tuple[cst.Call, cst.BaseExpression]]]:
    """The calls of a module that have something run later, by the last part of its name."""

    def work_out() -> dict[str, list[tuple[cst.Call, cst.BaseExpression]]]:
        found: dict[str, list[tuple[cst.Call, cst.BaseExpression]]] = {}
        for call in module.all_calls():
            deferred = deferred_call(call) if last_name(call.func) != "partial" else None  # which others call
            if deferred is not None and isinstance(deferred.function, cst.Name | cst.Attribute):
                found.setdefault(last_name(deferred.function), []).append((call, deferred.function))
        return found

    return module.tree.once(("deferred calls", id(module.root)), work_out)


def _is(value: Value, function: Scope) -> bool:
    value = value.function if isinstance(value, Method) else value
    return isinstance(value, Function) and value.scope is function


def _is_of_project(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """True for a call of the project's own code, which can be followed to where it runs the function."""
    return any(isinstance(value, Function | Method | Class) for value in ev.values(call.func, frame))


def enter_deferred(ev: Evaluator, callee: Deferred, call: cst.Call, frame: Frame) -> Frame | None:
    """The frame that a function gets which a call has run later; None where the arguments do not fit.

    A first parameter for which nothing is given is the number of the process, which `mp.spawn` passes.
    """
    deferred = deferred_call(call)
    function = callee.callee.function if isinstance(callee.callee, Method) else callee.callee
    if deferred is None or not isinstance(function, Function) or not isinstance(function.node, cst.FunctionDef):
        return None
    receiver = callee.callee.receiver if isinstance(callee.callee, Method) else None
    params = function.node.params.params[1 if receiver is not None else 0 :]
    required = [param for param in params if param.default is None]
    skipped = 1 if keyword_of(call, "args") is not None and len(deferred.arguments) == len(required) - 1 else 0
    if skipped and deferred.keywords is not None:
        skipped = 0
    if len(deferred.arguments) > len(params) - skipped:
        return None
    args = {
        param.name.value: Argument(node, frame)
        for param, node in zip(params[skipped:], deferred.arguments, strict=False)
    }
    if skipped:
        args[params[0].name.value] = Argument(None, None)
    if deferred.keywords is not None:
        args["**"] = Argument(deferred.keywords, frame)
    return Frame(function.scope, args, receiver, function.outer, frame.depth + 1, extra=())
