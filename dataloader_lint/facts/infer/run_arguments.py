"""What a call hands to the functions that it runs, be it through a thread, a pool or `functools.partial`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.values import (
    CallResult,
    Class,
    Evaluator,
    Frame,
    Function,
    Method,
    Value,
)
from dataloader_lint.facts.libraries.short_names import MAPPING
from dataloader_lint.facts.syntax.expressions import keyword_of, last_name, parameters
from dataloader_lint.facts.syntax.tree import Scope, function_scope

# Calls that run a function for each element of what else they are given.
_FOR_EACH = MAPPING | {"apply", "filter", "for_each"}
# Calls that run the function that they are given first with the arguments that follow.
_DEFERRING = frozenset({"submit", "partial", "apply_async", "to_thread", "run_sync"})
# All that run a function that they are given, before they return or in another thread.
RUNNING = _FOR_EACH | _DEFERRING - {"partial"} | {"Thread", "walk"}


def is_mapping(call: cst.Call, given: cst.BaseExpression) -> bool:
    """True if a call runs a function that it is given first for each element of the other arguments."""
    return bool(call.args) and call.args[0].value is given and last_name(call.func) in _FOR_EACH


def receiving_parameters(
    ev: Evaluator, call: cst.Call, given: cst.BaseExpression, scope: Scope
) -> Iterator[tuple[Scope, str]]:
    """The functions of the project that get an argument of a call, each with the parameter that receives it."""
    frame = ev.frame_of(function_scope(scope))
    deferred, arguments = _deferred(call)
    if deferred is not None:
        for function, skipped in _functions(ev, ev.values(deferred, frame)):
            params = [param.name.value for param in parameters(function.node)][skipped:]
            for param, argument in zip(params, arguments, strict=False):
                if argument is given:
                    yield function.scope, param
    for callee in ev.values(call.func, frame):
        for function, receiver in _run_by(ev, callee, call, frame):
            entered = ev.enter(function, call, frame, receiver)
            for param, passed in (entered.args or {}).items():
                if passed.node is given:
                    yield function.scope, param


def _deferred(call: cst.Call) -> tuple[cst.BaseExpression | None, list[cst.BaseExpression]]:
    """The function that a call runs later and the arguments for it: `Thread(target=f, args=(a, b))`."""
    target, packed = keyword_of(call, "target"), keyword_of(call, "args")
    positional = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    if target is None and last_name(call.func) in _DEFERRING and positional:
        target, positional = positional[0], positional[1:]
        if packed is None and len(positional) == 1 and last_name(call.func) == "apply_async":
            packed = positional[0]
    elif target is None:
        return None, []
    if isinstance(packed, cst.Tuple | cst.List):
        return target, [element.value for element in packed.elements]
    return target, positional


def _functions(ev: Evaluator, values: tuple[Value, ...]) -> Iterator[tuple[Function, int]]:
    """The functions of the project among some values, with the number of parameters that are bound already."""
    for value in values:
        if isinstance(value, Method):
            yield value.function, 0 if classes.is_static(value.function.node) else 1  # type: ignore[arg-type]
        elif isinstance(value, Function):
            yield value, 0


def _run_by(ev: Evaluator, callee: Value, call: cst.Call, frame: Frame) -> Iterator[tuple[Function, Value | None]]:
    if isinstance(callee, Function):
        yield callee, None
    elif isinstance(callee, Method):
        yield callee.function, callee.receiver
    elif isinstance(callee, Class):
        function = classes.find_method(ev, ev.bases(callee).classes, "__init__")
        if function is not None:
            yield function, CallResult(callee, call, frame)
    elif isinstance(callee, CallResult) and isinstance(callee.by, Class):
        function = classes.find_method(ev, ev.bases(callee.by).classes, "__call__")
        if function is not None:
            yield function, callee
