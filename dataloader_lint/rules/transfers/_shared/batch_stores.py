"""Parts of a batch that are stored again or changed in place: `batch["image"] = augment(batch["image"])`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.libraries.short_names import INSPECTING
from dataloader_lint.semantics.limits import REFILL_DEPTH
from dataloader_lint.semantics.syntax.additions import ADDING_METHODS
from dataloader_lint.semantics.syntax.names import Binding, resolve
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree, function_scope


def stores_before(node: cst.BaseExpression, tree: Tree, depth: int = 0) -> Iterator[cst.Assign]:
    """What may be stored into a part of a thing before an expression reads that part, or what it was read into."""
    root, steps = _way_to(node)
    if root is None or root not in tree or depth > REFILL_DEPTH:
        return
    bindings = resolve(root, tree)
    if not steps:
        for binding in bindings:
            if binding.written is not None:
                yield from stores_before(binding.written, tree, depth + 1)
        return
    known = {id(binding) for binding in bindings}
    for assign in function_scope(tree.scope_of(node)).own(cst.Assign):
        if tree.order(assign) >= tree.order(node) or tree.is_inside(node, assign):
            continue
        for each in assign.targets:
            owner, stored = _way_to(each.target)
            if owner is None or owner.value != root.value or not stored or len(stored) > len(steps):
                continue
            if all(one == other or "" in (one, other) for one, other in zip(stored, steps, strict=False)):
                if any(id(binding) in known for binding in resolve(owner, tree)):
                    yield assign


def is_written_after(moved: cst.BaseExpression, place: Node, tree: Tree) -> bool:
    """True if an expression is changed in place further down in the function that a place stands in."""
    after, bound = tree.order(place), bindings_below(moved, tree)
    return any(
        tree.order(node) > after and _is_one_of(bindings_below(node, tree), bound)
        for node in _changes_of(tree.scope_of(place)).get(tree.spelling(moved), ())
    )


def is_passed_on_after(moved: cst.BaseExpression, place: Node, tree: Tree) -> bool:
    """True if an expression gets another name or goes to some call further down, which may change it in place."""
    root = _root_of(moved)
    if root is None:
        return False
    bare, by_spelling = _handed_on(function_scope(tree.scope_of(place)), root.value)
    after, bound = tree.order(place), bindings_below(moved, tree)
    rebinds = _rebinding_around(root, tree) if root is moved else None
    return any(
        tree.order(use) > after
        and not tree.is_inside(use, place)
        and (rebinds is None or tree.is_inside(use, rebinds))
        and _is_one_of(resolve(use, tree), bound)
        for uses in (bare, by_spelling.get(tree.spelling(moved), ()))
        for use in reversed(uses)
    )


def _rebinding_around(name: cst.Name, tree: Tree) -> cst.Assign | None:
    """The statement `x = x.cuda()`, `x, y = x.cuda(), y.cuda()` that a name stands in: below it the name is another."""
    statement = next((each for each in tree.ancestors(name) if isinstance(each, cst.Assign)), None)
    if statement is None or tree.scope_of(statement) is not tree.scope_of(name):
        return None
    targets = [each.target for each in statement.targets]
    parts = [part.value for each in targets if isinstance(each, cst.Tuple) for part in each.elements]
    is_bound = any(isinstance(each, cst.Name) and each.value == name.value for each in (*targets, *parts))
    return statement if is_bound else None


def is_written_by_other_name(moved: cst.BaseExpression, place: Node, tree: Tree) -> bool:
    """True if a thing, or a part of it, was given another name or put into a container that is changed in place."""
    root = _root_of(moved)
    if root is None:
        return False
    before, bound = tree.order(place), resolve(root, tree)
    return any(
        tree.order(use) < before and _is_one_of(resolve(use, tree), bound)
        for use in _changed_by_other_names(function_scope(tree.scope_of(place)), root.value)
    )


# What follows is worked out once for all moves of a function, of which there may be thousands.


def _changes_of(scope: Scope) -> dict[tuple[object, ...], list[cst.BaseExpression]]:
    """What is changed in place in a scope, by its spelling."""

    def work_out() -> dict[tuple[object, ...], list[cst.BaseExpression]]:
        found: dict[tuple[object, ...], list[cst.BaseExpression]] = {}
        for node in _changed_in_place(scope):
            found.setdefault(tree.spelling(node), []).append(node)
        return found

    tree = scope.module.tree
    return tree.of_text(("changed in place", id(scope.node)), work_out)


def _handed_on(scope: Scope, name: str) -> tuple[list[cst.Name], dict[tuple[object, ...], list[cst.Name]]]:
    """The uses of a name that are handed on as they are, and those of which a part is, by the spelling of the part."""

    def work_out() -> tuple[list[cst.Name], dict[tuple[object, ...], list[cst.Name]]]:
        bare: list[cst.Name] = []
        by_spelling: dict[tuple[object, ...], list[cst.Name]] = {}
        for use in tree.named(scope.node, name):
            node: Node = use
            above = tree.parent(node)
            while isinstance(above, cst.Attribute | cst.Subscript) and above.value is node:
                node, above = above, tree.parent(above)
                if _hands_on(node, tree):
                    by_spelling.setdefault(tree.spelling(node), []).append(use)
            if node is use and _hands_on(use, tree):
                bare.append(use)
        return bare, by_spelling

    tree = scope.module.tree
    return tree.of_text((f"handed on {name}", id(scope.node)), work_out)


def _changed_by_other_names(scope: Scope, name: str) -> list[cst.Name]:
    """The uses of a name that give what it means another one, or a place in a container, which is changed in place."""

    def work_out() -> list[cst.Name]:
        changed = {
            tree.spelling(each)
            for node in _changed_in_place(scope)
            for each in (node, *_owners(node))
            if each is not node or not isinstance(node, cst.Name) or node.value != name
        }
        uses = tree.named(scope.node, name) if changed else ()
        return [use for use in uses if any(tree.spelling(each) in changed for each in _keepers(use, tree))]

    tree = scope.module.tree
    return tree.of_text((f"changed by other names {name}", id(scope.node)), work_out)


def _root_of(node: cst.BaseExpression) -> cst.Name | None:
    """The name that an expression such as `batch["image"]` begins with."""
    while isinstance(node, cst.Attribute | cst.Subscript):
        node = node.value
    return node if isinstance(node, cst.Name) else None


def _is_one_of(some: list[Binding], others: list[Binding]) -> bool:
    return any(one is other for one in some for other in others)


def _owners(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    while isinstance(node, cst.Attribute | cst.Subscript):
        node = node.value
        yield node


def _keepers(use: Node, tree: Tree) -> Iterator[cst.BaseExpression]:
    """What holds a thing, or a view of it, from where it is used on: `same` for `same = batch.view(-1)`."""
    node, above = use, tree.parent(use)
    while True:
        if isinstance(above, cst.Call) and above.func is node:
            if not (isinstance(node, cst.Attribute) and node.attr.value in _SHARING):
                return
        elif isinstance(above, cst.Arg):
            call = tree.parent(above)
            if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value in _ADDING:
                yield call.func.value
            return
        elif not isinstance(above, cst.Attribute | cst.Subscript | cst.BaseElement | cst.List | cst.Tuple | cst.Dict):
            break
        node, above = above, tree.parent(above)
    if isinstance(above, cst.Assign) and above.value is node:
        yield from (each.target for each in above.targets)
    elif isinstance(above, cst.AnnAssign | cst.NamedExpr) and above.value is node:
        yield above.target


# Methods that put what they are given into a container.
_ADDING = frozenset({*ADDING_METHODS, "put"})


def _hands_on(node: Node, tree: Tree) -> bool:
    above = tree.parent(node)
    if isinstance(above, cst.Arg):
        call = tree.parent(above)
        return not (isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value in INSPECTING)
    if isinstance(above, cst.Attribute) and above.attr.value in _SHARING:
        return True
    return isinstance(above, cst.Assign | cst.AnnAssign | cst.NamedExpr) and above.value is node


# Methods that give another object over the same memory.
_SHARING = frozenset({"data", "detach", "numpy", "reshape", "squeeze", "unsqueeze", "view"})


def _changed_in_place(scope: Scope) -> Iterator[cst.BaseExpression]:
    """What is written to by its index, by an augmented assignment or by a method such as `add_`."""
    targets = [one.target for each in scope.within(cst.Assign) for one in each.targets]
    yield from (each.value for each in targets if isinstance(each, cst.Subscript))
    for each in scope.within(cst.AugAssign):
        yield each.target
        if isinstance(each.target, cst.Subscript):
            yield each.target.value
    for call in scope.within(cst.Call):
        if isinstance(call.func, cst.Attribute):
            name = call.func.attr.value
            if name.endswith("_") and not name.startswith("_"):
                yield call.func.value


def bindings_below(node: cst.BaseExpression, tree: Tree) -> list[Binding]:
    """What the name may be bound to that an expression such as `batch["image"]` or `batch.image` begins with."""
    root = _root_of(node)
    return resolve(root, tree) if root is not None else []


def _way_to(node: Node) -> tuple[cst.Name | None, list[str]]:
    """The name from which subscripts and attributes lead to an expression, and these as written; empty for any key."""
    steps: list[str] = []
    while True:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.value  # x.squeeze(0)
        elif isinstance(node, cst.Attribute):
            steps.insert(0, node.attr.value)
            node = node.value
        elif isinstance(node, cst.Subscript):
            index = node.slice[0].slice
            key = index.value if isinstance(index, cst.Index) and len(node.slice) == 1 else None
            is_written = isinstance(key, cst.SimpleString | cst.Integer)
            steps.insert(0, repr(key.evaluated_value) if is_written else "")  # type: ignore[union-attr]
            node = node.value
        else:
            return (node, steps) if isinstance(node, cst.Name) else (None, [])
