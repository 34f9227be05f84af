"""Which places can be reached, as far as the conditions around and before them are known."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.semantics.syntax.flow import P, early_exits
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.values import Evaluator, Frame, is_default


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """A test on the path to a place, with the answer that leads there; the other one may raise."""

    test: cst.BaseExpression
    wanted: bool
    raises: bool = False
    is_exit: bool = False  # asked by an early exit before the place, not around it


def is_reached(ev: Evaluator, node: Node, frame: Frame, with_options: bool = False) -> bool:
    """False only if an enclosing condition, or an earlier early exit, is known to exclude the node.

    By default options are what they are declared to be; with `with_options` they may be set to anything.
    """
    key = "reached with options" if with_options else "reached"
    return none_closes(ev, node, frame, key, lambda condition: excludes(ev, condition, frame, with_options))


def none_closes(ev: Evaluator, node: Node, frame: Frame, key: str, closes: Callable[[Condition], bool]) -> bool:
    """True if `closes` is False for every condition on the way to a node.

    Paths to different nodes share most conditions, so answers are cached in the frame, under the given key.
    """
    known = frame.ways.setdefault(key, {})
    way = way_to(node, frame.scope)
    if way is None:
        return True
    if id(way) in known:
        return known[id(way)]
    passed: list[Way] = []

    def work_out() -> bool:
        current: Way | None = way
        while current is not None:
            if id(current) in known:
                return known[id(current)]
            passed.append(current)
            if closes(current.condition):
                return False
            current = current.outer
        return True

    found, is_whole = ev.settled(work_out)
    if is_whole:
        known.update((id(each), found) for each in passed)
    return found


def excludes(ev: Evaluator, condition: Condition, frame: Frame, with_options: bool = False) -> bool:
    """True if a condition is known to be the opposite of what leads to the place."""
    found = ev.values(condition.test, frame)
    sure = truth(found)
    if sure is None or sure is condition.wanted:
        return False
    return not ((with_options or condition.raises) and any(is_default(each) for each in found))


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A path condition, linked to the ones before it. Places behind the same conditions share it."""

    condition: Condition
    outer: Way | None


def path_conditions(node: Node, scope: Scope) -> Iterator[Condition]:
    """The path conditions from the start of a scope to a node, the last one first."""
    way = way_to(node, scope)
    while way is not None:
        yield way.condition
        way = way.outer


def way_to(node: Node, scope: Scope) -> Way | None:
    """The path from the start of a scope to a node; None where there are no conditions."""
    tree = scope.module.tree
    known: dict[int, Way | None] = tree.of_text(("ways", id(scope)), dict)
    # From the inside out to what is known, and back: a chain of `elif` is as deep as it is long.
    above, child = _step(tree, node, scope)
    steps: list[tuple[Node, Node]] = []
    way: Way | None = None
    while above is not None:
        if id(child) in known:
            way = known[id(child)]
            break
        steps.append((above, child))
        above, child = _step(tree, above, scope) if above is not scope.node else (None, child)
    for above, child in reversed(steps):
        if isinstance(above, cst.If | cst.IfExp):
            if child is not above.test:
                way = Way(Condition(above.test, child is above.body), way)
        elif isinstance(above, cst.BooleanOperation):
            if child is above.right:
                way = Way(Condition(above.left, isinstance(above.operator, cst.And)), way)
        elif isinstance(above, cst.IndentedBlock | cst.Module):
            exits = early_exits(tree, above)
            place = bisect_left(exits, tree.order(child), key=tree.order)
            way = _exits_passed(above, tree, scope, way)[place]
        known[id(child)] = way
    return way


def _step(tree: Tree, node: Node, scope: Scope) -> tuple[Node | None, Node]:
    """The nearest node around another one that may hold a condition, or the scope's own, and what is below it."""
    child = node
    for above in tree.ancestors(node):
        if above is scope.node or type(above) in _ASKING:
            return above, child
        child = above
    return None, child


_ASKING = frozenset({cst.If, cst.IfExp, cst.BooleanOperation, cst.IndentedBlock, cst.Module})


def _exits_passed(
    block: cst.IndentedBlock | cst.Module, tree: Tree, scope: Scope, outer: Way | None
) -> list[Way | None]:
    """The paths behind the first early exits of a block, by the number of these exits."""

    def work_out() -> list[Way | None]:
        ways = [outer]
        for one in early_exits(tree, block):
            ways.append(Way(Condition(one.test, False, _raises(one.body), True), ways[-1]))
        return ways

    return tree.of_text((f"exits passed from {id(scope)}", id(block)), work_out)


def _raises(body: cst.BaseSuite) -> bool:
    last = body.body[-1] if body.body else None
    return isinstance(last, cst.SimpleStatementLine) and bool(last.body) and isinstance(last.body[-1], cst.Raise)


def reaching_bindings(ev: Evaluator, use: Node, placed: list[P], frame: Frame) -> list[P]:
    """The bindings in `placed` (in document order, of the scope of `use`) that can reach `use`.

    Those on a branch that is not taken are excluded, and those that a branch that is taken overwrites.
    """
    reached = [each for each in placed if isinstance(each.node, cst.Param) or is_reached(ev, each.node, frame)]
    return from_last_passed(reached, use, frame, lambda test: truth(ev.values(test, frame))) or placed


def from_last_passed(
    reached: list[P], use: Node, frame: Frame, sure: Callable[[cst.BaseExpression], bool | None]
) -> list[P]:
    """The last of some places that control has surely passed before `use`, and those after it.

    All of them where there is none. `sure` gives the answer to a test where it is known.
    """
    tree = frame.scope.module.tree
    around = {id(above) for above in tree.ancestors(use)}
    for position in range(len(reached) - 1, 0, -1):
        node = reached[position].node
        if tree.order(node) < tree.order(use) and _is_passed(node, around, frame, sure):
            return reached[position:]
    return reached


def _is_passed(node: Node, around: set[int], frame: Frame, sure: Callable[[cst.BaseExpression], bool | None]) -> bool:
    """True if control that gets to a later place of a block has surely been at `node`."""
    child = node
    for above in frame.scope.module.tree.ancestors(node):
        if id(above) in around:
            return isinstance(above, cst.IndentedBlock | cst.Module)
        if isinstance(above, cst.If):
            if sure(above.test) is not (child is above.body):
                return False
        elif not isinstance(above, cst.IndentedBlock | cst.SimpleStatementLine | cst.Else | cst.Expr):
            return False
        child = above
    return False


def is_passed_after(ev: Evaluator, node: Node, earlier: Node, frame: Frame) -> bool:
    """True if control that has been at `earlier`, a statement of the same function, surely comes to `node` as well."""
    around = {id(above) for above in frame.scope.module.tree.ancestors(earlier)}
    return _is_passed(node, around, frame, lambda test: truth(ev.values(test, frame)))


def enclosing_tests(node: Node, frame: Frame) -> list[tuple[cst.BaseExpression, bool]]:
    """The conditions around a node inside its function, each with the answer that leads to the node."""
    tree = frame.scope.module.tree
    found: list[tuple[cst.BaseExpression, bool]] = []
    child: Node = node
    for above in tree.ancestors(node):
        if isinstance(above, cst.If | cst.IfExp) and child is not above.test:
            found.append((above.test, child is above.body))
        elif isinstance(above, cst.BooleanOperation) and child is above.right:
            found.append((above.left, isinstance(above.operator, cst.And)))
        if above is frame.scope.node:
            break
        child = above
    return found
