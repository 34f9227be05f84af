"""Which of several places has its effect in force at another place: backwards through branches, loops and handlers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar

import libcst as cst

from dataloader_lint.facts.tree import COMPREHENSIONS, LOOPS, Node, Tree


class Placed(Protocol):
    """Anything that stands at a node."""

    @property
    def node(self) -> Node: ...


P = TypeVar("P", bound=Placed)


class _Flow(Generic[P]):
    """Backward search through structured code for the placed things (all in one scope) that reach a place."""

    def __init__(self, tree: Tree, placed: Sequence[P]) -> None:
        self.tree = tree
        # Every node around a thing, so that "is it in this block" is a look-up.
        self.around: list[tuple[P, set[int]]] = [
            (item, {id(item.node), *(id(above) for above in tree.ancestors(item.node))}) for item in placed
        ]

    def inside(self, node: Node) -> list[P]:
        return [item for item, around in self.around if id(node) in around]

    def before(self, use: Node, stop: Node) -> tuple[list[P], bool]:
        """What reaches `use` from within the scope node `stop`, and whether one of it surely does."""
        reached: list[P] = []
        child = use
        for above in self.tree.ancestors(use):
            body = getattr(above, "body", None)
            if isinstance(above, cst.IndentedBlock | cst.Module | cst.SimpleStatementSuite):
                if self._backwards(above.body, child, reached):
                    return reached, True
            elif isinstance(above, cst.SimpleStatementLine):
                if self._backwards(above.body, child, reached):
                    return reached, True
            elif isinstance(above, cst.For) and child is body:
                self._carried(above, use, reached)
                if self._own(above, reached):
                    return reached, True
            elif isinstance(above, cst.While) and child is body:
                self._carried(above, use, reached)
            elif isinstance(above, cst.With) and child is body:
                if self._own(above, reached):
                    return reached, True
            elif isinstance(above, cst.Try | cst.TryStar) and child is not above.body:
                # Handlers, else and finally come after (a part of) the body.
                surely = self._statement(above.body, reached)
                if surely and child is above.orelse:
                    return reached, True
            elif isinstance(above, cst.For | cst.While) and child is above.orelse:
                self._statement(above.body, reached)
            elif isinstance(above, COMPREHENSIONS):
                own = [item for item in self.inside(above) if item not in reached]
                if own:
                    reached.extend(own)
                    return reached, True
            if above is stop:
                break
            child = above
        own = [item for item, _ in self.around if isinstance(item.node, cst.Param) and item not in reached]
        reached.extend(own)
        return reached, bool(own)

    def _own(self, statement: Node, reached: list[P]) -> bool:
        """Things that the head of a compound statement places (`for x in`, `with ... as x`)."""
        own = [item for item, _ in self.around if item.node is statement]
        reached.extend(own)
        return bool(own)

    def _carried(self, loop: Node, use: Node, reached: list[P]) -> None:
        """Things later in a loop's body reach its next round."""
        order = self.tree.order(use)
        for item in self.inside(loop):
            if item not in reached and item.node is not loop and self.tree.order(item.node) > order:
                reached.append(item)

    def _backwards(self, statements: Iterable[Node], child: Node, reached: list[P]) -> bool:
        earlier: list[Node] = []
        for statement in statements:
            if statement is child:
                break
            earlier.append(statement)
        return any(self._statement(statement, reached) for statement in reversed(earlier))

    def _statement(self, statement: Node, reached: list[P]) -> bool:
        """Add what leaves a statement alive; True if nothing from before it survives."""
        within = self.inside(statement)
        if not within:
            return False
        if isinstance(statement, cst.If | cst.Match):
            return self._branches(statement, reached)
        if isinstance(statement, cst.IndentedBlock | cst.SimpleStatementSuite | cst.SimpleStatementLine):
            return any(self._statement(inner, reached) for inner in reversed(statement.body))
        if isinstance(statement, cst.With):
            return self._statement(statement.body, reached) or self._own(statement, reached)
        if isinstance(statement, cst.Try | cst.TryStar):
            if statement.finalbody is not None and self._statement(statement.finalbody.body, reached):
                return True
            arms: list[Node] = [handler.body for handler in statement.handlers]
            sure = all([self._arm(arm, reached) for arm in arms])
            if statement.orelse is not None and self._statement(statement.orelse.body, reached):
                self._leave(statement.body, reached, bool(arms))
                return sure
            return self._statement(statement.body, reached) and sure
        if isinstance(statement, LOOPS):
            reached.extend(item for item in within if item not in reached)
            return False
        reached.extend(item for item in within if item not in reached)
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            return any(item.node is statement for item in within)  # the others are set when the function runs
        return True

    def _leave(self, body: Node, reached: list[P], handlers: bool) -> None:
        if handlers:
            self._statement(body, reached)

    def _arm(self, body: Node, reached: list[P]) -> bool:
        """One of several alternatives; an arm that leaves the function lets nothing through."""
        return leaves(body) or self._statement(body, reached)

    def _branches(self, statement: cst.If | cst.Match, reached: list[P]) -> bool:
        if isinstance(statement, cst.Match):
            for case in statement.cases:
                self._arm(case.body, reached)
            return False
        sure = self._arm(statement.body, reached)
        if isinstance(statement.orelse, cst.If):
            return self._branches(statement.orelse, reached) and sure
        if isinstance(statement.orelse, cst.Else):
            return self._arm(statement.orelse.body, reached) and sure
        return False


def leaves(body: Node) -> bool:
    """Whether control never comes out at the end of a body: it returns, raises, or goes on with the loop."""
    statements = getattr(body, "body", None)
    if not isinstance(statements, Sequence) or not statements:
        return False
    last = statements[-1]
    if isinstance(last, cst.SimpleStatementLine):
        return bool(last.body) and isinstance(last.body[-1], cst.Return | cst.Raise | cst.Continue | cst.Break)
    if isinstance(last, cst.If) and isinstance(last.orelse, cst.Else):
        return leaves(last.body) and leaves(last.orelse.body)
    return isinstance(last, cst.Return | cst.Raise | cst.Continue | cst.Break)


def reaching(use: Node, placed: Sequence[P], tree: Tree) -> list[P]:
    """Those of `placed` (all in the scope of `use`) whose effect can be in force at `use`, in document order."""
    return reaching_or_not(use, placed, tree)[0]


def reaching_or_not(use: Node, placed: Sequence[P], tree: Tree) -> tuple[list[P], bool]:
    """As `reaching`, with whether one of them is surely in force."""
    scope = tree.scope_of(use)
    while isinstance(scope.node, COMPREHENSIONS) and scope.parent is not None:
        scope = scope.parent
    found, surely = _Flow(tree, placed).before(use, scope.node)
    found.sort(key=lambda item: tree.order(item.node) if item.node in tree else -1)
    return found, surely
