"""Reaching definitions: which of several places reach another, through branches, loops and handlers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar

import libcst as cst

from dataloader_lint.semantics.syntax.tree import COMPREHENSIONS, LOOPS, Block, Node, Scope, Tree


class Placed(Protocol):
    """Anything that stands at a node."""

    @property
    def node(self) -> Node: ...


P = TypeVar("P", bound=Placed)

# What decides on what reaches a place in it.
_DECIDING = frozenset(
    {
        *COMPREHENSIONS,
        *LOOPS,
        cst.IndentedBlock,
        cst.Module,
        cst.SimpleStatementLine,
        cst.SimpleStatementSuite,
        cst.Try,
        cst.TryStar,
        cst.With,
    }
)


class Flow(Generic[P]):
    """Backward search through structured code for the placed things (all in one scope) that reach a place."""

    def __init__(self, tree: Tree, placed: Sequence[P]) -> None:
        self.tree = tree
        self.placed = placed
        self._parameters = [item for item in placed if isinstance(item.node, cst.Param)]
        # What is in a node stands side by side in the document, and two look-ups find it: there may be thousands.
        self._in_order = sorted(placed, key=lambda item: tree.order(item.node))
        self._orders = [tree.order(item.node) for item in self._in_order]
        self.at: dict[int, list[P]] = {}
        for item in placed:
            self.at.setdefault(id(item.node), []).append(item)
        # By the block around them the places of its statements that hold any, in order.
        self._places: dict[int, list[int]] = {}

    def inside(self, node: Node) -> Sequence[P]:
        first, last = self._range(node)
        return self._in_order[first:last]

    def _range(self, node: Node) -> tuple[int, int]:
        first = bisect_left(self._orders, self.tree.order(node))
        return first, bisect_left(self._orders, self.tree.end(node), first)

    def places_in(self, block: Block) -> list[int]:
        """The places of the statements of a block that hold any of the things, in order."""
        found = self._places.get(id(block))
        if found is None:
            starts = self.tree.starts(block)
            first, last = self._range(block)
            places = {bisect_right(starts, order) - 1 for order in self._orders[first:last]}
            found = self._places[id(block)] = sorted(places - {-1})
        return found

    def before(self, use: Node, stop: Node) -> tuple[dict[int, P], bool]:
        """What reaches `use` from within the scope node `stop`, and whether one of it surely does."""
        reached: dict[int, P] = {}  # by `id`, as there may be thousands
        child = use
        for above in self.tree.ancestors(use):
            # Most of what is around a place are expressions, which decide on nothing.
            if type(above) in _DECIDING and self._around(above, child, use, reached):
                return reached, True
            if above is stop:
                break
            child = above
        return reached, self._take(self._parameters, reached)

    def reaching(self, use: Node) -> tuple[list[P], bool]:
        """The places that can reach `use`, in document order, and True if one surely does."""
        scope = self.tree.scope_of(use)
        while scope.is_comprehension and scope.parent is not None:
            scope = scope.parent
        found, surely = self.before(use, scope.node)
        tree = self.tree
        return sorted(found.values(), key=lambda item: tree.order(item.node) if item.node in tree else -1), surely

    def _around(self, above: Node, child: Node, use: Node, reached: dict[int, P]) -> bool:
        """Add what reaches a place from a node around it, below which `child` is; True if nothing from before does."""
        if isinstance(above, cst.IndentedBlock | cst.Module | cst.SimpleStatementSuite | cst.SimpleStatementLine):
            return self._backwards(above, child, reached)
        if isinstance(above, COMPREHENSIONS):
            return self._take(self.inside(above), reached)
        if isinstance(above, cst.Try | cst.TryStar):
            if child is above.body:
                return False
            # Handlers, else and finally come after (a part of) the body.
            return self._statement(above.body, reached) and child is above.orelse
        if isinstance(above, cst.For | cst.While) and child is above.orelse:
            self._statement(above.body, reached)
            return False
        if isinstance(above, cst.For | cst.With) and child is above.body:
            if self._own(above, reached):  # of a loop again in each round, so that nothing comes from the one before
                return True
        if isinstance(above, cst.For | cst.While) and child is above.body:
            self._carried(above, use, reached)
        return False

    def _take(self, items: Iterable[P], reached: dict[int, P]) -> bool:
        """Add what is not among the reached things yet, and say whether there was any."""
        before = len(reached)
        for item in items:
            reached.setdefault(id(item), item)
        return len(reached) > before

    def _own(self, statement: Node, reached: dict[int, P]) -> bool:
        """Things that the head of a compound statement places (`for x in`, `with ... as x`)."""
        own = self.at.get(id(statement), ())
        self._take(own, reached)
        return bool(own)

    def _carried(self, loop: Node, use: Node, reached: dict[int, P]) -> None:
        """Places later in a loop's body reach its next iteration."""
        order = self.tree.order(use)
        later = (item for item in self.inside(loop) if self.tree.order(item.node) > order)
        self._take((item for item in later if item.node is not loop), reached)

    def _backwards(self, block: Block, child: Node | None, reached: dict[int, P]) -> bool:
        """Add what reaches the end of a block from its statements, or from those ahead of one of them."""
        places = self.places_in(block)
        end = bisect_left(places, self.tree.place_in(block, child)) if child is not None else len(places)
        body: Sequence[Node] = block.body
        return any(self._statement(body[places[number]], reached) for number in range(end - 1, -1, -1))

    def _statement(self, statement: Node, reached: dict[int, P]) -> bool:
        """Add what reaches the end of a statement; True if nothing from before it does."""
        within = self.inside(statement)
        if not within:
            return False
        if isinstance(statement, cst.If | cst.Match):
            return self._branches(statement, reached)
        if isinstance(statement, cst.IndentedBlock | cst.SimpleStatementSuite | cst.SimpleStatementLine):
            return self._backwards(statement, None, reached)
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
            self._take(within, reached)
            return False
        self._take(within, reached)
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            return any(item.node is statement for item in within)  # the others are set when the function runs
        return True

    def _leave(self, body: Node, reached: dict[int, P], handlers: bool) -> None:
        if handlers:
            self._statement(body, reached)

    def _arm(self, body: Node, reached: dict[int, P]) -> bool:
        """One of several branches; nothing reaches past one that leaves the function."""
        return leaves(body) or self._statement(body, reached)

    def _branches(self, statement: cst.If | cst.Match, reached: dict[int, P]) -> bool:
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
    """True if control never reaches the end of a body: it returns, raises, breaks or continues."""
    statements = getattr(body, "body", None)
    if not isinstance(statements, Sequence) or not statements:
        return False
    last = statements[-1]
    if isinstance(last, cst.SimpleStatementLine):
        return bool(last.body) and isinstance(last.body[-1], cst.Return | cst.Raise | cst.Continue | cst.Break)
    if isinstance(last, cst.If) and isinstance(last.orelse, cst.Else):
        return leaves(last.body) and leaves(last.orelse.body)
    return isinstance(last, cst.Return | cst.Raise | cst.Continue | cst.Break)


def never_returns(function: Scope) -> bool:
    """True if a function surely raises, as far as the statements of its own body tell."""
    body = getattr(function.node, "body", None)
    statements = getattr(body, "body", None)
    raising = [
        each
        for statement in (statements if isinstance(statements, Sequence) else ())
        if isinstance(statement, cst.SimpleStatementLine)
        for each in statement.body
        if type(each) is cst.Raise or (type(each) is cst.Assert and _is_false(each.test))
    ]
    order = function.module.tree.order
    return bool(raising) and all(order(each) > order(raising[0]) for each in function.own(cst.Return))


def _is_false(test: cst.BaseExpression) -> bool:
    return isinstance(test, cst.Name) and test.value == "False"


def reaching(use: Node, placed: Sequence[P], tree: Tree, *, keep: bool = False) -> list[P]:
    """Those of `placed` (all in the scope of `use`) that can reach `use`, in document order.

    With `keep`, what was found out about `placed` is kept for the next question about the same list.
    """
    return reaching_or_not(use, placed, tree, keep=keep)[0]


def reaching_or_not(use: Node, placed: Sequence[P], tree: Tree, *, keep: bool = False) -> tuple[list[P], bool]:
    """As `reaching`, with True if one of them surely reaches it."""
    flow: Flow[P] = tree.once(("flow", id(placed)), lambda: Flow(tree, placed)) if keep else Flow(tree, placed)
    return flow.reaching(use)


def early_exits(tree: Tree, block: cst.Module | cst.IndentedBlock) -> Sequence[cst.If]:
    """The `if` statements without `else` of a block whose body leaves the block, in document order."""
    return tree.of_text(
        ("exits", id(block)),
        lambda: [one for one in block.body if isinstance(one, cst.If) and one.orelse is None and leaves(one.body)],
    )
