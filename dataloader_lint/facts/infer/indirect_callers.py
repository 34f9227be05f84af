"""Who calls a function without its name: through a decorator, a table of functions, or `map`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.values import (
    ABSENT,
    Argument,
    Evaluator,
    Frame,
    Function,
    Method,
    Partial,
    Value,
    Values,
    merge,
)
from dataloader_lint.facts.limits import INDIRECT_CALLERS
from dataloader_lint.facts.project.project import Project
from dataloader_lint.facts.syntax.names import Kind, resolve
from dataloader_lint.facts.syntax.tree import ModuleFacts, Scope, function_scope

_Calls = Iterator[tuple[cst.Call, Frame, Values]]


def calls_of_wrapper(ev: Evaluator, function: Scope) -> _Calls:
    """The calls of decorated functions, where `function` is what the decorator puts in their place."""
    decorator, factory = _decorator_around(function)
    if decorator is None or not isinstance(decorator.node, cst.FunctionDef):
        return
    maker = factory or decorator
    assert isinstance(maker.node, cst.FunctionDef)
    home = maker.module
    for decorated, call in _decorated(ev, home, maker):
        around = ev.frame_of(decorated.parent) if decorated.parent is not None else ev.frame_of(home.root)
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
    return isinstance(scope.node, cst.FunctionDef) and any(
        isinstance(each.value, cst.Name) and each.value.value == name for each in scope.own(cst.Return)
    )


def _decorated(ev: Evaluator, home: ModuleFacts, maker: Scope) -> Iterator[tuple[Scope, cst.Call | None]]:
    """The functions of a module that a function decorates, each with the call that gives options, if there is one."""
    for scope in home.root.descend():
        node = scope.node
        for each in node.decorators if isinstance(node, cst.FunctionDef) else ():
            call = each.decorator if isinstance(each.decorator, cst.Call) else None
            named = call.func if call is not None else each.decorator
            if isinstance(named, cst.Name) and any(binding.node is maker.node for binding in resolve(named, home.tree)):
                yield scope, call


def _in_place_of(callee: Value, wrapper: Function) -> Iterator[Value]:
    """What runs instead of a decorated function; nothing for a wrapper of methods that takes `*args`."""
    if isinstance(callee, Function):
        yield wrapper
    elif isinstance(callee, Method) and isinstance(wrapper.node, cst.FunctionDef) and wrapper.node.params.params:
        yield Method(wrapper, callee.receiver)


def calls_by_table(ev: Evaluator, project: Project, function: Scope) -> _Calls:
    """The calls of what is looked up in a table that holds a function: `MOVES[where](batch)`."""
    assert isinstance(function.node, cst.FunctionDef)
    own = function.node.name.value
    home = function.module
    tables = home.tree.once(("held in tables", id(home.root)), lambda: _held_in_tables(home))
    names = tables.get(own, ())
    if not names or function.parent is not home.root:
        return
    number = 0
    for module in (home, *project.callers(home, sorted(names), "function")):
        for call in module.all_calls():
            held = _looked_up(ev, call, module, names)
            callees = tuple(each for each in held if isinstance(each, Function) and each.scope is function)
            if callees and number < INDIRECT_CALLERS:
                number += 1
                yield call, ev.frame_of(function_scope(module.tree.scope_of(call))), callees


def _held_in_tables(home: ModuleFacts) -> dict[str, set[str]]:
    """The names of a module's dicts, lists and tuples of functions, by the functions that they hold."""
    found: dict[str, set[str]] = {}
    for assign in home.root.own(cst.Assign):
        target, value = assign.targets[0].target, assign.value
        if isinstance(target, cst.Name) and isinstance(value, cst.Dict | cst.List | cst.Tuple):
            for element in value.elements:
                if isinstance(element.value, cst.Name):
                    found.setdefault(element.value.value, set()).add(target.value)
    return found


def _looked_up(ev: Evaluator, call: cst.Call, module: ModuleFacts, tables: set[str]) -> Values:
    """What a call may run that it looks up in one of some tables: any of what is there, the key may be an option."""
    chosen: cst.BaseExpression | None = call.func
    if isinstance(chosen, cst.Name):
        bindings = resolve(chosen, module.tree)
        chosen = bindings[0].value if len(bindings) == 1 and bindings[0].kind is Kind.VALUE else None
    if isinstance(chosen, cst.Call) and isinstance(chosen.func, cst.Attribute) and chosen.func.attr.value == "get":
        table: cst.BaseExpression = chosen.func.value
    elif isinstance(chosen, cst.Subscript):
        table = chosen.value
    else:
        return ()
    last = table.attr if isinstance(table, cst.Attribute) else table
    if not isinstance(last, cst.Name) or last.value not in tables:
        return ()
    frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
    return merge(*(ev.item(value, ABSENT) for value in ev.values(table, frame)))


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
