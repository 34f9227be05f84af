"""Calls of a function that is passed as a value: through a parameter, an attribute, or a loop variable."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.limits import PASSED_FUNCTION_CALLS, PASSED_FUNCTIONS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve, written_part
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import Class, Evaluator, Frame, Function, Method, Value, Values

_ADDING = frozenset({"append", "insert", "register"})


def calls_of_passed(ev: Evaluator, function: Scope) -> Iterator[tuple[cst.Call, Frame, Values]]:
    """The calls that run a function which its module gives to another call, or puts in a list that a loop reads."""
    assert isinstance(function.node, cst.FunctionDef)
    module = function.module
    seen: set[int] = set()
    for place in _places_passed(module).get(function.node.name.value, ())[:PASSED_FUNCTIONS]:
        for call, home in _calls_behind(ev, place, module):
            if id(call) in seen or len(seen) >= PASSED_FUNCTION_CALLS:
                continue
            seen.add(id(call))
            frame = ev.frame_of(function_scope(home.tree.scope_of(call)))
            callees = tuple(each for each in ev.values(call.func, frame) if is_function(each, function))
            if callees:
                yield call, frame, callees


def is_function(value: Value, function: Scope) -> bool:
    """True if a value is a function or a bound method of it."""
    value = value.function if isinstance(value, Method) else value
    return isinstance(value, Function) and value.scope is function


def _places_passed(module: ModuleFacts) -> dict[str, list[cst.BaseExpression]]:
    """The places of a module where something is an argument or an element of a list, by the last part of its name."""
    return module.tree.of_text(("passed functions", id(module.root)), lambda: _by_name(module))


def _by_name(module: ModuleFacts) -> dict[str, list[cst.BaseExpression]]:
    found: dict[str, list[cst.BaseExpression]] = {}
    tree = module.tree
    arguments = (node.value for node in tree.find(module.root.node, cst.Arg))
    elements = (node.value for node in tree.find(module.root.node, cst.Element))
    for value in (*arguments, *elements):
        if type(value) is cst.Name or type(value) is cst.Attribute:
            found.setdefault(last_name(value), []).append(value)
    return found


def _calls_behind(
    ev: Evaluator, place: cst.BaseExpression, module: ModuleFacts
) -> Iterator[tuple[cst.Call, ModuleFacts]]:
    """The calls that may run what stands at a place, each with its module."""
    tree = module.tree
    holder = tree.parent(place)
    outside = tree.parent(holder) if holder is not None else None
    if isinstance(holder, cst.Arg) and isinstance(outside, cst.Call):
        func = outside.func
        if isinstance(func, cst.Attribute) and func.attr.value in _ADDING:
            yield from _calls_in_loops(last_name(func.value), module)
            return
        frame = ev.frame_of(function_scope(tree.scope_of(outside)))
        for callee in ev.values(func, frame):
            yield from _calls_of_parameter(ev, callee, outside, holder)
    elif isinstance(holder, cst.Element) and outside is not None:
        assign = tree.parent(outside)
        if isinstance(assign, cst.Assign):
            yield from _calls_in_loops(last_name(assign.targets[0].target), module)


def _calls_in_loops(name: str, module: ModuleFacts) -> Iterator[tuple[cst.Call, ModuleFacts]]:
    """`hook(batch)` in `for hook in self.hooks:`."""
    for loop in module.tree.find(module.root.node, cst.For):
        if name and last_name(loop.iter) == name and isinstance(loop.target, cst.Name):
            for call in module.tree.find(loop.body, cst.Call):
                if isinstance(call.func, cst.Name) and call.func.value == loop.target.value:
                    yield call, module


def _calls_of_parameter(
    ev: Evaluator, callee: Value, call: cst.Call, arg: cst.Arg
) -> Iterator[tuple[cst.Call, ModuleFacts]]:
    """The calls of the parameter that an argument is passed for, or of the attribute that a constructor makes of it."""
    function: Function | None = None
    if isinstance(callee, Function):
        function = callee
    elif isinstance(callee, Method):
        function = callee.function
    elif isinstance(callee, Class):
        function = classes.find_method(ev, ev.bases(callee).classes, "__init__")
    if function is None or not isinstance(function.node, cst.FunctionDef):
        return
    module, scope = function.scope.module, function.scope
    name = _parameter(function.node, call, arg, not isinstance(callee, Function))
    for each in scope.within(cst.Call):
        if isinstance(each.func, cst.Name) and _is_parameter(each.func, name, scope, module.tree):
            yield each, module
    owner = classes.class_of(scope)
    for bindings in classes.attribute_bindings(owner).values() if owner is not None and name else ():
        for binding in bindings:
            kept = written_part(binding.value, binding.path) if binding.value is not None else None
            if binding.method is scope and isinstance(kept, cst.Name) and kept.value == name:
                yield from ((each, module) for each in module.calls_named(binding.name))


def _parameter(function: cst.FunctionDef, call: cst.Call, arg: cst.Arg, is_bound: bool) -> str:
    """The name of the parameter that an argument is passed for; empty where that is not known."""
    if arg.star:
        return ""
    if arg.keyword is not None:
        return arg.keyword.value
    position = 0
    for each in call.args:
        if each is arg:
            break
        if each.star:
            return ""
        position += 1
    names = [param.name.value for param in function.params.params]
    if is_bound and not classes.is_static(function):
        names = names[1:]
    return names[position] if position < len(names) else ""


def _is_parameter(name: cst.Name, wanted: str, scope: Scope, tree: Tree) -> bool:
    return name.value == wanted and any(
        each.kind is Kind.PARAMETER and each.scope is scope for each in resolve(name, tree)
    )
