"""Who calls a function: calls in its module and in the modules of the project that import it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.callers import chosen_callees, indirect_callers, passed_functions
from dataloader_lint.semantics.callers.deferred_calls import calls_of_deferred
from dataloader_lint.semantics.callers.parameters import entered_by
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.limits import CALLER_DEPTH, CALLERS
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, function_scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Evaluator,
    Frame,
    Function,
    Method,
    Partial,
    Value,
    Values,
)

_Calls = Iterator[tuple[cst.Call, Frame, Values]]


def calls_of(ev: Evaluator, project: Project, function: Scope) -> tuple[tuple[cst.Call, Frame, Values], ...]:
    """The visible calls that surely run `function`, each with the frame it stands in and what it calls.

    For `__init__` these are the constructions of its class and of the classes that inherit it, for `__call__` the calls
    of objects.
    """
    node = function.node
    if isinstance(node, cst.Lambda):
        return tuple(_calls_of_lambda(ev, function))
    if not isinstance(node, cst.FunctionDef):
        return ()
    name = node.name.value
    klass = classes.class_of(function)
    if name == "__call__":
        return _calls_of_objects(ev, project, function, klass) if klass is not None else ()
    found: list[tuple[cst.Call, Frame, Values]] = []
    looked_at = 0
    for module, each in _places(project, function, name, klass):
        for call in module.calls_named(each):
            looked_at += 1
            if looked_at > 8 * CALLERS or len(found) >= CALLERS:
                return tuple(found)
            frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
            callees = tuple(callee for callee in ev.values(call.func, frame) if _runs(ev, callee, function, klass))
            if callees and name == "__init__":
                found.extend(_with_passed_on(ev, call, frame, callees))
            elif callees:
                found.append((call, frame, callees))
    if klass is None:
        found.extend(indirect_callers.calls_of_wrapper(ev, function))
    # Who is called by name mostly is by that alone, and looking further takes long in large projects.
    if not found and (klass is None or name == "__init__"):
        found.extend(_calls_by_other_names(ev, function, klass))
    return tuple(found or passed_functions.calls_of_passed(ev, function)) or tuple(calls_of_deferred(ev, function))


def _calls_by_other_names(ev: Evaluator, function: Scope, klass: Scope | None) -> _Calls:
    """The calls of a function, or the constructions of a class, under a name other than their own."""
    own = klass if klass is not None else function
    if own.parent is not own.module.root:
        return
    assert isinstance(own.node, cst.ClassDef | cst.FunctionDef)
    number = 0
    for call, frame, chosen in chosen_callees.calls_of_chosen(ev, own, own.node.name.value):
        if not _fits(call, function.node, is_bound=klass is not None):
            continue
        callees = tuple(each for each in chosen if _runs(ev, each, function, klass))
        if callees and number < CALLERS:
            number += 1
            yield call, frame, callees


def _calls_of_lambda(ev: Evaluator, function: Scope) -> Iterator[tuple[cst.Call, Frame, Values]]:
    """The calls of a lambda by the name that it is bound to."""
    module = function.module
    bound = module.tree.parent(function.node)
    target = bound.targets[0].target if isinstance(bound, cst.Assign) else None
    for call in module.calls_named(last_name(target))[:CALLERS] if target is not None else ():
        frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
        callees = tuple(each for each in ev.values(call.func, frame) if _runs(ev, each, function, None))
        if callees:
            yield call, frame, callees


def _places(project: Project, function: Scope, name: str, klass: Scope | None) -> Iterator[tuple[ModuleFacts, str]]:
    """The modules that may call a function, its own first, each with a name by which it would do so.

    A constructor is called by the name of its class, and by those of the subclasses that have none of their own.
    """
    home = function.module
    if klass is None or name != "__init__":
        for module in (home, *project.callers(home, [name], "function" if klass is None else "method")):
            yield module, name
        return
    assert isinstance(klass.node, cst.ClassDef)
    own = klass.node.name.value
    subclasses = _subclasses(home, own)
    elsewhere: list[tuple[ModuleFacts, list[str]]] = []
    for module in (home, *project.callers(home, [own, *subclasses], "class")):
        theirs = _subclasses(module, own) if module is not home else []
        names = (name, own, *subclasses, *theirs, *(_own_makers(klass) if module is home else ()))
        for each in dict.fromkeys(names):
            yield module, each
        if theirs:
            elsewhere.append((module, theirs))
    for module, theirs in elsewhere:
        for other in project.callers(module, theirs, "class"):
            for each in theirs:
                yield other, each


def _own_makers(klass: Scope) -> Iterator[str]:
    """The names for the class in its class methods: `cls(...)` constructs an object."""
    for method in classes.methods_of(klass).values():
        assert isinstance(method.node, cst.FunctionDef)
        if "classmethod" in classes.decorator_names(method.node):
            yield classes.receiver_name(method)


def _fits(call: cst.Call, function: cst.CSTNode, is_bound: bool) -> bool:
    """False if a function cannot take the arguments of a call: too many, too few, or under other names."""
    if not isinstance(function, cst.FunctionDef) or any(arg.star for arg in call.args):
        return True
    params = function.params
    positional = [*params.posonly_params, *params.params][1 if is_bound else 0 :]
    given = sum(arg.keyword is None for arg in call.args)
    names = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    names |= {param.name.value for param in positional[:given]}
    every = [*positional, *params.kwonly_params]
    if given > len(positional) and not isinstance(params.star_arg, cst.Param):
        return False
    if params.star_kwarg is None and not names <= {param.name.value for param in every}:
        return False
    return all(param.default is not None or param.name.value in names for param in every)


def _with_passed_on(
    ev: Evaluator, call: cst.Call, frame: Frame, callees: Values
) -> list[tuple[cst.Call, Frame, Values]]:
    """A construction, once per visible call of the enclosing function if that forwards all its arguments.

    `def __init__(self, *args, **kwargs): super().__init__(*args, **kwargs)` passes what those who construct the class
    pass.
    """
    scope = frame.scope
    if not any(arg.star == "*" and _is_own_rest(arg.value, scope) for arg in call.args):
        return [(call, frame, callees)]
    found: list[tuple[cst.Call, Frame, Values]] = []
    for outer, where, by in ev.callers(scope):
        for each in by:
            inner = entered_by(ev, scope, each, outer, where)
            if inner is not None and inner.depth < CALLER_DEPTH:
                found.append((call, inner, callees))
    return found or [(call, frame, callees)]


def _is_own_rest(node: cst.BaseExpression, scope: Scope) -> bool:
    """True if an expression is the `*args` of a function."""
    rest = scope.node.params.star_arg if isinstance(scope.node, cst.FunctionDef) else None
    return isinstance(rest, cst.Param) and isinstance(node, cst.Name) and rest.name.value == node.value


def _calls_of_objects(
    ev: Evaluator, project: Project, function: Scope, klass: Scope
) -> tuple[tuple[cst.Call, Frame, Values], ...]:
    """The calls of objects of a class that run its `__call__`, in the modules that make these objects.

    `evaluate = Evaluator(classes)` and then `evaluate(model, loader)`, or both in one.
    """
    assert isinstance(klass.node, cst.ClassDef)
    own = klass.node.name.value
    found: list[tuple[cst.Call, Frame, Values]] = []
    for module in (klass.module, *project.callers(klass.module, [own], "function")):
        tree = module.tree
        names: set[str] = set()
        calls: list[cst.Call] = []
        for made in module.calls_named(own)[:CALLERS]:
            above = tree.parent(made)
            if isinstance(above, cst.Call) and above.func is made:
                calls.append(above)
            elif isinstance(above, cst.Assign) and isinstance(above.targets[0].target, cst.Name | cst.Attribute):
                names.add(last_name(above.targets[0].target))
        calls.extend(call for name in sorted(names) for call in module.calls_named(name))
        for call in calls[: CALLERS - len(found)]:
            frame = ev.frame_of(function_scope(tree.scope_of(call)))
            callees = tuple(each for each in ev.values(call.func, frame) if _is_run_by(ev, each, function))
            if callees:
                found.append((call, frame, callees))
    return tuple(found)


def _is_run_by(ev: Evaluator, callee: Value, function: Scope) -> bool:
    """True if calling an object runs `function`, the `__call__` of its class or of a base."""
    if not isinstance(callee, CallResult) or not isinstance(callee.by, Class):
        return False
    method = classes.find_method(ev, ev.bases(callee.by).classes, "__call__")
    return method is not None and method.scope is function


def _subclasses(module: ModuleFacts, name: str) -> list[str]:
    """Names of classes of a module that name a class among their bases and have no constructor."""
    return module.tree.of_text(("subclasses", id(module.root)), lambda: _by_base(module)).get(name, [])


def _by_base(module: ModuleFacts) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for scope in module.tree.root.inner:
        if isinstance(scope.node, cst.ClassDef) and "__init__" not in classes.methods_of(scope):
            for base in dict.fromkeys(last_name(base.value) for base in scope.node.bases):
                found.setdefault(base, []).append(scope.node.name.value)
    return found


def _runs(ev: Evaluator, callee: Value, function: Scope, klass: Scope | None) -> bool:
    if isinstance(callee, Function):
        return callee.scope is function
    if isinstance(callee, Method):
        return callee.function.scope is function
    if isinstance(callee, Partial):
        return False
    if isinstance(callee, Class) and klass is not None:
        method = classes.find_method(ev, ev.bases(callee).classes, "__init__")
        return method is not None and method.scope is function
    return False
