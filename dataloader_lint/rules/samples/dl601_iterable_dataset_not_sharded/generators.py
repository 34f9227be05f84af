"""What a generator goes over: its loops, the arms of its tests, and the names that divide items among readers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.control.reachability import path_conditions
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted, target_paths
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree

# A name like this suggests that the code divides its data among readers.
SHARING = re.compile(
    r"worker|(^|_)rank|world_size|num_replicas|split_by|by_node|partition|local_rank|process_index"
    # A file of a data set is called a shard as well: `for shard in self.shards`, `self.shard_paths`.
    r"|shard_(?!dir|file|folder|glob|list|name|path|pattern|root|size|url)|_shard$|(num|n)_shards|shard(ing|ed)",
    re.IGNORECASE,
)


def is_endless(loop: cst.While) -> bool:
    """True for `while True:` or `while not done:`: the number of items is not that of a list of samples."""
    return not isinstance(loop.test, cst.Comparison | cst.BooleanOperation)


def counts_to_end(loop: cst.While) -> bool:
    """True for `while index < len(self.rows):`."""
    test = loop.test
    sides = [test.left, *(each.comparator for each in test.comparisons)] if isinstance(test, cst.Comparison) else []
    return any(isinstance(each, cst.Call) and dotted(each.func) == "len" for each in sides)


def yielding_loops(scope: Scope) -> Iterator[cst.While]:
    """The `while` loops of a function with a `yield` in the body."""
    for loop in scope.own(cst.While):
        if any(scope.module.tree.is_inside(each, loop) for each in scope.own(cst.Yield)):
            yield loop


def bindings_in(loop: cst.While, tree: Tree) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """The targets that a loop binds, each with what is bound."""
    for named in tree.find(loop, cst.NamedExpr):
        yield named.target, named.value
    for assign in tree.find(loop.body, cst.Assign):
        for each in assign.targets:
            yield each.target, assign.value


def calls_until_end(loop: cst.While, tree: Tree) -> Iterator[cst.Call]:
    """The calls in a loop that an error ends when there is no more: `try: ... except EOFError: break`."""
    for attempt in tree.find(loop.body, cst.Try):
        for handler in attempt.handlers:
            caught = tree.words(handler.type) if handler.type is not None else ""
            if ("EOFError" in caught or "StopIteration" in caught) and leaves(handler):
                yield from tree.find(attempt.body, cst.Call)


def leaves(branch: cst.If | cst.ExceptHandler) -> bool:
    """True if a branch ends with `break` or `return`."""
    body = branch.body.body
    last = body[-1] if body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, cst.Break | cst.Return)


def arms_of(scope: Scope) -> Iterator[tuple[Node, list[cst.BaseExpression]]]:
    """The arms of the `if` statements of a function, each with the tests that decide whether it runs."""
    for branch in scope.own(cst.If):
        arms = [branch.body, *([branch.orelse.body] if isinstance(branch.orelse, cst.Else) else ())]
        for arm in arms:
            yield arm, [each.test for each in path_conditions(arm, scope) if not each.raises]


def names_that_divide(scope: Scope) -> set[str]:
    """The names and attributes in a function that speak of workers, or that are set or changed depending on these."""
    found = {name for name in names_in(scope) if SHARING.search(name)}
    rest = [(set(_changed_by(node)), set(_names_around(node, scope))) for node in _changing(scope)]
    is_growing = True
    while is_growing:
        further = [changed for changed, around in rest if not changed <= found and not found.isdisjoint(around)]
        is_growing = bool(further)
        found.update(*further)
    return found


def words_of_sharing(scope: Scope) -> list[str]:
    """The names in a function or class that speak of workers or ranks."""
    return [name for name in names_in(scope) if SHARING.search(name)]


def names_bound_in(arm: Node, tree: Tree) -> set[str]:
    """The names that an arm gives a new meaning: by a loop, or by `with open(path) as file:`."""
    targets: list[Node] = [loop.target for loop in tree.find(arm, cst.For)]
    targets.extend(item.asname.name for item in tree.find(arm, cst.WithItem) if item.asname is not None)
    paths = (path for target in targets if isinstance(target, cst.BaseExpression) for path in target_paths(target))
    return {each.value for each, _ in paths if isinstance(each, cst.Name)}


def taken_from(method: Scope) -> list[cst.BaseExpression]:
    """What a `__next__` takes its items from, one in each call: `self.lines` of `line = next(self.lines)`."""
    return [call.args[0].value for call in method.own(cst.Call) if dotted(call.func) == "next" and call.args]


def stops_by_comparison(method: Scope) -> bool:
    """True if a `__next__` stops after a number of items: `if self.place >= self.count: raise StopIteration`."""
    tree = method.module.tree
    stops = [each for each in method.own(cst.Raise) if "StopIteration" in tree.words(each)]
    tests = (above for each in stops for above in tree.ancestors(each) if isinstance(above, cst.If))
    return any(isinstance(above.test, cst.Comparison) for above in tests)


def only_reports(scope: Scope, reporting: frozenset[str]) -> bool:
    """True if a function asks for its worker to log or seed, and divides nothing: `log.info("worker %s", info.id)`."""
    tree = scope.module.tree
    dividing = names_that_divide(scope)
    named = [*tree.find(scope.node, cst.Name), *tree.find(scope.node, cst.Attribute)]
    return all(_is_reported(each, scope, reporting) for each in named if last_name(each) in dividing)


def _is_reported(node: Node, scope: Scope, reporting: frozenset[str]) -> bool:
    """True for a name in a call that reports, in what a local name is bound to, or in a test that decides no item."""
    tree = scope.module.tree
    for above in tree.ancestors(node):
        if isinstance(above, cst.Call) and last_name(above.func) in reporting:
            if isinstance(tree.parent(above), cst.Expr):
                return True
        elif isinstance(above, cst.Assign):
            return all(isinstance(each.target, cst.Name) for each in above.targets)
        elif isinstance(above, cst.If):
            kinds = (cst.Yield, cst.Return, cst.Continue, cst.Break, cst.Assign, cst.AugAssign)
            return not any(True for kind in kinds for _ in tree.find(above, kind))
        elif above is scope.node:
            break
    return False


def _changing(scope: Scope) -> Iterator[Node]:
    yield from scope.own(cst.Assign)
    yield from scope.own(cst.AnnAssign)
    yield from scope.own(cst.AugAssign)
    yield from scope.own(cst.For)
    tree = scope.module.tree
    yield from tree.find(scope.node, cst.NamedExpr)
    yield from (call for call in scope.own(cst.Call) if isinstance(tree.parent(call), cst.Expr))


def _changed_by(node: Node) -> Iterator[str]:
    """The last names of what a statement binds, or of the object whose method it calls."""
    targets: list[object] = [getattr(node, "target", None)]
    if isinstance(node, cst.Assign):
        targets = [*(each.target for each in node.targets)]
    elif isinstance(node, cst.Call):
        given = [arg.value for arg in node.args]
        targets = [node.func.value, *given] if isinstance(node.func, cst.Attribute) else [*given]
    for target in targets:
        for each, _ in target_paths(target) if isinstance(target, cst.BaseExpression) else ():
            while isinstance(each, cst.Subscript):
                each = each.value
            if name := last_name(each):
                yield name


def _names_around(node: Node, scope: Scope) -> Iterator[str]:
    """The names in a statement, and in the tests and loops that decide whether it runs."""
    tree = scope.module.tree
    heads: list[Node] = [node.iter] if isinstance(node, cst.For) else [node]
    for above in tree.ancestors(node):
        if above is scope.node:
            break
        if isinstance(above, cst.If | cst.While):
            heads.append(above.test)
        elif isinstance(above, cst.For):
            heads.append(above.iter)
    for head in heads:
        yield from names_below(head, tree)


def names_below(node: Node, tree: Tree) -> Iterator[str]:
    """The names and attributes in a part of a function."""
    for each in tree.walk(node):
        if isinstance(each, cst.Name):
            yield each.value
        elif isinstance(each, cst.Attribute):
            yield each.attr.value


def iterables_of(scope: Scope, arm: Node | None = None) -> list[cst.BaseExpression]:
    """What a function, or an arm of it, returns, delegates to, or loops over with a `yield` in the body."""
    tree = scope.module.tree
    returned = [each for each in scope.own(cst.Return) if arm is None or tree.is_inside(each, arm)]
    given = [each for each in scope.own(cst.Yield) if arm is None or tree.is_inside(each, arm)]
    found = [each.value for each in returned if each.value is not None]
    found.extend(each.value.item for each in given if isinstance(each.value, cst.From))
    found.extend(looped_over([each for each in given if not isinstance(each.value, cst.From)], scope))
    return found


def looped_over(nodes: list[Node], scope: Scope) -> list[cst.BaseExpression]:
    """What the loops of a function go over that hand out items at some nodes: the outermost that use their target."""
    tree = scope.module.tree
    loops: dict[int, cst.For] = {}
    for node in nodes:
        inner = _loops_around(node, scope)
        # The outermost loop determines the items, except for loops that only count: `for _ in range(epochs):`
        item_loops = [loop for loop in inner if not _ignores_target(loop, tree)] or inner
        for loop in item_loops[-1:]:
            loops[id(loop)] = loop
    return [loop.iter for loop in loops.values()]


def puts_in(scope: Scope) -> list[Node]:
    """The calls with which a function puts items into a queue, in loops."""
    calls = (call for call in scope.own(cst.Call) if last_name(call.func) in ("put", "put_nowait"))
    return [call for call in calls if _loops_around(call, scope)]


def loop_of_items(node: Node, scope: Scope) -> cst.For | None:
    """The innermost loop around a node, if it yields and uses its target: what the node does is done to each item."""
    tree = scope.module.tree
    for above in tree.ancestors(node):
        if above is scope.node or isinstance(above, cst.While):
            return None
        if isinstance(above, cst.For):
            yields = any(tree.is_inside(each, above) for each in scope.own(cst.Yield))
            in_body = tree.is_inside(node, above.body)
            return above if yields and in_body and not _ignores_target(above, tree) else None
    return None


def opened_each(node: Node, tree: Tree) -> Iterator[cst.Call]:
    """The calls that get each element of what a loop goes over first: `open(path)` of `for path in node:`."""
    loop = tree.parent(node)
    if isinstance(loop, cst.For) and loop.iter is node and isinstance(loop.target, cst.Name):
        for call in tree.find(loop.body, cst.Call):
            if call.args and isinstance(call.args[0].value, cst.Name) and call.args[0].value.value == loop.target.value:
                yield call


def counting_loops(scope: Scope, arm: Node | None = None) -> Iterator[cst.For]:
    """The loops of a function, or of an arm of it, that yield and only count: no loop around a `yield` has items."""
    tree = scope.module.tree
    for each in scope.own(cst.Yield):
        inner = _loops_around(each, scope)
        if inner and all(_ignores_target(loop, tree) for loop in inner) and (arm is None or tree.is_inside(each, arm)):
            yield inner[0]


def _loops_around(node: Node, scope: Scope) -> list[cst.For]:
    """The `for` loops of a function around a node in it, from the inside out."""
    found = []
    for above in scope.module.tree.ancestors(node):
        if above is scope.node:
            break
        if isinstance(above, cst.For):
            found.append(above)
    return found


def _ignores_target(loop: cst.For, tree: Tree) -> bool:
    """True if the body of a loop does not use the loop target."""
    targets = {name.value for name in tree.find(loop.target, cst.Name)}
    return not any(name.value in targets for name in tree.find(loop.body, cst.Name))


def names_in(scope: Scope) -> Iterator[str]:
    """All names in a function or class."""
    for node in scope.module.tree.walk(scope.node):
        if isinstance(node, cst.Name):
            yield node.value
        elif isinstance(node, cst.Attribute):
            yield node.attr.value
        elif isinstance(node, cst.Param):
            yield node.name.value
        elif isinstance(node, cst.FunctionDef):
            yield node.name.value
