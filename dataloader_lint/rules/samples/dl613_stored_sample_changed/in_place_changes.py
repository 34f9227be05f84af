"""Statements and calls that change something in place, from what it was before.

`x *= 2`, `item["boxes"] = flip(item["boxes"])`, `item.pop("path")` count. What is set again each time, such as
`item["index"] = index`, does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.rules.samples.dl613_stored_sample_changed.idempotent import is_idempotent
from dataloader_lint.rules.samples.dl613_stored_sample_changed.local_values import asks_length
from dataloader_lint.semantics.limits import STORED_ALIAS_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve, target_paths, written_out
from dataloader_lint.semantics.syntax.origins import only_value
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree

# Methods of lists, dicts and sets that give something else when they run again.
_CHANGING = frozenset({"append", "extend", "insert", "pop", "popitem", "popleft", "remove", "reverse"})
# Methods of tensors that change their memory, from what was in it.
IN_PLACE = frozenset({"add_", "div_", "exp_", "flip_", "log_", "mul_", "neg_", "normal_", "pow_", "sqrt_", "sub_"})


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A place that changes something from what it was before, what it changes, and the method that does it, if any."""

    node: Node
    target: cst.BaseExpression
    method: str = ""


def changes(scope: Scope) -> Iterator[Change]:
    """The places of a function that change something from what it was before, in the order of the document."""
    tree = scope.module.tree
    found = [
        Change(each, each.target)
        for each in scope.within(cst.AugAssign)
        if not asks_length(each.value, each.target, scope)
    ]
    for assign in scope.within(cst.Assign):
        found.extend(Change(assign, place) for place in _changed_places(scope, assign))
    for call in scope.within(cst.Call):
        if isinstance(call.func, cst.Attribute) and last_name(call.func) in _CHANGING | IN_PLACE:
            if not any(asks_length(arg.value, call.func.value, scope) for arg in call.args):
                found.append(Change(call, call.func.value, last_name(call.func)))
    for deleted in scope.within(cst.Del):
        if isinstance(deleted.target, cst.Subscript):
            found.append(Change(deleted, deleted.target))
    return iter(sorted(found, key=lambda change: tree.order(change.node)))


def owner_of_elements(iterated: cst.BaseExpression, path: tuple[int, ...]) -> cst.BaseExpression | None:
    """What holds the elements that a loop gives a name: `item` for `for key, box in item.items()`."""
    while isinstance(iterated, cst.Call) and iterated.args and last_name(iterated.func) in ("list", "tuple", "tqdm"):
        iterated = iterated.args[0].value
    if not isinstance(iterated, cst.Call):
        return iterated if not path else None
    name = last_name(iterated.func)
    if name == "enumerate" and path == (1,) and iterated.args:
        return iterated.args[0].value
    is_value = (name, path) in (("items", (1,)), ("values", ()))
    return iterated.func.value if is_value and isinstance(iterated.func, cst.Attribute) else None


def _changed_places(scope: Scope, assign: cst.Assign) -> Iterator[cst.Subscript | cst.Attribute]:
    """The places that an assignment gives what is made from what was in them: `item["x"] = flip(item["x"])`."""
    tree = scope.module.tree
    stored: list[tuple[cst.Subscript | cst.Attribute, cst.BaseExpression]] = []
    for target in assign.targets:
        for place, path in target_paths(target.target):
            if isinstance(place, cst.Subscript | cst.Attribute):
                stored.append((place, written_out(assign.value, path)[0]))
    for place, value in stored:
        if _reads_before(scope, value, place):
            yield place
        elif len(stored) > 1 and not is_idempotent(value):  # `box[0], box[2] = width - box[2], width - box[0]`
            others = [
                each for each in stored if each[0] is not place and _uses(scope, value, tree.spelling(each[0]), 0)
            ]
            wanted = tree.spelling(place)
            if any(not is_idempotent(given) and _uses(scope, given, wanted, 0) for _, given in others):
                yield place


def _reads_before(scope: Scope, value: cst.BaseExpression, target: cst.Subscript | cst.Attribute) -> bool:
    """True if what is stored in a place is made from what was there: `item["x"] = flip(item["x"])`."""
    if isinstance(value, cst.Subscript):  # `item["label"] = self.numbers[item["label"]]` finds no such key again
        return any(_uses(scope, each, scope.module.tree.spelling(target), 0) for each in value.slice)
    if is_idempotent(value) or not isinstance(value, cst.Call | cst.BinaryOperation):
        return False
    if asks_length(value, target, scope):
        return False
    return _uses(scope, value, scope.module.tree.spelling(target), 0) or _uses_element(scope.module.tree, value, target)


def _uses_element(tree: Tree, value: Node, target: cst.Subscript | cst.Attribute) -> bool:
    """True for what a loop takes from the place: `for key, box in item.items(): item[key] = box * 2`."""
    index = target.slice[0].slice if isinstance(target, cst.Subscript) else None
    if not isinstance(index, cst.Index) or not isinstance(index.value, cst.Name):
        return False
    keys = [each for each in resolve(index.value, tree) if each.path == (0,)]
    for name in tree.find(value, cst.Name):
        for each in resolve(name, tree):
            owner = owner_of_elements(each.value, each.path) if each.kind is Kind.ELEMENT and each.value else None
            is_same = owner is not None and tree.spelling(owner) == tree.spelling(target.value)
            if is_same and each.path == (1,) and any(key.node is each.node for key in keys):
                return True
    return False


def _uses(scope: Scope, node: Node, wanted: tuple[object, ...], depth: int) -> bool:
    """True if an expression reads a place, itself or by a local name."""
    tree = scope.module.tree
    for inner in tree.walk(node):
        if isinstance(inner, cst.Subscript | cst.Attribute) and tree.spelling(inner) == wanted:
            return True
        if isinstance(inner, cst.Name) and depth < STORED_ALIAS_DEPTH:
            part = only_value(inner, tree)
            if part is not None and not is_idempotent(part) and _uses(scope, part, wanted, depth + 1):
                return True
    return False
