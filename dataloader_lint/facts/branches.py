"""Whether a place can be reached, as far as the conditions around it and before it are known."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts.flow import P, leaves
from dataloader_lint.facts.tree import Node
from dataloader_lint.facts.values import Const, Evaluator, Frame, Value, Values, truth


def is_reached(ev: Evaluator, node: Node, frame: Frame, with_options: bool = False) -> bool:
    """False only where a condition around the node, or one before it that leaves, is known to keep control away.

    By default options are what they are declared to be; with `with_options` they may be set to anything.
    """
    tree = frame.scope.module.tree
    child: Node = node
    for above in tree.ancestors(node):
        if isinstance(above, cst.If) and child is not above.test:
            sure = _sure(ev.values(above.test, frame), with_options)
            if sure is not None and sure is not (child is above.body):
                return False
        elif isinstance(above, cst.IfExp) and child is not above.test:
            sure = _sure(ev.values(above.test, frame), with_options)
            if sure is not None and sure is not (child is above.body):
                return False
        elif isinstance(above, cst.IndentedBlock | cst.Module):
            if not _comes_past(ev, above.body, child, frame, with_options):
                return False
        if above is frame.scope.node:
            break
        child = above
    return True


def _sure(found: Values, with_options: bool) -> bool | None:
    """What a condition surely gives."""
    if with_options and any(_is_default(each) for each in found):
        return None
    return truth(found)


def _comes_past(ev: Evaluator, statements: object, child: Node, frame: Frame, with_options: bool) -> bool:
    """Whether the statements before `child` let control through: `if n == 0: return` may not."""
    assert isinstance(statements, list | tuple)
    for statement in statements:
        if statement is child:
            return True
        if isinstance(statement, cst.If) and leaves(statement.body) and statement.orelse is None:
            found = ev.values(statement.test, frame)
            is_refused = _raises(statement.body) and any(_is_default(each) for each in found)
            if _sure(found, with_options) is True and not is_refused:
                return False
    return True


def _is_default(value: Value) -> bool:
    """A declared default that raises is not meant to be left as it is: `if args.data is None: raise ...`."""
    return isinstance(value, Const) and bool(value.default)


def _raises(body: cst.BaseSuite) -> bool:
    last = body.body[-1] if body.body else None
    return isinstance(last, cst.SimpleStatementLine) and bool(last.body) and isinstance(last.body[-1], cst.Raise)


def in_force(ev: Evaluator, use: Node, placed: list[P], frame: Frame) -> list[P]:
    """Those of `placed` (in document order, all of the scope of `use`) that known conditions leave in force at `use`.

    What stands on an arm that is not taken is out, and so is what an arm that surely is taken sets anew.
    """
    tree = frame.scope.module.tree
    reached = [each for each in placed if isinstance(each.node, cst.Param) or is_reached(ev, each.node, frame)]
    around = {id(above) for above in tree.ancestors(use)}
    for position in range(len(reached) - 1, 0, -1):
        node = reached[position].node
        if tree.order(node) < tree.order(use) and _is_passed(ev, node, around, frame):
            return reached[position:]
    return reached or placed


def _is_passed(ev: Evaluator, node: Node, around: set[int], frame: Frame) -> bool:
    """Whether control that gets to a later place of a block has surely been at `node`."""
    child = node
    for above in frame.scope.module.tree.ancestors(node):
        if id(above) in around:
            return isinstance(above, cst.IndentedBlock | cst.Module)
        if isinstance(above, cst.If):
            if truth(ev.values(above.test, frame)) is not (child is above.body):
                return False
        elif not isinstance(above, cst.IndentedBlock | cst.SimpleStatementLine | cst.Else | cst.Expr):
            return False
        child = above
    return False


def tests_around(node: Node, frame: Frame) -> list[tuple[cst.BaseExpression, bool]]:
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
