"""What `isinstance` tells of the value that a branch binds: in the `else` of `isinstance(rows, dict)` it is no dict."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.facts.branches import on_the_way, tests_around
from dataloader_lint.facts.classes import AttributeBinding
from dataloader_lint.facts.forms import Form
from dataloader_lint.facts.names import dotted
from dataloader_lint.facts.tree import Scope
from dataloader_lint.facts.values import Frame

_TYPES = {Form.DICT: frozenset({"dict", "Mapping"}), Form.LIST: frozenset({"list", "tuple", "Sequence"})}


def is_told_apart(binding: AttributeBinding, form: Form) -> bool:
    """Whether a test around a binding says that what is bound has not this form."""
    if not isinstance(binding.value, cst.Name | cst.Attribute):
        return False
    own = _TYPES[form]
    for names, answer in _tests_of_type(binding, binding.value):
        if not answer and not own.isdisjoint(names):
            return True
        if answer and own.isdisjoint(names) and names <= frozenset().union(*_TYPES.values()):
            return True
    return False


def _tests_of_type(binding: AttributeBinding, value: cst.BaseExpression) -> Iterator[tuple[frozenset[str], bool]]:
    """The types by which the value is told, each with whether it is of one of them where the binding stands."""
    return _types_told(value, tests_around(binding.node, Frame(binding.method)), binding.method)


def is_no_list(node: cst.CSTNode, value: cst.BaseExpression, scope: Scope) -> bool:
    """Whether a test on the way to a node says that a value is no list: the `else` of `isinstance(self.x, list)`."""
    tests = [(each.test, each.wanted) for each in on_the_way(node, scope)]
    return any(not answer and "list" in names for names, answer in _types_told(value, tests, scope))


def _types_told(
    value: cst.BaseExpression, tests: list[tuple[cst.BaseExpression, bool]], scope: Scope
) -> Iterator[tuple[frozenset[str], bool]]:
    tree = scope.module.tree
    for test, answer in tests:
        while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            test, answer = test.expression, not answer
        if not isinstance(test, cst.Call) or dotted(test.func) != "isinstance" or len(test.args) != 2:
            continue
        told, types = test.args[0].value, test.args[1].value
        if tree.spelling(told) == tree.spelling(value):
            each = [part.value for part in types.elements] if isinstance(types, cst.Tuple) else [types]
            yield frozenset(dotted(one).rpartition(".")[2] for one in each), answer
