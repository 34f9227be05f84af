"""Where worker code reads what a binding gives an attribute, and not what another binding of it does."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.datasets.field_uses import AccessSite, FieldUse
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.control.reachability import path_conditions
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node, Scope

_NEGATED = {cst.IsNot: cst.Is, cst.NotEqual: cst.Equal, cst.NotIn: cst.In}

# What a test asks: the operator, and its words without the name of the object; with the answer.
_Asked = tuple[tuple[object, tuple[str, ...]], bool]


def first_read(use: FieldUse, binding: AttributeBinding) -> AccessSite | None:
    """The first place that reads an attribute as `binding` leaves it; any, where all are under an opposite test.

    `self.files` of `if cached is None: self.files = scan(root)` is not read under `if self.cached is not None:`.
    """
    places = [each for each in use.places if each.node in each.scope.module.tree]
    method = binding.method
    names = method.module.tree.of_text(("kept names", id(method)), lambda: _names_of_parameters(method))
    bound = {(asked, wanted) for asked, wanted in _asked_before(binding.node, binding.method, names)}
    for place in places:
        opposite = ((asked, not wanted) for asked, wanted in _asked_before(place.node, place.scope, {}))
        if bound.isdisjoint(opposite):
            return place
    return next(iter(places), None)


def _names_of_parameters(method: Scope) -> dict[str, str]:
    """The attributes as which a method keeps local names as they are: `self.cached = cached`."""
    home = classes.class_of(method)
    return {
        each.value.value: name
        for name, bindings in (classes.attribute_bindings(home) if home is not None else {}).items()
        for each in bindings
        if len(bindings) == 1 and each.method is method and isinstance(each.value, cst.Name) and not each.path
    }


def _asked_before(node: Node, scope: Scope, names: dict[str, str]) -> list[_Asked]:
    """What is asked on the way to a node; `names` says which attributes local names are."""
    own = classes.receiver_name(scope)
    return [_asked(each.test, each.wanted, own, names) for each in path_conditions(node, scope)]


def _asked(test: cst.BaseExpression, wanted: bool, own: str, names: dict[str, str]) -> _Asked:
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, wanted = test.expression, not wanted
    operator: object = None
    parts: list[cst.BaseExpression] = [test]
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        kind = type(test.comparisons[0].operator)
        operator, wanted = _NEGATED.get(kind, kind), wanted != (kind in _NEGATED)
        parts = [test.left, test.comparisons[0].comparator]
    return (operator, tuple(_text(each, own, names) for each in parts)), wanted


def _text(node: cst.BaseExpression, own: str, names: dict[str, str]) -> str:
    """An attribute of the object, or the local name of its value, by the attribute; what else is no chain by itself."""
    chain = dotted(node)
    if isinstance(node, cst.SimpleString | cst.Integer):
        return node.value
    if not chain:
        return f"{type(node).__name__} {id(node)}"
    first, _, rest = chain.partition(".")
    if first == own:
        return f".{rest}"
    return f".{names[first]}{rest and '.'}{rest}" if first in names else chain
