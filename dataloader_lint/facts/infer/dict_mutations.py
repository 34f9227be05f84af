"""What in a function may change a dict, by the name that the dict has there: stores, methods, calls that get it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.values import UNKNOWN, Evaluator, Frame, constant
from dataloader_lint.facts.syntax.names import dotted
from dataloader_lint.facts.syntax.tree import Node, Scope

CHANGING = frozenset({"clear", "pop", "popitem", "setdefault", "update"})


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """A statement or call that may change a dict, and what of it means the dict.

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
    """The methods that may change the dict which an attribute of their object holds, and what each calls that dict."""

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
    """The functions of a class body that may change the dict which is called `name` in them."""
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
