"""Control dependence: the tests that decide if, and how often, a statement runs."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.syntax.tree import LOOPS, Node, Tree

_LEAVING = frozenset({cst.Break, cst.Continue, cst.Return})


def deciding_tests(place: Node, use: Node, tree: Tree) -> Iterator[cst.BaseExpression]:
    """What decides if, and how often, a statement runs before a use: tests around it, loops, and ways out of these.

    Tests around the use as well decide nothing: the use runs under them only. What a loop binds is decided by the ways
    out of it.
    """
    around_use = {id(above) for above in tree.ancestors(use)}
    child: Node = place
    if isinstance(place, LOOPS):
        yield from _ways_out(place, tree)
    for above in tree.ancestors(place):
        if isinstance(above, cst.FunctionDef | cst.Lambda | cst.ClassDef):
            return
        if isinstance(above, LOOPS) and child is above.body:
            yield above.test if isinstance(above, cst.While) else above.iter
            yield from _ways_out(above, tree)
        elif id(above) not in around_use:
            if isinstance(above, cst.If):
                yield above.test
            elif isinstance(above, cst.Match):
                yield above.subject
        child = above


def _ways_out(loop: cst.For | cst.While, tree: Tree) -> Iterator[cst.BaseExpression]:
    """The tests in a loop that end it, or a round of it."""
    for each in tree.find(loop.body, cst.If):
        if any(type(inner) in _LEAVING for inner in tree.walk(each)):
            yield each.test
