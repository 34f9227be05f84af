"""Calls that do not name the function: through a decorator, or by `map`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.limits import CHOOSING_MODULES, INDIRECT_CALLERS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, function_scope
from dataloader_lint.semantics.values.values import (
    Argument,
    Class,
    Evaluator,
    Frame,
    Function,
    Method,
    Partial,
    Value,
    Values,
    merge,
)

_Calls = Iterator[tuple[cst.Call, Frame, Values]]


def calls_of_wrapper(ev: Evaluator, function: Scope) -> _Calls:
    """The calls of decorated functions, where `function` is the wrapper that the decorator returns."""
    decorator, factory = _decorator_around(function)
    if decorator is None or not isinstance(decorator.node, cst.FunctionDef):
        return
    maker = factory or decorator
    assert isinstance(maker.node, cst.FunctionDef)
    home = maker.module
    for decorated, call in _decorated(ev, maker, (home,)):
        if decorated.is_class:
            continue
        around = ev.frame_of(decorated.parent or decorated.module.root)
        outer = ev.frame_of(decorator).outer
        if factory is not None:
            made = Function(factory, ev.frame_of(factory).outer or ev.frame_of(home.root))
            outer = ev.enter(made, call, around, None) if call is not None else ev.frame_of(factory)
        names = [param.name.value for param in decorator.node.params.params[:1]]
        given: dict[str, Argument] = {name: Argument(None, None, Function(decorated, around)) for name in names}
        wrapper = Function(function, Frame(decorator, given, None, outer, 1))
        for each, frame, callees in ev.callers(decorated):
            found = tuple(one for callee in callees for one in _in_place_of(callee, wrapper))
            if found:
                yield each, frame, found


def _decorator_around(function: Scope) -> tuple[Scope | None, Scope | None]:
    """The decorator that returns a function defined in it, and the function that returns the decorator, if one does."""
    decorator = function.parent
    if decorator is None or classes.class_of(function) is not None or not _returns(decorator, function):
        return None, None
    outside = decorator.parent
    return decorator, outside if outside is not None and _returns(outside, decorator) else None


def _returns(scope: Scope, inner: Scope) -> bool:
    name = inner.node.name.value if isinstance(inner.node, cst.FunctionDef) else ""
    return isinstance(scope.node, cst.FunctionDef) and _returns_name(scope, name)


def _returns_name(scope: Scope, name: str) -> bool:
    return any(isinstance(each.value, cst.Name) and each.value.value == name for each in scope.own(cst.Return))


def decorated_with(ev: Evaluator, function: Scope) -> Values:
    """The classes and functions that a function registers as their decorator and returns: its first argument."""
    node = function.node
    params = node.params.params if isinstance(node, cst.FunctionDef) else ()
    if len(params) != 1 or not _returns_name(function, params[0].name.value):
        return ()
    parent = function.parent
    maker = parent if parent is not None and parent.is_function and _returns(parent, function) else function
    assert isinstance(maker.node, cst.FunctionDef)
    importers = ev.project.importers(maker.module, [maker.node.name.value], CHOOSING_MODULES)
    return tuple(_as_value(ev, scope) for scope, _ in _decorated(ev, maker, (maker.module, *importers)))


def _as_value(ev: Evaluator, scope: Scope) -> Class | Function:
    around = ev.frame_of(scope.parent or scope.module.root)
    return Class(scope, around) if scope.is_class else Function(scope, around)


def _decorated(
    ev: Evaluator, maker: Scope, modules: tuple[ModuleFacts, ...]
) -> Iterator[tuple[Scope, cst.Call | None]]:
    """What some modules decorate with a function, each with the call that gives options, if there is one."""
    if maker.parent is not maker.module.root or not isinstance(maker.node, cst.FunctionDef):
        return
    name = maker.node.name.value
    for module in modules:
        for scope in module.root.descend():
            node = scope.node
            for each in node.decorators if isinstance(node, cst.FunctionDef | cst.ClassDef) else ():
                call = each.decorator if isinstance(each.decorator, cst.Call) else None
                named = call.func if call is not None else each.decorator
                if isinstance(named, cst.Name | cst.Attribute) and last_name(named) == name:
                    if _is_named(ev, named, module, maker):
                        yield scope, call


def _is_named(ev: Evaluator, named: cst.BaseExpression, module: ModuleFacts, maker: Scope) -> bool:
    found = ev.values(named, ev.frame_of(module.root))
    return any(isinstance(value, Function) and value.scope is maker for value in found)


def _in_place_of(callee: Value, wrapper: Function) -> Iterator[Value]:
    """The wrapper that runs instead of a decorated function; nothing for a wrapper of methods that takes `*args`."""
    if isinstance(callee, Function):
        yield wrapper
    elif isinstance(callee, Method) and isinstance(wrapper.node, cst.FunctionDef) and wrapper.node.params.params:
        yield Method(wrapper, callee.receiver)


def mapped_over(ev: Evaluator, function: Scope) -> Iterator[tuple[Value, Values]]:
    """The functions and partials of a function that `map` calls in its module, each with what it is called with."""
    if not isinstance(function.node, cst.FunctionDef) or function.parent is not function.module.root:
        return
    module = function.module
    own = function.node.name.value
    for call in module.calls_named("map")[:INDIRECT_CALLERS]:
        if len(call.args) != 2 or any(arg.star or arg.keyword for arg in call.args):
            continue
        first, second = (arg.value for arg in call.args)
        if own not in module.tree.words(first).split():
            continue
        frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
        for value in ev.values(first, frame):
            callee = value.callee if isinstance(value, Partial) else value
            if isinstance(callee, Function) and callee.scope is function:
                yield value, merge(*(ev.element(each) for each in ev.values(second, frame)))
