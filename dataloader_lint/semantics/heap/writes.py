"""Writes into a container through every name that it has: aliases, parameters, closures, bound methods.

`Place` is one such name in one function. `places_from` follows a container from one place to the others, and
`writes_at` gives the writes there. It is the one place that answers what is added to a container.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.semantics.callers.run_arguments import receiving_parameters
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.heap.repetition import runs_often
from dataloader_lint.semantics.libraries.short_names import MAPPING
from dataloader_lint.semantics.limits import CONTAINER_NAMES
from dataloader_lint.semantics.syntax.additions import ADDING_FUNCTIONS, ADDING_METHODS, Adds, adding_assignments
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, bindings_of, dotted, target_paths, written_part
from dataloader_lint.semantics.syntax.tree import Node, Scope, function_scope
from dataloader_lint.semantics.values.values import Evaluator


@dataclass(frozen=True, slots=True)
class Place:
    """A name of a container in one function: `own.name`, or the local `name` where `own` is empty.

    `method` is set where the name means a bound method of the container: `add = self.items.append`. `is_often` is
    True where the function is passed the container once for each of many things.
    """

    scope: Scope
    own: str
    name: str
    method: str = ""
    is_often: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """What one statement puts into a container."""

    statement: Node
    value: cst.BaseExpression
    scope: Scope  # in which the statement stands
    is_stored: bool = False  # under a key
    are_several: bool = False  # `value` is iterated
    is_often: bool = False  # the function is called for each of many elements


def writes_at(place: Place) -> Iterator[Write]:
    """What a function and those inside it put into a container under one of its names."""
    for scope in scopes_that_see(place):
        uses = _uses(scope)
        if place.method:
            for call in uses.called.get(place.name, ()):
                yield from _by_method(place.method, call, scope, place.is_often)
            for call in uses.mapped.get(("", place.name, ""), ()):
                yield Write(call, call.args[1].value, scope, are_several=True)
            continue
        for write in uses.writes.get((place.own, place.name), ()):
            yield replace(write, is_often=True) if place.is_often else write
        for (own, name, method), calls in uses.mapped.items():
            if (own, name) == (place.own, place.name) and ADDING_METHODS.get(method):
                yield from (Write(call, call.args[1].value, scope, are_several=True) for call in calls)


def places_from(ev: Evaluator, starts: list[Place]) -> list[Place]:
    """The places of a container, the given ones first: its local aliases, and the functions that it is passed to."""
    found = list(starts)
    for place in found:
        for scope in scopes_that_see(place):
            for each in _next_places(ev, scope, place):
                if each not in found:
                    found.append(each)
        if len(found) > CONTAINER_NAMES:
            break
    return found


def scopes_that_see(place: Place) -> Iterator[Scope]:
    """The function of a place, and those in it in which the name means the same."""
    todo = [place.scope]
    for scope in todo:
        yield scope
        for inner in scope.inner:
            is_hidden = inner.is_class or (place.own or place.name) in bindings_of(inner)
            if not is_hidden or (inner.is_comprehension and place.own):
                todo.append(inner)


def names_of_objects(scope: Scope, attribute: str) -> list[str]:
    """What a function and those inside it call the objects with whose attribute of this name they do anything."""

    def work_out() -> dict[str, list[str]]:
        found: dict[str, dict[str, None]] = {}
        for each in scope.descend():
            uses = _uses(each)
            for own, name, *_ in (*uses.writes, *uses.mapped, *uses.aliases, *uses.passed):
                found.setdefault(name, {})[own] = None
        return {name: list(objects) for name, objects in found.items()}

    return scope.module.tree.once(("names of objects", id(scope)), work_out).get(attribute, [])


def kept_under(node: cst.CSTNode) -> tuple[str, str] | None:
    """The object and its attribute that an expression is, or is something in; for a local name the object is empty."""
    while isinstance(node, cst.Subscript):
        node = node.value
    if isinstance(node, cst.Name):
        return "", node.value
    if not isinstance(node, cst.Attribute):
        return None
    owner = node.value
    if isinstance(owner, cst.Attribute) and owner.attr.value == "__class__":  # self.__class__.items
        owner = owner.value
    elif isinstance(owner, cst.Call) and dotted(owner.func) == "type" and len(owner.args) == 1:  # type(self).items
        owner = owner.args[0].value
    elif isinstance(owner, cst.Attribute) and isinstance(owner.value, cst.Name):  # self.index.files
        return owner.value.value, f"{owner.attr.value}.{node.attr.value}"
    return (owner.value, node.attr.value) if isinstance(owner, cst.Name) else None


@dataclass(frozen=True, slots=True)
class _Uses:
    """What the statements of a scope do with containers, by the names under which they do it."""

    writes: dict[tuple[str, str], list[Write]]
    called: dict[str, list[cst.Call]]  # calls of local names
    mapped: dict[tuple[str, str, str], list[cst.Call]]  # `map(self.items.append, values)`: object, name, method
    aliases: dict[tuple[str, str, str], list[str]]  # local names bound to a container, or to a method of one
    passed: dict[tuple[str, str, str], list[tuple[cst.Call, cst.BaseExpression]]]
    made: dict[int, list[str]]  # local names bound to calls, by the `id` of the call


def _uses(scope: Scope) -> _Uses:
    return scope.module.tree.once(("uses of containers", id(scope)), lambda: _find_uses(scope))


def _find_uses(scope: Scope) -> _Uses:
    uses = _Uses({}, {}, {}, {}, {}, {})
    for owner, write in _written(scope):
        kept = kept_under(owner)
        if kept is not None:
            uses.writes.setdefault(kept, []).append(write)
    for call in scope.own(cst.Call):
        if isinstance(call.func, cst.Name):
            uses.called.setdefault(call.func.value, []).append(call)
        if last_name(call.func) in MAPPING and len(call.args) > 1:
            for key in _method_or_container(call.args[0].value):
                uses.mapped.setdefault(key, []).append(call)
        for given in _given(call):
            for key in _method_or_container(given):
                uses.passed.setdefault(key, []).append((call, given))
    for name, bindings in bindings_of(scope).items() if not scope.is_class else ():
        for binding in bindings:
            value = binding.written
            if binding.kind is Kind.ELEMENT and binding.value is not None:
                value = _iterated(binding.value, binding.path)
            if isinstance(value, cst.Call):
                uses.made.setdefault(id(value), []).append(name)
            for key in _method_or_container(value) if value is not None else ():
                uses.aliases.setdefault(key, []).append(name)
    return uses


def _iterated(value: cst.BaseExpression, path: tuple[int, ...]) -> cst.BaseExpression | None:
    """The container whose elements a loop gives a name: `columns` for `for column, part in zip(columns, row)`."""
    while isinstance(value, cst.Call):
        name = last_name(value.func)
        if name == "zip" and path and 0 <= path[0] < len(value.args):
            value, path = value.args[path[0]].value, path[1:]
        elif name == "enumerate" and path[:1] == (1,) and value.args:
            value, path = value.args[0].value, path[1:]
        elif isinstance(value.func, cst.Attribute) and (name, path) in (("values", ()), ("items", (1,))):
            return value.func.value
        else:
            return None
    return value if not path else None


def _given(call: cst.Call) -> Iterator[cst.BaseExpression]:
    """What a call is given, also inside of `args=(names, self.shapes)`."""
    for arg in call.args:
        yield arg.value
        if isinstance(arg.value, cst.Tuple | cst.List):
            yield from (element.value for element in arg.value.elements)


def _method_or_container(node: cst.BaseExpression) -> Iterator[tuple[str, str, str]]:
    """The object, the name and the method that an expression is: `self`, `items`, `append`; the method may be none."""
    if isinstance(node, cst.IfExp):
        yield from _method_or_container(node.body)
        yield from _method_or_container(node.orelse)
        return
    if isinstance(node, cst.Attribute) and node.attr.value in ADDING_METHODS:
        kept = kept_under(node.value)
        if kept is not None:
            yield (*kept, node.attr.value)
            return
    kept = kept_under(node) if not isinstance(node, cst.Subscript) else None
    if kept is not None:
        yield (*kept, "")


def _next_places(ev: Evaluator, scope: Scope, place: Place) -> Iterator[Place]:
    uses = _uses(scope)
    methods = [place.method] if place.method else ["", *ADDING_METHODS]
    for method in methods:
        key = (place.own, place.name, "" if place.method else method)
        for name in uses.aliases.get(key, ()):
            yield Place(scope, "", name, method, place.is_often)
        for call, given in uses.passed.get(key, ()):
            is_often = place.is_often or any(runs_often(ev, scope, each) for each in (call, *_runs_of(call, uses)))
            for function, param in receiving_parameters(ev, call, given, scope):
                yield Place(function, "", param, method, is_often)
                yield from _kept_by_object(function, param, method, is_often)


def _runs_of(call: cst.Call, uses: _Uses) -> Iterator[cst.Call]:
    """Where a scope calls what `functools.partial` makes: `add = partial(keep, self.files)` and then `add(name)`."""
    if last_name(call.func) == "partial":
        for name in uses.made.get(id(call), ()):
            yield from uses.called.get(name, ())


def _kept_by_object(function: Scope, param: str, method: str, is_often: bool) -> Iterator[Place]:
    """The attribute as which the constructor of a helper keeps what it is given, in all methods of the helper."""
    home = classes.class_of(function)
    for name, bindings in (classes.attribute_bindings(home) if home is not None else {}).items():
        for binding in bindings:
            value = binding.value if binding.method is function else None
            if isinstance(value, cst.Name) and value.value == param and not binding.path and home is not None:
                for other in classes.methods_of(home).values():
                    yield Place(other, classes.receiver_name(other), name, method, is_often)


def _written(scope: Scope) -> Iterator[tuple[cst.CSTNode, Write]]:
    """What the statements of a scope itself put into containers, with the expressions for these."""
    for call in scope.own(cst.Call):
        for owner in _owners(call):
            assert isinstance(call.func, cst.Attribute | cst.Name)
            for write in _by_method(last_name(call.func), call, scope, False):
                yield owner, write
        if last_name(call.func) in ADDING_FUNCTIONS and len(call.args) > 1:
            adds = ADDING_FUNCTIONS[last_name(call.func)]
            yield call.args[0].value, Write(call, call.args[-1].value, scope, are_several=adds is Adds.SEVERAL)
    for assign in scope.own(cst.Assign):
        for each in assign.targets:
            for target, path in target_paths(each.target):
                if isinstance(target, cst.Subscript):
                    value = written_part(assign.value, path) or assign.value
                    yield target, Write(assign, value, scope, is_stored=True)
    for augmented in adding_assignments(scope):
        yield augmented.target, Write(augmented, augmented.value, scope, are_several=True)


def _owners(call: cst.Call) -> Iterator[cst.BaseExpression]:
    """The containers whose method a call is, one for each arm of `(todo if deep else self.files).append(path)`."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in ADDING_METHODS:
        return
    owner = call.func.value
    if isinstance(owner, cst.Call):  # x.setdefault(k, []).append(v), or `put(k, []).append(v)` with a bound method
        if isinstance(owner.func, cst.Attribute):
            yield owner.func.value
        return
    yield from (owner.body, owner.orelse) if isinstance(owner, cst.IfExp) else (owner,)


def _by_method(method: str, call: cst.Call, scope: Scope, is_often: bool) -> Iterator[Write]:
    if call.args:
        adds = ADDING_METHODS[method]
        is_stored = method == "__setitem__"
        yield Write(call, call.args[-1].value, scope, is_stored, adds is Adds.SEVERAL, is_often)


def home_of(write: Write) -> Scope:
    """The function in whose frame a write runs."""
    return function_scope(write.scope)
