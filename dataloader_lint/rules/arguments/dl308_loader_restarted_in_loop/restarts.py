"""Loaders whose workers are started again and again for one batch, or for none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from dataloader_lint.pipeline.loaders.epochs import loaders_behind
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.limits import RESTART_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.flow import leaves
from dataloader_lint.semantics.syntax.names import bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import LOOPS, ModuleFacts, Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import Const, Evaluator, Frame, Library, Sequence, constant
from dataloader_lint.semantics.values.values import Iterator as Iterated

_STARTING = ("iter", "enumerate")  # what makes an iterator that `next` takes a batch from


class How(Enum):
    """What starts the workers again."""

    ONE_BATCH = "one batch"  # next(iter(loader)) in a loop
    DROPPED = "dropped"  # iter(loader), whose result is not used
    MADE_AGAIN = "made again"  # a loader with persistent workers that is made in the loop


@dataclass(frozen=True, slots=True, eq=False)
class Restart:
    """One place that starts the workers of a loader again and again."""

    node: Node
    loader: Loader
    name: str  # what the user calls the loader
    how: How
    caller: str = ""  # the function that the loop calls, `step()`, or its property, where the place is in that
    is_for_new_data: bool = False  # the loop changes the Dataset, which workers that stay would not see


def restarts(ev: Evaluator, module: ModuleFacts, loaders: list[Loader]) -> Iterator[Restart]:
    """The places of a module that start workers again and again."""
    for name in _STARTING:
        for call in module.calls_named(name):
            yield from _Place(ev, module, call).restarts()
    for loader in loaders:
        persistent = loader.known("persistent_workers")
        if loader.node not in module.tree or persistent is None or persistent.value is not True:
            continue
        if loader.has_workers and loader.is_reached and _is_made_again(ev, loader, module.tree):
            changes = _changes_dataset(loader, module.tree)
            yield Restart(loader.node, loader, loader.name, How.MADE_AGAIN, is_for_new_data=changes)


def _changes_dataset(loader: Loader, tree: Tree) -> bool:
    """True if the loop around a loader stores into its Dataset or calls a method of it."""
    loop = _loop_around(loader.node, loader.frame, tree)
    given = loader.argument("dataset")
    if loop is None or given is None:
        return False
    names = {dotted(each) for kind in (cst.Name, cst.Attribute) for each in tree.find(given.value, kind)} - {"", "self"}
    stores = [each.target for assign in tree.find(loop.body, cst.Assign) for each in assign.targets]
    changed = [*stores, *(call.func for call in tree.find(loop.body, cst.Call))]
    return any(isinstance(each, cst.Attribute) and dotted(each.value) in names for each in changed)


class _Place:
    """A call `iter(loader)`, or `enumerate(loader)`, which makes the same iterator."""

    def __init__(self, ev: Evaluator, module: ModuleFacts, call: cst.Call) -> None:
        self.ev = ev
        self.tree = module.tree
        self.call = call
        self.frame = ev.frame_of(function_scope(module.tree.scope_of(call)))

    def restarts(self) -> Iterator[Restart]:
        if not isinstance(self.call.func, cst.Name) or not self.call.args:
            return
        is_iter = self.call.func.value == "iter"
        if is_iter and len(self.call.args) != 1:
            return
        arg = self.tree.parent(self.call)
        outer = self.tree.parent(arg) if arg is not None else None
        is_dropped = isinstance(arg, cst.Expr) and is_iter
        if isinstance(arg, cst.Assign) and is_iter:
            outer = self.only_use(arg)
        takes_one = isinstance(outer, cst.Call) and last_name(outer.func) == "next"
        if not is_dropped and not takes_one:
            return
        given = self.call.args[0].value
        loader = self.loader(given)
        if loader is None or not is_reached(self.ev, self.call, self.frame):
            return
        name = dotted(given) or loader.name
        if is_dropped:
            persistent = constant(loader.values("persistent_workers"))
            if persistent is not None and persistent.value is False:
                yield Restart(self.call, loader, name, How.DROPPED)
        elif isinstance(outer, cst.Call) and self.ev.values(outer.func, self.frame) == (Library("builtins.next"),):
            loop = _step_loop(self.ev, outer, self.frame)
            if loop is not None:
                if not _depends_on(given, loop, self.tree):
                    yield Restart(outer, loader, name, How.ONE_BATCH)
            elif not _has_loop(outer, self.frame, self.tree):
                caller = self.called_in_loop(self.frame.scope, given, 0)
                if caller:
                    yield Restart(outer, loader, name, How.ONE_BATCH, caller)

    def only_use(self, kept: cst.Assign) -> Node | None:
        """The one call that gets the iterator under the name that it is kept under, further down in the same block."""
        target = kept.targets[0].target
        if not isinstance(target, cst.Name) or len(kept.targets) > 1:
            return None
        uses = self.tree.named(self.frame.scope.node, target.value)
        arg = self.tree.parent(uses[-1])
        call = self.tree.parent(arg) if isinstance(arg, cst.Arg) else None
        if len(uses) != 2 or call is None or self.tree.scope_of(call) is not self.tree.scope_of(kept):
            return None
        block = self.tree.parent(self.tree.statement_of(call))
        return call if block is self.tree.parent(self.tree.statement_of(kept)) else None

    def loader(self, given: cst.BaseExpression) -> Loader | None:
        """The loader that is iterated, if it is surely one and may have workers."""
        values = self.ev.values(given, self.frame)
        found = [loader for _, loader in loaders_behind(self.ev, values)]
        if not found or len(found) != len(values) or any(isinstance(value, Iterated) for value in values):
            return None
        return next((loader for loader in found if loader.has_workers is not False), None)

    def called_in_loop(self, scope: Scope, given: cst.BaseExpression, depth: int) -> str:
        """The function that holds the place, `step()`, where a step loop of the module runs it; empty otherwise."""
        if not isinstance(scope.node, cst.FunctionDef) or depth > RESTART_DEPTH:
            return ""
        for place, frame, _ in self.ev.callers(scope):
            if place not in self.tree:
                continue
            loop = _step_loop(self.ev, place, frame)
            if loop is not None and is_reached(self.ev, place, frame):
                if not any(
                    _depends_on(arg.value, loop, self.tree) and self.is_loader(arg, frame) for arg in place.args
                ):
                    return f"{scope.node.name.value}()"
            elif loop is None and not _has_loop(place, frame, self.tree):
                if self.called_in_loop(frame.scope, given, depth + 1):
                    return f"{scope.node.name.value}()"
        return ""

    def is_loader(self, arg: cst.Arg, frame: Frame) -> bool:
        return any(True for _ in loaders_behind(self.ev, self.ev.values(arg.value, frame)))


def _has_loop(node: Node, frame: Frame, tree: Tree) -> bool:
    return _loop_around(node, frame, tree) is not None


def _loop_around(node: Node, frame: Frame, tree: Tree) -> cst.For | cst.While | None:
    """The innermost loop of the function around a node; none where the node runs once in it, or to start it again."""
    child = node
    for above in tree.ancestors(node):
        if above is frame.scope.node:
            return None
        if isinstance(above, cst.For | cst.While) and child is above.body:
            return above
        child = above
    return None


def _step_loop(ev: Evaluator, node: Node, frame: Frame) -> cst.For | cst.While | None:
    """The loop over steps around a node: neither one over epochs, nor one that the node leaves or restarts."""
    tree = frame.scope.module.tree
    loop = _loop_around(node, frame, tree)
    if loop is None or _is_over_epochs(loop, frame):
        return None
    child = node
    for above in tree.ancestors(node):
        if isinstance(above, cst.ExceptHandler | cst.ExceptStarHandler):
            return None  # the next round over an exhausted iterator
        if isinstance(above, cst.IndentedBlock):
            after = list(above.body)[[each is child for each in above.body].index(True) :]
            if leaves(cst.IndentedBlock(after)) and not _goes_on(after[-1]):
                return None
        if above is loop:
            break
        child = above
    if isinstance(loop, cst.For):
        found = ev.values(loop.iter, frame)
        if any(isinstance(value, Sequence) and value.items is not None for value in found):
            return None  # some things that are written out
    return loop


def _goes_on(statement: Node) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[-1], cst.Continue)


def _is_over_epochs(loop: cst.For | cst.While, frame: Frame) -> bool:
    """A loop that calls its rounds epochs, or in which another loop goes over a loader."""
    tree = frame.scope.module.tree
    head = loop.target if isinstance(loop, cst.For) else loop.test
    if any("epoch" in name.value.lower() for name in tree.find(head, cst.Name)):
        return True
    if isinstance(loop, cst.For) and any("epoch" in name.value.lower() for name in tree.find(loop.iter, cst.Name)):
        return True
    return any(True for kind in LOOPS for inner in tree.find(loop.body, kind))


def _depends_on(node: cst.BaseExpression, loop: cst.For | cst.While, tree: Tree) -> bool:
    """True if an expression uses a name that the loop binds."""
    inside = {id(each) for each in tree.walk(loop)}
    for name in tree.find(node, cst.Name):
        scope: Scope | None = tree.scope_of(name)
        while scope is not None:
            bindings = bindings_of(scope).get(name.value)
            if bindings:
                if any(id(binding.node) in inside for binding in bindings):
                    return True
                break
            scope = scope.parent
    return False


def _is_made_again(ev: Evaluator, loader: Loader, tree: Tree) -> bool:
    """True if a loop makes the same loader in every round, and lets the one before go."""
    node = loader.node
    frame = ev.frame_of(function_scope(tree.scope_of(node)))
    loop = _loop_around(node, frame, tree)
    if loop is None or any(_depends_on(arg.value, loop, tree) for arg in node.args):
        return False
    if isinstance(loop, cst.For) and _is_written_out(ev, loop, frame):
        return False
    above = tree.parent(node)
    if isinstance(above, cst.Assign):
        if len(above.targets) != 1 or not isinstance(above.targets[0].target, cst.Name):
            return False
        return tree.parent(tree.statement_of(node)) is loop.body
    return isinstance(above, cst.For | cst.Arg) and _is_iterated(above, tree)


def _is_iterated(node: Node, tree: Tree) -> bool:
    """`for batch in DataLoader(...)`, also behind `enumerate`."""
    if isinstance(node, cst.For):
        return True
    call = tree.parent(node)
    return isinstance(call, cst.Call) and last_name(call.func) in ("enumerate", "tqdm", "iter")


def _is_written_out(ev: Evaluator, loop: cst.For, frame: Frame) -> bool:
    return any(
        isinstance(value, Const) or (isinstance(value, Sequence) and value.items is not None)
        for value in ev.values(loop.iter, frame)
    )
