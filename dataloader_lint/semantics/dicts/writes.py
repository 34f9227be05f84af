"""Changes of a dict after its construction: stores, methods, and calls that get it as an argument."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_passed_after, is_reached
from dataloader_lint.semantics.libraries.short_names import INSPECTING, SAME_ELEMENTS
from dataloader_lint.semantics.syntax.expressions import last_name, parameters
from dataloader_lint.semantics.syntax.names import Kind, bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree
from dataloader_lint.semantics.values.values import (
    ABSENT,
    UNKNOWN,
    Evaluator,
    Frame,
    Function,
    Library,
    Mapping,
    Method,
    Value,
    constant,
)

CHANGING = frozenset({"clear", "pop", "popitem", "setdefault", "update"})
# Calls that read a dict they are given and leave it as it is.
READERS = INSPECTING | SAME_ELEMENTS | {"dict", "format", "pprint", "vars"}
READING_METHODS = frozenset({"debug", "format", "info", "isdisjoint", "update", "warning"})


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """A statement or call that may change a dict, and the part of it that refers to the dict.

    That is the subscript that is stored to or deleted, the name that is added to, the method that is called, or the
    argument.
    """

    node: Node
    part: Node


def touches(scope: Scope, name: str) -> list[Touch]:
    """What in a scope itself may change the dict that is called `name` there, or `self.name`, by kind."""
    return _touches_of(scope).get(name, [])


def _touches_of(scope: Scope) -> dict[str, list[Touch]]:
    return scope.module.tree.of_text(("touches", id(scope)), lambda: _by_name(scope))


def touches_of_attribute(klass: Scope, attribute: str) -> list[tuple[Scope, str]]:
    """The methods that may change the dict in an attribute of their object, with the name each uses for it."""

    def work_out() -> dict[str, list[tuple[Scope, str]]]:
        found: dict[str, list[tuple[Scope, str]]] = {}
        for each in klass.inner:
            own = classes.receiver_name(each)
            for touched in _touches_of(each):
                first, _, rest = touched.partition(".")
                if own and first == own and rest:
                    found.setdefault(rest, []).append((each, touched))
        return found

    return klass.module.tree.of_text(("touching attributes", id(klass)), work_out).get(attribute, [])


def functions_touching(klass: Scope, name: str) -> list[Scope]:
    """The functions of a class body that may change the dict that they call `name`."""
    return [each for each in klass.inner if name in _touches_of(each)]


def key_of(ev: Evaluator, node: cst.Subscript | cst.Attribute, frame: Frame) -> object:
    """The key that a subscript names, or an attribute of a dict that has its keys as such; UNKNOWN if not constant."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    if len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        known = constant(ev.values(node.slice[0].slice.value, frame))
        return known.value if known is not None else UNKNOWN
    return UNKNOWN


def _by_name(scope: Scope) -> dict[str, list[Touch]]:
    by_name: dict[str, list[Touch]] = {}
    for named, node, part in _all_in(scope):
        name = dotted(named)
        known = by_name.setdefault(name, []) if name else []
        if not isinstance(node, cst.Call) or not known or known[-1].node is not node:  # which may be given it twice
            known.append(Touch(node, part))
    for alias, bound in bindings_of(scope).items():
        if alias in by_name and len(bound) == 1 and bound[0].kind is Kind.VALUE and not bound[0].path:
            if (name := dotted(bound[0].value)) and name != alias:  # `other = options`, then `other["a"] = 1`
                by_name.setdefault(name, []).extend(by_name[alias])
    return by_name


def _all_in(scope: Scope) -> Iterator[tuple[cst.BaseExpression, Node, Node]]:
    for assign in scope.own(cst.Assign):
        for each in assign.targets:
            if isinstance(each.target, cst.Subscript | cst.Attribute):
                yield each.target.value, assign, each.target
    for augmented in scope.own(cst.AugAssign):
        yield augmented.target, augmented, augmented.target
    for deleted in scope.own(cst.Del):
        if isinstance(deleted.target, cst.Subscript | cst.Attribute):
            yield deleted.target.value, deleted, deleted.target
    for call in scope.own(cst.Call):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in CHANGING:
            yield call.func.value, call, call.func
        yield from ((arg.value, call, arg) for arg in call.args if arg.star != "**")


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """A statement or call that changes a dict; `key` is UNKNOWN where it is no constant, or where there are several."""

    node: Node
    key: object
    frame: Frame
    is_sure: bool  # whether it surely runs before anybody else sees the dict
    is_update: bool = False
    is_removal: bool = False
    is_default: bool = False  # `setdefault`


def may_change(ev: Evaluator, call: cst.Call, name: str, frame: Frame) -> bool:
    """True if a call may change the dict called `name`, which it is given."""
    if _only_reads(call.func):
        return False
    callees = ev.values(call.func, frame)
    if any(isinstance(each, Library) for each in callees):
        return False
    return not callees or not all(_leaves_alone(each, call, name) for each in callees)


def _leaves_alone(callee: Value, call: cst.Call, name: str) -> bool:
    """True if a function of the project only unpacks the dict, or looks things up in it."""
    function = callee.function if isinstance(callee, Method) else callee
    if not isinstance(function, Function) or not isinstance(function.node, cst.FunctionDef):
        return False
    bound = isinstance(callee, Method) and not classes.is_static(function.node)
    params = [param.name.value for param in parameters(function.node)][1 if bound else 0 :]
    for position, arg in enumerate(call.args):
        if arg.star == "*":
            return False
        if arg.star or dotted(arg.value) != name:
            continue
        param = arg.keyword.value if arg.keyword is not None else params[position] if position < len(params) else ""
        if param not in params or not _is_only_read(function.scope, param):
            return False
    return True


def _is_only_read(scope: Scope, name: str) -> bool:
    tree = scope.module.tree
    assert isinstance(scope.node, cst.FunctionDef)
    for use in tree.named(scope.node.body, name):
        parent = tree.parent(use)
        if isinstance(parent, cst.Subscript) and parent.value is use:
            if isinstance(tree.parent(parent), cst.AssignTarget | cst.AugAssign | cst.Del):
                return False
        elif isinstance(parent, cst.Attribute) and parent.value is use:
            if parent.attr.value not in _LOOKING:
                return False
        elif isinstance(parent, cst.Arg):
            call = tree.parent(parent)
            if parent.star != "**" and not (isinstance(call, cst.Call) and _only_reads(call.func)):
                return False
        elif not isinstance(parent, cst.ComparisonTarget | cst.StarredDictElement):
            return False
    return True


_LOOKING = frozenset({"copy", "get", "items", "keys", "values"})


def _only_reads(callee: cst.BaseExpression) -> bool:
    if isinstance(callee, cst.Attribute):  # other.update(this)
        return callee.attr.value in READING_METHODS
    return isinstance(callee, cst.Name) and callee.value in READERS


def kept_under(value: Mapping) -> str:
    """The name or attribute that a new dict is bound to; empty where there is none."""
    tree = value.frame.scope.module.tree
    assign = tree.parent(value.node) if value.node in tree else None
    if isinstance(assign, cst.Element):
        return _among_several(assign, tree)
    if isinstance(assign, cst.Assign) and len(assign.targets) == 1:
        return dotted(assign.targets[0].target)
    return dotted(assign.target) if isinstance(assign, cst.AnnAssign) else ""


def _among_several(element: cst.Element, tree: Tree) -> str:
    """The name at the same place on the other side: `self.loaders, self.iterators = {}, {}`."""
    written = tree.parent(element)
    assign = tree.parent(written) if isinstance(written, cst.Tuple) else None
    target = assign.targets[0].target if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
    if not isinstance(written, cst.Tuple) or not isinstance(target, cst.Tuple):
        return ""
    if any(isinstance(each, cst.StarredElement) for each in (*written.elements, *target.elements)):
        return ""
    place = next(number for number, each in enumerate(written.elements) if each is element)
    return dotted(target.elements[place].value) if place < len(target.elements) else ""


def stores(ev: Evaluator, value: Mapping, name: str) -> Iterator[Store]:
    """What changes a dict that is kept under `name`: in the same function, for an attribute in the same class."""
    home = value.frame.scope
    scopes = [(home, name)]
    klass = classes.class_of(home)
    first, _, rest = name.partition(".")
    if rest and klass is not None:
        others = (
            touches_of_attribute(klass, rest)
            if first == classes.receiver_name(home)
            else [(each, name) for each in functions_touching(klass, name)]
        )
        scopes += [(each, its_name) for each, its_name in others if each is not home]
    for scope, its_name in scopes:
        frame = value.frame if scope is home else ev.frame_of(scope)
        for touch in sorted(touches(scope, its_name), key=lambda one: scope.module.tree.order(one.node)):
            node, part = touch.node, touch.part
            if isinstance(node, cst.Call) and isinstance(part, cst.Arg):
                if may_change(ev, node, its_name, frame):
                    yield Store(node, UNKNOWN, frame, False)
            elif not ev.cuda or is_reached(ev, node, frame):
                yield _store(ev, touch, frame, scope is home and is_passed_after(ev, node, value.node, frame))


def _store(ev: Evaluator, touch: Touch, frame: Frame, is_sure: bool) -> Store:
    """A change of a dict under its own name: a store, an update, a removal or a default for a key."""
    node, part = touch.node, touch.part
    if isinstance(node, cst.Assign | cst.Del) and isinstance(part, cst.Subscript | cst.Attribute):
        return Store(node, key_of(ev, part, frame), frame, is_sure, is_removal=isinstance(node, cst.Del))
    if isinstance(node, cst.AugAssign):
        is_merge = isinstance(node.operator, cst.BitOrAssign) and not isinstance(part, cst.Subscript)
        return Store(node, None if is_merge else UNKNOWN, frame, is_sure and is_merge, is_update=is_merge)
    method = last_name(part)
    if method == "update":
        return Store(node, None, frame, is_sure, is_update=True)
    first = node.args[0].value if isinstance(node, cst.Call) and node.args else None
    known = constant(ev.values(first, frame)) if first is not None and method in ("pop", "setdefault") else None
    if known is None:
        return Store(node, UNKNOWN, frame, False)
    return Store(node, known.value, frame, is_sure, is_removal=method == "pop", is_default=method == "setdefault")


@dataclass(frozen=True, slots=True, eq=False)
class Touches:
    """The possible changes of a named dict, in document order: by key, of all keys, and of an unknown key."""

    by_key: dict[object, list[tuple[int, Touch]]]
    updates: list[tuple[int, Touch]]
    unsure: list[tuple[int, Node]]


def touches_by_key(ev: Evaluator, scope: Scope, name: str, home: Frame) -> Touches:
    """The possible changes of a dict by key; computed once, unless the result is provisional."""
    known = home.dicts.get(name)
    if isinstance(known, Touches):
        return known
    found, is_final = ev.settled(lambda: _sort(ev, scope, name, home))
    if is_final:
        home.dicts[name] = found
    return found


def _sort(ev: Evaluator, scope: Scope, name: str, home: Frame) -> Touches:
    found = Touches({}, [], [])
    for number, touch in enumerate(touches(scope, name)):
        node, part = touch.node, touch.part
        key: object = ABSENT
        if isinstance(node, cst.Assign | cst.Del) and isinstance(part, cst.Subscript | cst.Attribute):
            key = key_of(ev, part, home)
            if key is UNKNOWN and isinstance(node, cst.Del):
                continue
        elif isinstance(node, cst.AugAssign):
            if isinstance(node.operator, cst.BitOrAssign):
                found.updates.append((number, touch))
        elif isinstance(node, cst.Call) and isinstance(part, cst.Arg):
            if may_change(ev, node, name, home):
                key = UNKNOWN
        elif isinstance(node, cst.Call):
            method = last_name(part)
            if method == "update":
                found.updates.append((number, touch))
            elif method in ("pop", "setdefault") and node.args:
                first = constant(ev.values(node.args[0].value, home))
                key = first.value if first is not None else UNKNOWN
            elif method in ("clear", "popitem"):
                key = UNKNOWN
        if key is UNKNOWN:
            found.unsure.append((number, node))
        elif key is not ABSENT:
            found.by_key.setdefault(key, []).append((number, touch))
    return found
