"""What functions store into attributes of their object and into containers bound to a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.workers.constructor_steps import Step
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.indirect_stores import ANY_NAME, indirect_stores
from dataloader_lint.semantics.syntax.additions import ADDING_METHODS, adding_assignments
from dataloader_lint.semantics.syntax.attribute_stores import named_stores
from dataloader_lint.semantics.syntax.names import dotted, resolve, target_paths
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree


def stores(step: Step) -> Iterator[tuple[str, Node, cst.BaseExpression, tuple[int, ...]]]:
    """Yields what a step stores on its object: attribute, statement, value, and position in an unpacking."""
    own = step.own
    if not own:
        return
    scope = step.scope
    for assign in scope.own(cst.Assign):
        for target in assign.targets:
            for each, position in target_paths(target.target):
                if name := _attribute_of(each, own):
                    yield _store_of_part(name, assign, assign.value, position)
    for store in indirect_stores(scope, own):
        if store.name != ANY_NAME:
            yield store.name, store.node, store.value, ()
    yield from _other_stores(scope, own)


def _other_stores(scope: Scope, own: str) -> Iterator[tuple[str, Node, cst.BaseExpression, tuple[int, ...]]]:
    for annotated in scope.own(cst.AnnAssign):
        if annotated.value is not None and (name := _attribute_of(annotated.target, own)):
            yield name, annotated, annotated.value, ()
    for augmented in adding_assignments(scope):
        if name := _attribute_of(augmented.target, own):
            yield name, augmented, augmented.value, ()
    for call in scope.own(cst.Call):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in ADDING_METHODS and call.args:
            if name := _attribute_of(call.func.value, own):
                yield name, call, call.args[-1].value, ()
    if isinstance(scope.node, cst.FunctionDef) and classes.is_cached_property(scope.node) and not _is_reset(scope):
        for returned in scope.own(cst.Return):
            if returned.value is not None:
                yield scope.node.name.value, returned, returned.value, ()


def _is_reset(scope: Scope) -> bool:
    """True if the class of a cached property has its name as a text: `self.__dict__.pop("file", None)`."""
    home = classes.class_of(scope)
    assert isinstance(scope.node, cst.FunctionDef)
    name = scope.node.name.value
    texts = scope.module.tree.find(home.node, cst.SimpleString) if home is not None else ()
    return any(each.raw_value == name for each in texts)


def _store_of_part(
    name: str, node: Node, value: cst.BaseExpression, position: tuple[int, ...]
) -> tuple[str, Node, cst.BaseExpression, tuple[int, ...]]:
    while position and isinstance(value, cst.Tuple | cst.List) and 0 <= position[0] < len(value.elements):
        element = value.elements[position[0]]
        if any(isinstance(each, cst.StarredElement) for each in value.elements):
            break
        value, position = element.value, position[1:]
    return name, node, value, position


def _attribute_of(node: cst.CSTNode, own: str) -> str:
    """The attribute of the object that a target belongs to: `x` for `self.x`, `self.x[0]` and `self.x.y`."""
    while isinstance(node, cst.Attribute | cst.Subscript):
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == own:
            return node.attr.value
        node = node.value
    return ""


def attributes_set_on(made: cst.Call, tree: Tree) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Yields attribute and value for stores through the name or attribute that a constructor call is bound to."""
    bound = tree.parent(made) if made in tree else None
    name = bound.targets[0].target if isinstance(bound, cst.Assign) and len(bound.targets) == 1 else None
    if bound is None or not isinstance(name, cst.Name | cst.Attribute) or not dotted(name):
        return
    scope = tree.scope_of(made)
    by_owner = tree.of_text(("set on", id(scope)), lambda: _set_in(scope))
    for owner, attribute, value in by_owner.get(dotted(name), ()):
        if isinstance(name, cst.Attribute):
            targets = tree.of_text(("targets", id(scope)), lambda: _targets(scope))
            if targets[dotted(name)] == 1 and tree.order(owner) > tree.order(bound):
                yield attribute, value
        elif isinstance(owner, cst.Name) and any(binding.node is bound for binding in resolve(owner, tree)):
            yield attribute, value


def _set_in(scope: Scope) -> dict[str, list[tuple[cst.Name | cst.Attribute, str, cst.BaseExpression]]]:
    """What a scope stores into attributes of other objects, by the name or attribute that these have there."""
    found: dict[str, list[tuple[cst.Name | cst.Attribute, str, cst.BaseExpression]]] = {}
    stored: list[tuple[cst.CSTNode, str, cst.BaseExpression]] = [
        (target.target.value, target.target.attr.value, assign.value)
        for assign in scope.own(cst.Assign)
        for target in assign.targets
        if isinstance(target.target, cst.Attribute)
    ]
    stored += [(each.owner, each.name, each.value) for each in named_stores(scope)]
    for owner, attribute, value in stored:
        if isinstance(owner, cst.Name | cst.Attribute) and dotted(owner):
            found.setdefault(dotted(owner), []).append((owner, attribute, value))
    return found


def _targets(scope: Scope) -> Counter[str]:
    """How often a scope assigns to each name or attribute."""
    return Counter(dotted(target.target) for assign in scope.own(cst.Assign) for target in assign.targets)


def added_to_container(scope: Scope, name: cst.Name) -> Iterator[cst.BaseExpression]:
    """Yields what a scope adds to the container that is bound to a name."""
    added = scope.module.tree.of_text(("added", id(scope)), lambda: _by_owner(_additions(scope)))
    yield from added.get(name.value, ())


def _by_owner(found: Iterator[tuple[cst.CSTNode, cst.BaseExpression]]) -> dict[str, list[cst.BaseExpression]]:
    by_name: dict[str, list[cst.BaseExpression]] = {}
    for owner, value in found:
        if isinstance(owner, cst.Name):
            by_name.setdefault(owner.value, []).append(value)
    return by_name


def _additions(scope: Scope) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
    for call in scope.own(cst.Call):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in ADDING_METHODS and call.args:
            yield call.func.value, call.args[-1].value
    for assign in scope.own(cst.Assign):
        for target in assign.targets:
            if isinstance(target.target, cst.Subscript):
                yield target.target.value, assign.value
    for augmented in adding_assignments(scope):
        yield augmented.target, augmented.value
