"""What a smaller last batch would upset: a mean over batches, where it would count as much as the others, and a stack.

Only what surely counts samples is let through: a metric that is computed in another way is taken for such a mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.syntax.expressions import last_name, positional_of
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree

MEANS = frozenset({"average", "fmean", "mean", "nanmean"})
_DIVIDING = frozenset({"div", "div_", "divide", "divide_", "floor_divide", "true_divide"})
_JOINING = frozenset({"cat", "concat", "concatenate", "from_iterable", "hstack", "vstack"})
_STACKING = frozenset({"array", "asarray", "stack"})
_SIZES = frozenset({"nelement", "num_graphs", "numel", "shape", "size", "sum"})
_WEIGHTS = frozenset({"count", "labels", "n", "references", "target", "targets", "weight"})
_OF_BATCHES = re.compile("loader|batches|iter")


def averages_batches(loop: Node, home: Scope, tree: Tree) -> bool:
    """True unless all that a function computes from the batches of a loop counts samples, not batches."""
    iterated = loop.iter if isinstance(loop, cst.For | cst.CompFor) else loop
    loaders = set(tree.words(iterated).split())
    return (
        any(not _counts_samples(each, home, tree, loaders) for each in _divisors(home, tree))
        or any(_is_of_loaders(each, loaders) for each in tree.find(home.node, cst.Call))
        or _counts_rounds(loop, home, tree)
        or any(not _is_weighed(each) for each in tree.find(home.node, cst.Call))
        or any(last_name(each.func) in MEANS and not _is_in_body(each, loop, tree) for each in home.within(cst.Call))
        or _uses_one_of_each(loop, home, tree)
    )


def _divisors(home: Scope, tree: Tree) -> Iterator[cst.BaseExpression]:
    for each in tree.find(home.node, cst.BinaryOperation):
        if isinstance(each.operator, cst.Divide | cst.FloorDivide):
            if not isinstance(each.right, cst.SimpleString | cst.FormattedString):  # folder / "name"
                yield each.right
    for changed in tree.find(home.node, cst.AugAssign):
        if isinstance(changed.operator, cst.DivideAssign | cst.FloorDivideAssign):
            yield changed.value
    yield from (call for call in tree.find(home.node, cst.Call) if last_name(call.func) in _DIVIDING)


def _counts_samples(
    node: cst.BaseExpression, home: Scope, tree: Tree, loaders: set[str], seen: frozenset[str] = frozenset()
) -> bool:
    """True for `len(dataset)`, `labels.size(0)`, and a name that is only raised by such numbers."""
    if isinstance(node, cst.Call):
        name = last_name(node.func)
        given = [arg.value for arg in node.args]
        if name in ("float", "int", "max"):  # max(total, 1)
            inner = [each for each in given if not isinstance(each, cst.Integer)]
            return bool(inner) and all(_counts_samples(each, home, tree, loaders, seen) for each in inner)
        if name == "len":
            return not _is_of_loaders(node, loaders)
        return isinstance(node.func, cst.Attribute) and name in _SIZES
    if isinstance(node, cst.Subscript):
        sized = node.value.func if isinstance(node.value, cst.Call) else node.value
        return last_name(sized) in _SIZES
    if isinstance(node, cst.Attribute):
        return node.attr.value == "num_graphs"
    if not isinstance(node, cst.Name) or node.value in seen:
        return False
    bound = [each for each in _bound_to(node.value, home, tree) if not _is_zero(each)]
    return bool(bound) and all(_counts_samples(each, home, tree, loaders, seen | {node.value}) for each in bound)


def _bound_to(name: str, home: Scope, tree: Tree) -> Iterator[cst.BaseExpression]:
    """What is assigned to a name in a function, or added to it."""
    for assign in tree.find(home.node, cst.Assign):
        if any(isinstance(each.target, cst.Name) and each.target.value == name for each in assign.targets):
            yield assign.value
    for changed in tree.find(home.node, cst.AugAssign):
        if isinstance(changed.target, cst.Name) and changed.target.value == name:
            yield changed.value


def _is_zero(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Integer | cst.Float) and node.evaluated_value == 0


def _is_of_loaders(call: cst.Call, loaders: set[str]) -> bool:
    """True for `len(loader)`."""
    given = last_name(call.args[0].value) if last_name(call.func) == "len" and call.args else ""
    return bool(given) and (given in loaders or _OF_BATCHES.search(given.lower()) is not None)


def _counts_rounds(loop: Node, home: Scope, tree: Tree) -> bool:
    """True if a number is raised by 1, or the index of the last batch is read behind the loop."""
    for changed in tree.find(home.node, cst.AugAssign):
        if isinstance(changed.value, cst.Integer):
            return True
    for assign in tree.find(home.node, cst.Assign):
        added = assign.value
        if isinstance(added, cst.BinaryOperation) and isinstance(added.right, cst.Integer):
            return True
    if not isinstance(loop, cst.For) or "enumerate" not in tree.words(loop.iter).split():
        return False
    first = loop.target.elements[0].value if isinstance(loop.target, cst.Tuple) else loop.target
    end = tree.end(loop)
    return any(
        tree.order(use) >= end for index in tree.find(first, cst.Name) for use in tree.named(home.node, index.value)
    )


def _is_weighed(call: cst.Call) -> bool:
    """False for `meter.update(loss)`: it takes one number of each batch, and no number of samples."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in ("add", "update"):
        return True
    if any(arg.keyword is not None and arg.keyword.value in _WEIGHTS for arg in call.args):
        return True
    given = positional_of(call)
    return len(given) > 1 and not any(isinstance(each, cst.SimpleString | cst.BaseNumber) for each in given)


def _is_in_body(node: Node, loop: Node, tree: Tree) -> bool:
    return isinstance(loop, cst.For) and tree.is_inside(node, loop)


def _uses_one_of_each(loop: Node, home: Scope, tree: Tree) -> bool:
    """True if a list with one entry for each batch is put to another use than to be joined."""
    lists = list(_lists_of_batches(loop, home.node, tree))
    if any(not isinstance(each, cst.Name) for each in lists):
        return True
    if isinstance(loop, cst.CompFor) and not any(tree.is_inside(each, tree.statement_of(loop)) for each in lists):
        made = tree.parent(loop)
        if made is None or not _is_given_to(made, _JOINING | {"sum"}, tree):
            return True
    return any(not _is_joined(use, tree) for each in lists for use in tree.named(home.node, dotted(each)))


def stacks_batches(loop: Node, tree: Tree) -> bool:
    """True if an array is made of a list with one entry for each batch, which then must have one size."""
    home = tree.scope_of(loop).function or tree.root
    where = loop.body if isinstance(loop, cst.For) else tree.statement_of(loop)
    lists = {dotted(each) for each in _lists_of_batches(loop, where, tree)}
    calls = (call for call in home.within(cst.Call) if call.args and last_name(call.func) in _STACKING)
    return any(dotted(call.args[0].value) in lists for call in calls)


def _lists_of_batches(loop: Node, where: Node, tree: Tree) -> Iterator[cst.BaseExpression]:
    """What the lists with one entry for each batch are called that a part of the code, or the loop itself, fills."""
    for call in tree.find(where, cst.Call):
        if isinstance(call.func, cst.Attribute) and call.args:
            method, is_list = call.func.attr.value, isinstance(call.args[0].value, cst.List)
            if method == "append" or (method == "extend" and is_list):
                yield call.func.value
    yield from (each.target for each in tree.find(where, cst.AugAssign) if isinstance(each.value, cst.List))
    for assign in tree.find(tree.statement_of(loop), cst.Assign) if isinstance(loop, cst.CompFor) else ():
        if assign.value is tree.parent(loop):
            yield from (each.target for each in assign.targets)


def _is_joined(use: cst.Name, tree: Tree) -> bool:
    """True where the name of a list is bound, gets another entry, or is given to `torch.cat`."""
    around = tree.parent(use)
    if isinstance(around, cst.Attribute):
        return around.attr is use or around.attr.value in ("append", "extend")
    if isinstance(around, cst.AugAssign | cst.AnnAssign):
        return around.target is use
    return any(isinstance(each, cst.AssignTarget) for each in tree.ancestors(use)) or _is_given_to(use, _JOINING, tree)


def _is_given_to(node: Node, names: frozenset[str], tree: Tree) -> bool:
    call = next((each for each in tree.ancestors(node) if isinstance(each, cst.Call)), None)
    return call is not None and bool(call.args) and call.args[0].value is node and last_name(call.func) in names
