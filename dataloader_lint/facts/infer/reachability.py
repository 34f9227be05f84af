"""Whether a place can be reached, as far as the conditions around it and before it are known."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.infer.values import Const, Evaluator, Frame, Value, truth
from dataloader_lint.facts.syntax.flow import P, early_exits
from dataloader_lint.facts.syntax.tree import Node, Scope, Tree


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """What is asked on the way to a place, with the answer that leads there; the other one may raise."""

    test: cst.BaseExpression
    wanted: bool
    raises: bool = False


def is_reached(ev: Evaluator, node: Node, frame: Frame, with_options: bool = False) -> bool:
    """False only where a condition around the node, or one before it that leaves, is known to keep control away.

    By default options are what they are declared to be; with `with_options` they may be set to anything.
    """
    for condition in path_conditions(node, frame.scope):
        if excludes(ev, condition, frame, with_options):
            return False
    return True


def excludes(ev: Evaluator, condition: Condition, frame: Frame, with_options: bool = False) -> bool:
    """Whether a condition is known to come out so that control goes elsewhere."""
    found = ev.values(condition.test, frame)
    sure = truth(found)
    if sure is None or sure is condition.wanted:
        return False
    return not ((with_options or condition.raises) and any(_is_default(each) for each in found))


def path_conditions(node: Node, scope: Scope) -> tuple[Condition, ...]:
    """What is asked on the way from the start of a scope to a node, from the inside out."""
    return scope.module.tree.once((f"way from {id(scope)}", id(node)), lambda: tuple(_path_conditions(node, scope)))


def _path_conditions(node: Node, scope: Scope) -> Iterator[Condition]:
    tree = scope.module.tree
    child: Node = node
    for above in tree.ancestors(node):
        if isinstance(above, cst.If | cst.IfExp):
            if child is not above.test:
                yield Condition(above.test, child is above.body)
        elif isinstance(above, cst.IndentedBlock | cst.Module):
            exits = early_exits(tree, above)
            yield from _let_through(tree, above)[: bisect_left(exits, tree.order(child), key=tree.order)]
        if above is scope.node:
            break
        child = above


def _let_through(tree: Tree, block: cst.IndentedBlock | cst.Module) -> list[Condition]:
    """What the early exits of a block ask: made once, as every place after them is behind the same ones."""
    return tree.once(
        ("let through", id(block)),
        lambda: [Condition(one.test, False, _raises(one.body)) for one in early_exits(tree, block)],
    )


def _is_default(value: Value) -> bool:
    """A declared default that raises is not meant to be left as it is: `if args.data is None: raise ...`."""
    return isinstance(value, Const) and bool(value.default)


def _raises(body: cst.BaseSuite) -> bool:
    last = body.body[-1] if body.body else None
    return isinstance(last, cst.SimpleStatementLine) and bool(last.body) and isinstance(last.body[-1], cst.Raise)


def reaching_bindings(ev: Evaluator, use: Node, placed: list[P], frame: Frame) -> list[P]:
    """Those of `placed` (in document order, all of the scope of `use`) that known conditions leave in force at `use`.

    What stands on an arm that is not taken is out, and so is what an arm that surely is taken sets anew.
    """
    reached = [each for each in placed if isinstance(each.node, cst.Param) or is_reached(ev, each.node, frame)]
    return from_last_passed(reached, use, frame, lambda test: truth(ev.values(test, frame))) or placed


def from_last_passed(
    reached: list[P], use: Node, frame: Frame, sure: Callable[[cst.BaseExpression], bool | None]
) -> list[P]:
    """The last of some places at which control surely has been before it comes to `use`, and those after it.

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
    """Whether control that gets to a later place of a block has surely been at `node`."""
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
    """Whether control that has been at `earlier`, a statement of the same function, surely comes to `node` as well."""
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
        if above is frame.scope.node:
            break
        child = above
    return found
