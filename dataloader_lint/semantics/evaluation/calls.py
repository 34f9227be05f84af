"""What calls give: functions and classes of the project. `library_functions` and `library_methods` have the rest."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.callers.parameters import starred
from dataloader_lint.semantics.classes import classes, records
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.dicts.dict_classes import is_dict_class
from dataloader_lint.semantics.evaluation import library_functions, library_methods
from dataloader_lint.semantics.evaluation.loader_calls import loader_class
from dataloader_lint.semantics.syntax.expressions import keyword_of
from dataloader_lint.semantics.values import type_hints
from dataloader_lint.semantics.values.values import (
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Argument,
    AttributeOf,
    CallResult,
    Calls,
    Class,
    Evaluator,
    Frame,
    Function,
    Library,
    Mapping,
    Method,
    Opaque,
    Partial,
    Sequence,
    Value,
    Values,
    merge,
)


def result(ev: Evaluator, callee: Value, call: cst.Call, frame: Frame) -> Values:
    """What `callee(...)` gives, for the call as written in `frame`."""
    if isinstance(callee, Library):
        return library_functions.of_library(ev, callee, call, frame)
    if isinstance(callee, Class):
        return (Mapping(call, frame) if is_dict_class(ev, callee) else CallResult(callee, call, frame),)
    if isinstance(callee, Function):
        return ev.run(callee, ev.enter(callee, call, frame, None))
    if isinstance(callee, Method):
        return ev.run(callee.function, ev.enter(callee.function, call, frame, callee.receiver))
    if isinstance(callee, Partial):
        return _of_partial(ev, callee, call, frame)
    if isinstance(callee, CallResult) and isinstance(callee.by, Class):
        function = classes.find_method(ev, ev.bases(callee.by).classes, "__call__")
        if function is not None:
            return ev.run(function, ev.enter(function, call, frame, callee))
    if isinstance(callee, CallResult) and callee.library == "functools.lru_cache" and not _wraps(ev, callee):
        return (CallResult(callee.by, call, frame),)  # `lru_cache(maxsize=9)(read)`
    if isinstance(callee, CallResult) and callee.library == "joblib.Parallel" and not _is_lazy(callee):
        return (Opaque("list"),)
    if isinstance(callee, CallResult) and callee.library in records.MAKERS_OF_NAMED_TUPLES:
        return records.named_tuple(ev, callee, call, frame)
    if isinstance(callee, AttributeOf):
        return library_methods.of_method(ev, callee.of, callee.name, call, frame)
    if isinstance(call.func, cst.Attribute):
        return library_methods.of_method(ev, UNKNOWN, call.func.attr.value, call, frame)
    return NOTHING_KNOWN


def _wraps(ev: Evaluator, made: CallResult) -> bool:
    """True if a memoising call was given the function already, and no size."""
    if made.call is None or made.frame is None:
        return True
    given = [ev.values(arg.value, made.frame) for arg in made.call.args if arg.keyword is None]
    return any(isinstance(value, Function | Method) for values in given for value in values)


def _is_lazy(parallel: CallResult) -> bool:
    """True if `Parallel(return_as="generator")` hands out results as they come."""
    return parallel.call is None or any(arg.keyword and arg.keyword.value == "return_as" for arg in parallel.call.args)


def _of_partial(ev: Evaluator, partial: Partial, call: cst.Call, frame: Frame) -> Values:
    before = ((partial.call, partial.frame), *partial.before)
    callee = partial.callee
    if isinstance(callee, Function):
        return ev.run(callee, ev.enter(callee, call, frame, None, before))
    if isinstance(callee, Method):
        return ev.run(callee.function, ev.enter(callee.function, call, frame, callee.receiver, before))
    made = ev.call(callee, call, frame)
    return tuple(
        CallResult(value.by, value.call, value.frame, before)
        if isinstance(value, CallResult) and value.call is call
        else value
        for value in made
    )


def enter(function: Function, call: cst.Call, frame: Frame, receiver: Value | None, before: Calls = ()) -> Frame:
    """The frame that a call opens in a function of the project; `before` are the partials that it is a call of."""
    node = function.node
    skip = 1 if receiver is not None and isinstance(node, cst.FunctionDef) and not classes.is_static(node) else 0
    params = [*node.params.posonly_params, *node.params.params][skip:]
    args: dict[str, Argument] = {}
    extra: list[Argument] | None = []
    position = 0
    given = [(arg, where) for made, where in reversed(before) for arg in made.args[1:]]
    for arg, where in (*given, *((each, frame) for each in call.args)):
        if arg.star == "**":
            args["**"] = Argument(arg.value, where, below=args.get("**"))
        elif arg.star == "*" and (several := starred(arg.value, where)) is not None:
            taken = params[position : position + len(several)]
            args.update((param.name.value, each) for param, each in zip(taken, several, strict=False))
            if extra is not None:
                extra.extend(several[len(taken) :])
            position += len(taken)
        elif arg.star == "*":
            # How many arguments this means is not known: all parameters from here on can be anything.
            for param in params[position:]:
                args[param.name.value] = Argument(None, None)
            position, extra = len(params), None
        elif arg.keyword is not None:
            args[arg.keyword.value] = Argument(arg.value, where)
        elif position < len(params):
            args[params[position].name.value] = Argument(arg.value, where)
            position += 1
        elif extra is not None:
            extra.append(Argument(arg.value, where))
    rest = tuple(extra) if extra is not None else None
    return Frame(function.scope, args, receiver, function.outer, frame.depth + 1, extra=rest)


def function_result(ev: Evaluator, function: Function, frame: Frame) -> Values:
    """What a function returns in the given frame; a generator gives a sequence of what it yields."""
    node = function.node
    if isinstance(node, cst.Lambda):
        return ev.values(node.body, frame)
    if any(True for _ in function.scope.own(cst.Yield)):
        return (Sequence("generator", node, frame),)
    if classes.is_left_to_subclasses(function.scope):
        return type_hints.values_of(ev, node.returns.annotation, function.outer) if node.returns else NOTHING_KNOWN
    found: list[Values] = []
    for statement in function.scope.own(cst.Return):
        if is_reached(ev, statement, frame):
            found.append(ev.values(statement.value, frame) if statement.value is not None else (NONE,))
        elif statement.value is not None and is_reached(ev, statement, frame, with_options=True):
            found.append(tuple(each for each in ev.values(statement.value, frame) if include_optional_branch(ev, each)))
    merged = merge(*found) if found else (NONE,)
    if UNKNOWN in merged and node.returns is not None:
        declared = type_hints.values_of(ev, node.returns.annotation, function.outer)
        return merge(tuple(value for value in merged if value is not UNKNOWN), declared)
    return merged


def include_optional_branch(ev: Evaluator, value: Value) -> bool:
    """True for values that count even in a branch that an option disables by default: Datasets, samplers, functions.

    Some run selects each of these, and each class that constructs one. Numbers and loaders are the declared
    ones, and a program has one device; but a loader with a sampler is what a run with several processes gets.
    """
    if isinstance(value, Function):
        return True
    if isinstance(value, Class) or (isinstance(value, Library) and value.name.rpartition(".")[2][:1].isupper()):
        return loader_class(ev, value) is None
    if not isinstance(value, CallResult) or value.call is None or value.library == "torch.device":
        return False
    return loader_class(ev, value.by) is None or any(
        keyword_of(value.call, name) is not None for name in ("batch_sampler", "sampler")
    )


def entered(ev: Evaluator, value: Value) -> Values:
    """What `with value as name` gives."""
    if isinstance(value, Sequence) and value.kind == "generator":
        return ev.element(value)
    if isinstance(value, CallResult) and isinstance(value.by, Class):
        function = classes.find_method(ev, ev.bases(value.by).classes, "__enter__")
        if function is not None:
            return ev.run(function, ev.method_frame(function.scope, value))
    return (value,)
