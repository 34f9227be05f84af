"""Whether a place can be reached, as far as the conditions around it and before it are known."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts.names import leaves
from dataloader_lint.facts.tree import Node
from dataloader_lint.facts.values import Evaluator, Frame, truth


def is_reached(ev: Evaluator, node: Node, frame: Frame) -> bool:
    """False only where a condition around the node, or one before it that leaves, is known to keep control away."""
    tree = frame.scope.module.tree
    child: Node = node
    for above in tree.ancestors(node):
        if isinstance(above, cst.If) and child is not above.test:
            sure = truth(ev.values(above.test, frame))
            if sure is not None and sure is not (child is above.body):
                return False
        elif isinstance(above, cst.IfExp) and child is not above.test:
            sure = truth(ev.values(above.test, frame))
            if sure is not None and sure is not (child is above.body):
                return False
        elif isinstance(above, cst.IndentedBlock | cst.Module):
            if not _comes_past(ev, above.body, child, frame):
                return False
        if above is frame.scope.node:
            break
        child = above
    return True


def _comes_past(ev: Evaluator, statements: object, child: Node, frame: Frame) -> bool:
    """Whether the statements before `child` let control through: `if n == 0: return` may not."""
    assert isinstance(statements, list | tuple)
    for statement in statements:
        if statement is child:
            return True
        if isinstance(statement, cst.If) and leaves(statement.body) and statement.orelse is None:
            if truth(ev.values(statement.test, frame)) is True:
                return False
    return True


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
