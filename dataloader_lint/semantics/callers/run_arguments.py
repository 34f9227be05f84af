"""Which functions of the project get an argument of a call: directly, by a thread, a pool or `functools.partial`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.semantics.callers.deferred_calls import DEFERRING, deferred_call
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.short_names import MAPPING
from dataloader_lint.semantics.syntax.expressions import last_name, parameters
from dataloader_lint.semantics.syntax.tree import Scope, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Frame, Function, Method, Value

if TYPE_CHECKING:
    import libcst as cst

# Calls that run a function for each element of what else they are given.
_FOR_EACH = MAPPING | {"apply", "filter", "for_each"}
# All that run a function that they are given, before they return or in another thread.
RUNNING = _FOR_EACH | DEFERRING - {"partial"} | {"Thread", "walk"}


def is_mapping(call: cst.Call, given: cst.BaseExpression) -> bool:
    """True if a call maps its first argument, a function, over the elements of the others."""
    return bool(call.args) and call.args[0].value is given and last_name(call.func) in _FOR_EACH


def receiving_parameters(
    ev: Evaluator, call: cst.Call, given: cst.BaseExpression, scope: Scope
) -> Iterator[tuple[Scope, str]]:
    """The functions of the project that get an argument of a call, each with the parameter that receives it."""
    frame = ev.frame_of(function_scope(scope))
    deferred = deferred_call(call)
    if deferred is not None:
        for function, skipped in _functions(ev.values(deferred.function, frame)):
            params = [param.name.value for param in parameters(function.node)][skipped:]
            for param, argument in zip(params, deferred.arguments, strict=False):
                if argument is given:
                    yield function.scope, param
    for callee in ev.values(call.func, frame):
        for function, receiver in _run_by(ev, callee, call, frame):
            entered = ev.enter(function, call, frame, receiver)
            for param, passed in (entered.args or {}).items():
                if passed.node is given:
                    yield function.scope, param


def _functions(values: tuple[Value, ...]) -> Iterator[tuple[Function, int]]:
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
