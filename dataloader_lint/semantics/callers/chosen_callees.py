"""Calls of a class or function by another name: an alias, an entry of a table, or a name known only at run time.

`make = Images`, `RUNNERS[task](model)`, `getattr(models, args.name)(root)`, `globals()[name](root)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from dataloader_lint.semantics.dicts.writes import kept_under
from dataloader_lint.semantics.limits import ALIAS_CHAIN, CALLERS, CHOOSING_MODULES
from dataloader_lint.semantics.syntax.expressions import decorators, last_name
from dataloader_lint.semantics.syntax.names import dotted, target_paths
from dataloader_lint.semantics.syntax.origins import origins
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, function_scope
from dataloader_lint.semantics.values.values import (
    ABSENT,
    Class,
    Evaluator,
    Frame,
    Function,
    Mapping,
    Module,
    Values,
    constant,
    merge,
)

# Builtins that look a name up which is known at run time only.
_BY_NAME = frozenset({"__dict__", "eval", "getattr", "globals", "locals", "vars"})


def calls_of_chosen(ev: Evaluator, own: Scope, name: str) -> Iterator[tuple[cst.Call, Frame, Values]]:
    """The calls that may run a class or function without its own name, each with all that it may run.

    `own` is a scope at the top of a module. Its module is searched, those of its decorators, which may register it, and
    a few that import these. For a function these are searched only if it has another name at home: most functions that
    nobody calls are run by a library.
    """
    names = frozenset({name})
    modules: dict[ModuleFacts, None] = {}
    for module in (own.module, *_decorating(ev, own)):
        names = _aliases(module, names)
        by_name = (
            ev.project.importers(module, sorted(names), CHOOSING_MODULES) if own.is_class or len(names) > 1 else ()
        )
        modules.update(dict.fromkeys((module, *by_name)))
    if own.is_class:
        by_text = ev.project.importers(own.module, ["getattr", "__dict__"], CHOOSING_MODULES)
        modules.update(dict.fromkeys(by_text))
    number = 0
    for module in modules:
        for call in _calls_by_alias(module, names | _BY_NAME, name):
            if number >= 2 * CALLERS:
                return
            number += 1
            frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
            yield call, frame, _chosen(ev, call.func, frame) or _looked_up(ev, call.func, frame, name)


def _decorating(ev: Evaluator, own: Scope) -> list[ModuleFacts]:
    """The other modules of the project whose functions decorate a class or function."""
    found: dict[ModuleFacts, None] = {}
    for named in decorators(own.node):
        for value in ev.values(named, ev.frame_of(own.module.root)):
            if isinstance(value, Function) and value.scope.module is not own.module:
                found[value.scope.module] = None
    return list(found)


def _names_in(nodes: Iterable[cst.BaseExpression | None], module: ModuleFacts) -> set[str]:
    return {name.value for node in nodes if node is not None for name in module.tree.find(node, cst.Name)}


def _calls_by_alias(module: ModuleFacts, names: frozenset[str], own: str) -> list[cst.Call]:
    """The calls of what is made from one of some names, in document order; not those by the name `own` itself."""
    once = module.tree.once
    chosen = once(("calls of what is chosen in place", id(module.root)), lambda: _calls_in_place(module))
    found: dict[int, cst.Call] = {}
    for alias in _aliases(module, names):
        if alias != own and alias not in _BY_NAME:
            found.update((id(call), call) for call in module.calls_named(alias) if _is_named(call))
        found.update((id(call), call) for call in chosen.get(alias, ()))
    return sorted(found.values(), key=module.tree.order)


def _is_named(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Name | cst.Attribute)


def _calls_in_place(module: ModuleFacts) -> dict[str, list[cst.Call]]:
    """The calls whose callee is looked up or made on the spot, by each name in it: `KINDS[name](x)`, `make()(x)`."""
    found: dict[str, list[cst.Call]] = {}
    for call in module.all_calls():
        for name in _names_in((call.func,), module) if not _is_named(call) else ():
            found.setdefault(name, []).append(call)
    return found


def _aliases(module: ModuleFacts, names: frozenset[str]) -> frozenset[str]:
    """Some names, and the variables, attributes and functions of a module that may be aliases of them."""
    by_name = module.tree.once(("aliases by name", id(module.root)), lambda: _by_used_name(_names_by_alias(module)))
    found, new = set(names), set(names)
    for _ in range(ALIAS_CHAIN):
        new = {alias for name in new for alias in by_name.get(name, ())} - found
        found |= new
    return frozenset(found)


def _by_used_name(sources: dict[str, set[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for alias, used in sources.items():
        for name in used:
            found.setdefault(name, []).append(alias)
    return found


def _names_by_alias(module: ModuleFacts) -> dict[str, set[str]]:
    """By name, attribute and function of a module: all names in what it is bound to, returns, or decorates.

    A table may hold what the functions that fill it are called with: `REGISTRY[name] = cls` in `register(cls)`.
    """
    found: dict[str, set[str]] = {}
    for scope in module.root.descend():
        filling = set(_functions_around(scope))
        for assign in scope.own(cst.Assign):
            used = _names_in((assign.value,), module)
            for each in assign.targets:
                for target, _ in target_paths(each.target):
                    is_store = isinstance(target, cst.Subscript)
                    alias = last_name(target.value if isinstance(target, cst.Subscript) else target)
                    found.setdefault(alias, set()).update(used | filling if is_store else used)
        node = scope.node
        if not isinstance(node, cst.FunctionDef | cst.ClassDef):
            continue
        if isinstance(node, cst.FunctionDef):
            returned = (each.value for each in scope.own(cst.Return))
            found.setdefault(node.name.value, set()).update(_names_in(returned, module))
        for named in decorators(node):
            found.setdefault(last_name(named), set()).add(node.name.value)
    found.pop("", None)
    return found


def _functions_around(scope: Scope) -> Iterator[str]:
    """The names of a function and of those around it."""
    current: Scope | None = scope
    while current is not None:
        if isinstance(current.node, cst.FunctionDef):
            yield current.node.name.value
        current = current.parent


def _chosen(ev: Evaluator, func: cst.BaseExpression, frame: Frame) -> Values:
    """The classes and functions that an expression can be; of a table, all: the key may be an option."""
    if isinstance(func, cst.Subscript):
        found = merge(*(ev.item(value, ABSENT) for value in ev.values(func.value, frame)))
    else:
        found = ev.values(func, frame)
    return tuple(value for value in found if isinstance(value, Class | Function))


def _looked_up(ev: Evaluator, node: cst.CSTNode | None, frame: Frame, own: str, depth: int = 0) -> Values:
    """What `own` means where an expression looks up a name that is known at run time only; empty elsewhere."""
    if depth > ALIAS_CHAIN:
        return ()
    found = origins(node, frame.scope.module.tree) if isinstance(node, cst.BaseExpression) else ()
    return merge(*(_meant(ev, each, frame, own, depth) for each in found))


def _meant(ev: Evaluator, node: cst.BaseExpression, frame: Frame, own: str, depth: int) -> Values:
    if isinstance(node, cst.Subscript):
        return _in_table(ev, node.value, frame, own)
    if not isinstance(node, cst.Call) or not node.args:
        return ()
    called = dotted(node.func)
    if called == "getattr" and len(node.args) > 1:
        if constant(ev.values(node.args[1].value, frame)) is not None:
            return ()
        scopes = _modules(ev, node.args[0].value, frame)
    elif called == "eval":
        scopes = [] if isinstance(node.args[0].value, cst.BaseString) else [frame.scope.module.root]
    elif last_name(node.func) == "get" and isinstance(node.func, cst.Attribute):
        return _in_table(ev, node.func.value, frame, own)
    else:
        functions = [value.scope for value in ev.values(node.func, frame) if isinstance(value, Function)]
        returned = ((each.value, ev.frame_of(scope)) for scope in functions for each in scope.own(cst.Return))
        return merge(*(_looked_up(ev, value, inside, own, depth + 1) for value, inside in returned))
    return merge(*(ev.member(scope, own) for scope in scopes))


def _in_table(ev: Evaluator, table: cst.BaseExpression, frame: Frame, own: str) -> Values:
    """What `own` means where a table holds the names of a module, and what functions store into a table."""
    found = [ev.member(scope, own) for scope in _names_of(ev, table, frame)]
    for value in ev.values(table, frame):
        name = kept_under(value) if isinstance(value, Mapping) else ""
        if name and isinstance(value, Mapping):
            for scope, stored in _stored_under(name, value.frame.scope.module):
                found.append(ev.values(stored, ev.frame_of(scope)))
    return tuple(value for value in merge(*found) if isinstance(value, Class | Function))


def _stored_under(name: str, module: ModuleFacts) -> Iterator[tuple[Scope, cst.BaseExpression]]:
    """What the functions of a module store by key into what they call `name`."""
    for scope in module.root.descend():
        for assign in scope.own(cst.Assign) if scope.is_function else ():
            for each in assign.targets:
                if type(each.target) is cst.Subscript and dotted(each.target.value) == name:
                    yield scope, assign.value


def _names_of(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> list[Scope]:
    """The modules whose names a dict holds: `globals()`, `vars(models)`, `models.__dict__`."""
    if isinstance(node, cst.Attribute) and node.attr.value == "__dict__":
        return _modules(ev, node.value, frame)
    if not isinstance(node, cst.Call) or dotted(node.func) not in _BY_NAME:
        return []
    return _modules(ev, node.args[0].value, frame) if node.args else [frame.scope.module.root]


def _modules(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> list[Scope]:
    if isinstance(node, cst.Subscript) and dotted(node.value) == "sys.modules":
        index = node.slice[0].slice
        is_own = isinstance(index, cst.Index) and dotted(index.value) == "__name__"
        return [frame.scope.module.root] if is_own else []
    return [value.scope for value in ev.values(node, frame) if isinstance(value, Module)]
