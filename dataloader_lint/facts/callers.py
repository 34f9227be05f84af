"""Who calls a function: calls in its module and in the modules of the project that import it."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts import classes
from dataloader_lint.facts.project import Project
from dataloader_lint.facts.tree import Scope, function_scope
from dataloader_lint.facts.values import Class, Evaluator, Frame, Function, Method, Partial, Value, Values

MAX_CALLS = 24


def calls_of(ev: Evaluator, project: Project, function: Scope) -> tuple[tuple[cst.Call, Frame, Values], ...]:
    """The calls in sight that surely run `function`, each with the frame it stands in and what it calls.

    For `__init__` these are the constructions of its class and of the classes that inherit it.
    """
    node = function.node
    if not isinstance(node, cst.FunctionDef):
        return ()
    name = node.name.value
    klass = classes.class_of(function)
    names = [name]
    if name == "__init__" and klass is not None:
        assert isinstance(klass.node, cst.ClassDef)
        names.extend([klass.node.name.value, *_heirs(klass)])
    elif name == "__call__":
        return ()
    found: list[tuple[cst.Call, Frame, Values]] = []
    home = function.module
    looked_at = 0
    outside = [each for each in names if each != "__init__"]
    kind = "function" if klass is None else "class" if name == "__init__" else "method"
    for module in (home, *project.callers(home, outside, kind)):
        for each in names:
            for call in module.calls_named(each):
                looked_at += 1
                if looked_at > 8 * MAX_CALLS or len(found) >= MAX_CALLS:
                    return tuple(found)
                frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
                callees = tuple(callee for callee in ev.values(call.func, frame) if _runs(ev, callee, function, klass))
                if callees:
                    found.append((call, frame, callees))
    return tuple(found)


def _heirs(klass: Scope) -> list[str]:
    """Names of classes of the same module that name the class among their bases and have no constructor."""
    assert isinstance(klass.node, cst.ClassDef)
    name = klass.node.name.value
    found = []
    for scope in klass.module.tree.root.inner:
        if isinstance(scope.node, cst.ClassDef) and "__init__" not in classes.methods_of(scope):
            if any(isinstance(base.value, cst.Name) and base.value.value == name for base in scope.node.bases):
                found.append(scope.node.name.value)
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
