"""Registries: the classes and functions that a decorator stores in a table, `TABLE[cls.__name__] = cls`.

The table is a global of a module, or an attribute of an object: `@register`, `@register("name")`, `@TABLE.register()`.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.dicts.writes import kept_under
from dataloader_lint.semantics.limits import CHOOSING_MODULES, REGISTERED
from dataloader_lint.semantics.syntax.expressions import decorators, last_name, parameters
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Function, Mapping, Method, Value


def registered(ev: Evaluator, table: Mapping) -> Iterator[Value]:
    """What decorators of the project register in a table that starts empty; nothing for other tables."""
    name = kept_under(table) if _is_empty(table.node) else ""
    owner = table.frame.receiver
    if not name or ("." in name) is not isinstance(owner, CallResult):
        return
    home = table.frame.scope
    inside = classes.class_of(home) if "." in name else home.module.root
    registrars = [*_registrars(inside, name)] if inside is not None and (inside.is_class or home is inside) else []
    if not registrars:
        return
    made_in = owner.frame.scope.module if isinstance(owner, CallResult) and owner.frame is not None else home.module
    names = sorted({each.node.name.value for each in registrars if isinstance(each.node, cst.FunctionDef)})
    number = 0
    for module in (made_in, *ev.project.importers(made_in, names, CHOOSING_MODULES)):
        for scope in _decorated(ev, module, registrars, owner if "." in name else None):
            if number >= REGISTERED:
                return
            number += 1
            outer = ev.frame_of(module.root)
            yield Class(scope, outer) if scope.is_class else Function(scope, outer)


def _is_empty(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Dict):
        return not node.elements
    return isinstance(node, cst.Call) and dotted(node.func) in ("dict", "OrderedDict") and not node.args


def _registrars(inside: Scope, table: str) -> list[Scope]:
    """The functions of a module, or methods of a class, that store by key what they are called with, into a table.

    For one that stores in a nested function, which it returns, it is the outer one.
    """
    found: dict[str, list[Scope]] = inside.module.tree.once(("registrars", id(inside)), dict)
    if table not in found:
        functions = (each for each in inside.inner if each.is_function)
        found[table] = [each for each in functions if any(_stores(one, table) for one in each.descend())]
    return found[table]


def _stores(scope: Scope, table: str) -> bool:
    if not isinstance(scope.node, cst.FunctionDef):
        return False
    own = {param.name.value for param in parameters(scope.node)}
    return any(
        isinstance(each.target, cst.Subscript) and dotted(each.target.value) == table
        for assign in scope.own(cst.Assign)
        if isinstance(assign.value, cst.Name) and assign.value.value in own
        for each in assign.targets
    )


def _decorated(ev: Evaluator, module: ModuleFacts, registrars: list[Scope], owner: Value | None) -> Iterator[Scope]:
    """The classes and functions at the top of a module that one of the functions decorates, as a method of `owner`."""
    names = {each.node.name.value for each in registrars if isinstance(each.node, cst.FunctionDef)}
    for scope in module.root.inner:
        for named in decorators(scope.node):
            if last_name(named) in names and _is_one_of(ev, named, module, registrars, owner):
                yield scope
                break


def _is_one_of(
    ev: Evaluator, named: cst.BaseExpression, module: ModuleFacts, registrars: list[Scope], owner: Value | None
) -> bool:
    for value in ev.values(named, ev.frame_of(module.root)):
        if isinstance(value, Function) and owner is None and value.scope in registrars:
            return True
        if isinstance(value, Method) and value.function.scope in registrars and _is_same(value.receiver, owner):
            return True
    return False


def _is_same(one: Value, other: Value | None) -> bool:
    """True for the same object: what one call made."""
    if not isinstance(one, CallResult) or not isinstance(other, CallResult):
        return False
    return one.call is not None and one.call is other.call
