"""Additions to containers: stores by key, `append` and the like, `+=` with a list, `|=` with a set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from dataloader_lint.semantics.syntax.names import bindings_of, target_paths, written_part
from dataloader_lint.semantics.syntax.tree import Node, Scope


class Adds(Enum):
    """How much a call adds to a container."""

    ONE = "one"
    SEVERAL = "several"  # the elements of its last argument


# By name: methods that add their last argument to what they are called on.
ADDING_METHODS: dict[str, Adds] = {
    "__iadd__": Adds.SEVERAL,
    "__ior__": Adds.SEVERAL,
    "__setitem__": Adds.ONE,
    "add": Adds.ONE,
    "append": Adds.ONE,
    "appendleft": Adds.ONE,
    "extend": Adds.SEVERAL,
    "extendleft": Adds.SEVERAL,
    "insert": Adds.ONE,
    "setdefault": Adds.ONE,
    "update": Adds.SEVERAL,
}
# Functions that add their last argument to their first one.
ADDING_FUNCTIONS: dict[str, Adds] = {
    "heappush": Adds.ONE,
    "iadd": Adds.SEVERAL,
    "iconcat": Adds.SEVERAL,
    "insort": Adds.ONE,
    "insort_left": Adds.ONE,
    "insort_right": Adds.ONE,
    "ior": Adds.SEVERAL,
    "setitem": Adds.ONE,
}


@dataclass(frozen=True, slots=True, eq=False)
class Addition:
    """A statement that looks like adding something."""

    statement: Node
    target: cst.BaseExpression  # the container, still with the subscripts of the store
    key: cst.BaseExpression | None
    value: cst.BaseExpression | None
    are_attributes: bool = False  # the target is an object, which gets an attribute named by the key


def additions(scope: Scope) -> Iterator[Addition]:
    """Statements of a function that add to something that is no name of its own."""
    for assign in scope.own(cst.Assign):
        for each in assign.targets:
            for target, path in target_paths(each.target):
                if isinstance(target, cst.Subscript):
                    index = target.slice[0].slice if len(target.slice) == 1 else None
                    key = index.value if isinstance(index, cst.Index) else None
                    if key is not None:
                        yield Addition(assign, target.value, key, written_part(assign.value, path) or assign.value)
    for call in scope.own(cst.Call):
        yield from _by_call(call, scope)
    for augmented in scope.own(cst.AugAssign):
        value = augmented.value
        if isinstance(augmented.operator, cst.AddAssign) and isinstance(value, cst.List | cst.ListComp):
            yield Addition(augmented, augmented.target, None, value)
        elif isinstance(augmented.operator, cst.BitOrAssign):  # `self.seen |= {index}`, `self.cache |= {index: image}`
            yield from _of_pairs(augmented, augmented.target, value)
            for member in value.elements if isinstance(value, cst.Set) else ():
                yield Addition(augmented, augmented.target, member.value, member.value)


def _by_call(call: cst.Call, scope: Scope) -> Iterator[Addition]:
    if isinstance(call.func, cst.Name) and call.func.value == "setattr" and len(call.args) == 3:
        given, key, value = (arg.value for arg in call.args)
        yield Addition(call, given, key, value, are_attributes=True)
    elif isinstance(call.func, cst.Attribute) and call.args:
        if call.func.attr.value == "update" and len(call.args) == 1 and isinstance(call.args[0].value, cst.Dict):
            yield from _of_pairs(call, call.func.value, call.args[0].value)  # `self.cache.update({index: image})`
        elif call.func.attr.value in ADDING_METHODS:
            yield by_method(call, call.func)
    elif isinstance(call.func, cst.Name) and call.args:
        for method in _bound_methods(call.func, scope):
            yield by_method(call, method)


def _of_pairs(statement: Node, target: cst.BaseExpression, added: cst.BaseExpression) -> Iterator[Addition]:
    for pair in added.elements if isinstance(added, cst.Dict) else ():
        if isinstance(pair, cst.DictElement):
            yield Addition(statement, target, pair.key, pair.value)


def adding_assignments(scope: Scope) -> Iterator[cst.AugAssign]:
    """The `+=` and `|=` of a scope, which add to a container if the target is one; `*= mask` adds nothing."""
    for augmented in scope.own(cst.AugAssign):
        if isinstance(augmented.operator, cst.AddAssign | cst.BitOrAssign):
            yield augmented


def by_method(call: cst.Call, method: cst.Attribute) -> Addition:
    """What a call adds that runs a method of a container."""
    first, last = call.args[0].value, call.args[-1].value
    is_keyed = method.attr.value in ("__setitem__", "add", "setdefault")
    return Addition(call, method.value, first if is_keyed else None, last)


def _bound_methods(name: cst.Name, scope: Scope) -> Iterator[cst.Attribute]:
    """The methods of containers that a local name means: `add = self.seen.add`."""
    for binding in bindings_of(scope).get(name.value, ()):
        if isinstance(binding.value, cst.Attribute) and binding.value.attr.value in ADDING_METHODS and not binding.path:
            yield binding.value
