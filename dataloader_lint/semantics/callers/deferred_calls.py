"""Functions that a library runs later, in another process or thread, with arguments given beside the function.

`mp.spawn(work, args=(options,), nprocs=8)`, `Process(target=work, args=(options,))`, `pool.submit(work, options)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import libcst as cst

from dataloader_lint.semantics.callers.passed_functions import is_function
from dataloader_lint.semantics.limits import PASSED_FUNCTION_CALLS
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name, positional_of
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, function_scope
from dataloader_lint.semantics.values.values import (
    Argument,
    Class,
    Deferred,
    Evaluator,
    Frame,
    Function,
    Method,
    Values,
)

# Calls that run the function that they are given first with the arguments that follow.
DEFERRING = frozenset({"submit", "partial", "apply_async", "to_thread", "run_sync"})
# Those of them that pass keyword arguments on, too.
_PASSING_KEYWORDS = frozenset({"submit", "partial", "to_thread"})
# What most calls are called that have a function of another file run later: a look at texts before these are opened.
_RUNNERS = ["Process", "Thread", "apply_async", "launch", "spawn", "start_processes", "submit"]


@dataclass(frozen=True, slots=True)
class DeferredCall:
    """The arguments for a function that is run later: positional ones, keywords, and a dict of more.

    `is_complete` is False where more positional arguments may follow, as in `args=options` or `args=(0, *options)`.
    """

    function: cst.BaseExpression
    arguments: list[cst.BaseExpression]
    named: dict[str, cst.BaseExpression]
    keywords: cst.BaseExpression | None
    is_complete: bool


def deferred_call(call: cst.Call) -> DeferredCall | None:
    """The function that a call runs later, with its arguments; None for other calls."""
    target, packed, name = keyword_of(call, "target"), keyword_of(call, "args"), last_name(call.func)
    keywords = keyword_of(call, "kwargs") or keyword_of(call, "kwds")
    positional = positional_of(call)
    if target is not None or packed is not None or name == "apply_async":
        if target is None and positional:
            target, packed = positional[0], packed or next(iter(positional[1:2]), None)
            keywords = keywords or (positional[2] if name == "apply_async" and len(positional) > 2 else None)
        written = list(packed.elements) if isinstance(packed, cst.Tuple | cst.List) else []
        given = list(takewhile(lambda element: isinstance(element, cst.Element), written))
        is_complete = len(given) == len(written) and (packed is None or isinstance(packed, cst.Tuple | cst.List))
        arguments = [element.value for element in given]
        return DeferredCall(target, arguments, {}, keywords, is_complete) if target is not None else None
    if name not in DEFERRING or not positional:
        return None
    named: dict[str, cst.BaseExpression] = {}
    if name in _PASSING_KEYWORDS:
        named = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
        keywords = next((arg.value for arg in call.args if arg.star == "**"), None)
    is_complete = not any(arg.star == "*" for arg in call.args)
    return DeferredCall(positional[0], positional[1:], named, keywords, is_complete)


def calls_of_deferred(ev: Evaluator, function: Scope) -> Iterator[tuple[cst.Call, Frame, Values]]:
    """The calls that run a function of the project later, in its module and a few that import it."""
    node = function.node
    assert isinstance(node, cst.FunctionDef)
    name = node.name.value
    number = 0
    for module in (function.module, *ev.project.callers(function.module, _RUNNERS, "function")):
        for call, given in _deferring_in(module).get(name, ()):
            frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
            if number >= PASSED_FUNCTION_CALLS or _is_of_project(ev, call, frame):
                continue
            callees = tuple(Deferred(value) for value in ev.values(given, frame) if is_function(value, function))
            if callees:
                number += 1
                yield call, frame, callees


def _deferring_in(module: ModuleFacts) -> dict[str, list[tuple[cst.Call, cst.BaseExpression]]]:
    """The calls of a module that run a function later, by the last part of the function's name."""

    def work_out() -> dict[str, list[tuple[cst.Call, cst.BaseExpression]]]:
        found: dict[str, list[tuple[cst.Call, cst.BaseExpression]]] = {}
        for call in module.all_calls():
            deferred = deferred_call(call) if last_name(call.func) != "partial" else None  # which others call
            if deferred is not None and isinstance(deferred.function, cst.Name | cst.Attribute):
                found.setdefault(last_name(deferred.function), []).append((call, deferred.function))
        return found

    return module.tree.once(("deferred calls", id(module.root)), work_out)


def _is_of_project(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """True for a call of the project's own code, which can be followed to where it runs the function."""
    return any(isinstance(value, Function | Method | Class) for value in ev.values(call.func, frame))


def enter_deferred(callee: Deferred, call: cst.Call, frame: Frame) -> Frame | None:
    """The frame of a function that a call runs later; None where the arguments do not fit.

    A first parameter for which nothing is given is the number of the process, which `mp.spawn` passes.
    """
    deferred = deferred_call(call)
    function = callee.callee.function if isinstance(callee.callee, Method) else callee.callee
    if deferred is None or not isinstance(function, Function) or not isinstance(function.node, cst.FunctionDef):
        return None
    receiver = callee.callee.receiver if isinstance(callee.callee, Method) else None
    params = function.node.params.params[1 if receiver is not None else 0 :]
    if not deferred.is_complete:
        unknown = {param.name.value: Argument(None, None) for param in params}
        return Frame(function.scope, unknown, receiver, function.outer, frame.depth + 1)
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
    args.update((name, Argument(node, frame)) for name, node in deferred.named.items())
    if deferred.keywords is not None:
        args["**"] = Argument(deferred.keywords, frame)
    return Frame(function.scope, args, receiver, function.outer, frame.depth + 1, extra=())
