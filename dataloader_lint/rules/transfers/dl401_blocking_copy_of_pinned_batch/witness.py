"""The pinned batch that a move is known to get, if one is, whatever else it may get as well.

One loader that pins, and whose batches reach the move, is enough. What is unknown beside it does not change that; what
rules it out does: the batch is surely replaced on the way, or the loader and the device are chosen together.
"""

from __future__ import annotations

import libcst as cst

from dataloader_lint.rules.transfers._shared.batch_stores import bindings_below, stores_before
from dataloader_lint.rules.transfers._shared.batches import Origin, Transfer
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.heap.repetition import runs_often
from dataloader_lint.semantics.limits import REFILL_DEPTH
from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Binding, Kind, dotted, resolve
from dataloader_lint.semantics.syntax.origins import ingredients
from dataloader_lint.semantics.syntax.tree import COMPREHENSIONS, Node, Tree, function_scope
from dataloader_lint.semantics.values.values import Evaluator


def pinned_origin(transfer: Transfer) -> Origin | None:
    """A loader whose pinned batches are moved; None where none is known, or something rules it out."""
    origins, is_complete = transfer.known_origins
    pinned = next((origin for origin in origins if origin.is_pinned), None)
    if pinned is None or _is_surely_replaced(transfer):
        return None
    if is_complete and all(origin.is_pinned is not None for origin in origins):
        return pinned
    tree = transfer.frame.scope.module.tree
    bindings = _bindings_of_batch(transfer, tree)
    if any(_is_called_under_another_name(transfer.ev, binding) for binding in bindings):
        return None  # which function is passed and what it is given go together
    if any(tree.order(binding.node) >= tree.order(tree.statement_of(transfer.call)) for binding in bindings):
        return None  # from the second round of an inner loop on, it moves what the first has made
    return next((origin for origin in origins if origin.is_pinned and not _is_out_of_use(origin, transfer)), None)


def is_of_single_batch(transfer: Transfer) -> bool:
    """True if what is moved comes from `next(iter(loader))`, and neither that nor the move runs again and again."""
    tree, ev, scope = transfer.frame.scope.module.tree, transfer.ev, transfer.frame.scope
    if transfer.moved not in tree:
        return False
    bindings = _bindings_of_batch(transfer, tree)
    sources = [binding.value for binding in bindings] or [transfer.moved]
    nexts = [_first_batch(source, tree) for source in sources]
    return not runs_often(ev, scope, tree.statement_of(transfer.call)) and all(
        each is not None and not runs_often(ev, tree.scope_of(each), _what_runs(each, tree)) for each in nexts
    )


def is_waited_for(transfer: Transfer) -> bool:
    """True if `torch.cuda.synchronize()` follows the copies at once, to measure them: no copy can overlap with work."""
    tree = transfer.frame.scope.module.tree
    line = next((each for each in tree.ancestors(transfer.call) if isinstance(each, cst.SimpleStatementLine)), None)
    body = getattr(tree.parent(line), "body", ()) if line is not None else ()
    below = [each for each in body if tree.order(each) > tree.order(line)] if line is not None else []
    for each in below:
        calls = [dotted(call.func) for call in tree.find(each, cst.Call)]
        if calls == ["torch.cuda.synchronize"]:
            return isinstance(each, cst.SimpleStatementLine)
        if not isinstance(each, cst.SimpleStatementLine) or not any(_moves(name) for name in calls):
            return False
    return False


def _moves(callee: str) -> bool:
    return callee.rpartition(".")[2] in ("cuda", "to")


def _what_runs(call: cst.Call, tree: Tree) -> Node:
    """A call, or the comprehension that iterates over it: the first iterable is evaluated once."""
    for above in tree.ancestors(call):
        if isinstance(above, COMPREHENSIONS) and tree.is_inside(call, above.for_in.iter):
            return above
        if isinstance(above, cst.BaseSmallStatement):
            break
    return call


def _first_batch(node: cst.BaseExpression | None, tree: Tree) -> cst.Call | None:
    """The call `next(iter(...))` in an expression, or in what its names are bound to, if there is one."""
    for call in (call for each in ingredients(node, tree) for call in tree.find(each, cst.Call)):
        inner = call.args[0].value if last_name(call.func) == "next" and call.args else None
        if isinstance(inner, cst.Call) and last_name(inner.func) == "iter":
            return call
    return None


def _bindings_of_batch(transfer: Transfer, tree: Tree) -> list[Binding]:
    """What the moved name may be bound to; for `[each.to(device) for each in batch]`, what `batch` may be."""
    found = bindings_below(transfer.moved, tree) if transfer.moved in tree else []
    statement = tree.statement_of(transfer.call)
    for _ in range(REFILL_DEPTH):
        own = [each for each in found if each.kind is Kind.ELEMENT and tree.is_inside(each.node, statement)]
        if isinstance(statement, cst.BaseCompoundStatement) or not own:
            break
        names = (name for each in own if each.value is not None for name in tree.find(each.value, cst.Name))
        found = [each for each in found if each not in own] + [one for name in names for one in resolve(name, tree)]
    return found


def _is_surely_replaced(transfer: Transfer) -> bool:
    """True if another value is stored into the moved part of the batch on every way to the move."""
    tree = transfer.frame.scope.module.tree
    if transfer.moved not in tree:
        return False
    stores = [store for store in stores_before(transfer.moved, tree) if not transfer.origins_of(store.value)]
    return any(_surely_runs(store, transfer.call, stores, tree) for store in stores)


def _surely_runs(store: Node, move: Node, stores: list[cst.Assign], tree: Tree) -> bool:
    """True if a store runs before a move: no condition around it that the move has not, or a store on its other arm."""
    above_move = {id(each) for each in tree.ancestors(move)}
    child = store
    for above in tree.ancestors(store):
        if id(above) in above_move:
            return True
        if isinstance(above, cst.If):
            other = above.orelse if child is above.body else above.body
            arms = [each for each in stores if other is not None and any(up is other for up in tree.ancestors(each))]
            if not arms:
                return False
        child = above
    return True


def _is_called_under_another_name(ev: Evaluator, binding: Binding) -> bool:
    """True for a parameter of a function that is passed to others, which call it by a name of their own."""
    node = binding.scope.node
    if binding.kind is not Kind.PARAMETER or not isinstance(node, cst.FunctionDef):
        return False
    names = {node.name.value}
    klass = classes.class_of(binding.scope)
    if klass is not None and isinstance(klass.node, cst.ClassDef):
        names.add(klass.node.name.value)
    return any(last_name(call.func) not in names for call, _, _ in ev.callers(binding.scope))


def _is_out_of_use(origin: Origin, transfer: Transfer) -> bool:
    """True if only tests make a loader, for code that others use, or a private function that is never mentioned."""
    module = origin.loader.frame.scope.module
    if is_test(module) and not is_test(transfer.frame.scope.module):
        return True
    tree = module.tree
    if origin.loader.call not in tree:
        return False
    scope = function_scope(tree.scope_of(origin.loader.call))
    name = scope.node.name.value if isinstance(scope.node, cst.FunctionDef) else ""
    is_private = name.startswith("_") and not name.startswith("__")
    return is_private and tree.code.count(name) < 2
