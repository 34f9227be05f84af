"""Changes to a Dataset between epochs in the main process, which the copies in persistent workers do not get."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from dataloader_lint.pipeline.epoch_loops import epoch_loops, loops_with_passes
from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.loaders.argument_sites import sites_of
from dataloader_lint.pipeline.loaders.epochs import EpochLoop, Pass, loaders_behind, loops_of, training_loops
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.rules.samples.dl609_dataset_changed_under_persistent_workers.changes import (
    ChangedObject,
    datasets_in,
    statements_that_change,
)
from dataloader_lint.rules.samples.dl609_dataset_changed_under_persistent_workers.hooks import (
    epoch_hooks,
    loaders_that_train,
)
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.limits import CHANGE_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Const,
    Frame,
    Function,
    Method,
)


class Lifetime(Enum):
    """How long the workers live that do not get a change."""

    PERSISTENT = "persistent"
    MAY_PERSIST = "may persist"  # an option or an unknown value decides
    EPOCH = "epoch"  # the change comes while they run, between two batches


@dataclass(frozen=True, slots=True, eq=False)
class StaleAttribute:
    """A statement in an epoch loop that changes what workers read, after they got their copy."""

    node: Node
    attribute: str
    dataset: str  # the name of its class
    loader: Loader
    written: str  # the expression of the change: `dataset.epoch`, `dataset.set_epoch()`
    lifetime: Lifetime

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the loader is made whose workers stay."""
        return loader_steps.made(self.loader, "num_workers", "persistent_workers")


def stale_attributes(file: File) -> Iterator[StaleAttribute]:
    """Yields the changes that loops of a file make to Datasets whose loaders have workers that do not see them."""
    workers = file.workers
    seen: set[int] = set()
    for epochs in _loops(file):
        tree = epochs.frame.scope.module.tree
        for found in (*epochs.passes, *epochs.prepared):
            # A loader of its own in each round has not started its workers yet.
            persistent = None if found.changes_with(epochs.loop) else _keeps_workers(found.loader)
            if found.loader.has_workers is False:
                continue
            given = found.loader.values("dataset")
            for made in [inner for value in given for inner in datasets_in(workers, value)]:
                for change in _changes(workers, epochs.loop, found, made, persistent):
                    if id(change.node) not in seen and change.node in tree:
                        seen.add(id(change.node))
                        yield change
    for found in _batch_loops(file) if _sets_in_loops(file.module) else ():
        for value in found.loader.values("dataset"):
            for made in datasets_in(workers, value):
                for change in _changes(workers, cst.ensure_type(found.node, cst.For), found, made, None):
                    if id(change.node) not in seen:
                        seen.add(id(change.node))
                        yield change
    if file.project.mentions_word(file.module, "persistent_workers"):
        for change in _changes_in_hooks(file):
            if id(change.node) not in seen:
                seen.add(id(change.node))
                yield change


def _changes_in_hooks(file: File) -> Iterator[StaleAttribute]:
    """The changes in hooks that a trainer runs between epochs, and in what these call."""
    workers = file.workers
    for hook in epoch_hooks(file):
        for loader in loaders_that_train(file, hook):
            persistent = _keeps_workers(loader)
            if persistent is None or loader.has_workers is False:
                continue
            for value in loader.values("dataset"):
                for made in datasets_in(workers, value):
                    one = ChangedObject(workers, loader, made, is_in_hook=True)
                    body = hook.scope.node
                    for node, written, names in statements_that_change(one, body, hook):
                        name = one.first_read(names)
                        if name and is_reached(workers.ev, node, hook, with_options=True):
                            yield StaleAttribute(node, name, one.name, loader, written, persistent)
                    yield from _changes_in_calls(one, body, hook, [hook.scope], persistent)


def _loops(file: File) -> list[EpochLoop]:
    if file.project.mentions_word(file.module, "persistent_workers"):
        return epoch_loops(file)
    if _sets_in_loops(file.module):
        return loops_with_passes(file, training_loops(file.project, file.module), False)
    return []


def _batch_loops(file: File) -> Iterator[Pass]:
    """The loops over batches, also those that no loop over epochs stands around."""
    for loop in loops_of(file.module):
        frame = file.ev.frame_of(function_scope(file.tree.scope_of(loop)))
        if isinstance(loop, cst.For) and is_reached(file.ev, loop, frame, with_options=True):
            for made, loader in loaders_behind(file.ev, file.ev.values(loop.iter, frame)):
                yield Pass(loader, made, loop, (frame,))


def _keeps_workers(loader: Loader) -> Lifetime | None:
    """How surely workers of a loader outlive the epoch; None if they are known not to.

    An option counts: `persistent_workers=args.workers > 0`. A default that is left as it is does not.
    """
    values = loader.values("persistent_workers")
    if all(isinstance(each, Const) and bool(each.value) for each in values) and values:
        return Lifetime.PERSISTENT
    if loader.argument("persistent_workers") is None:
        sites = sites_of(loader, "persistent_workers")  # a key of a dict that is passed with `**`
        if not any(site.node is not None for site in sites or ()):
            return None
    is_off = all(isinstance(each, Const) and not each.value and not each.default for each in values)
    return None if is_off else Lifetime.MAY_PERSIST


def _changes(
    workers: Workers,
    loop: cst.For | cst.While,
    found: Pass,
    made: CallResult,
    persistent: Lifetime | None,
) -> Iterator[StaleAttribute]:
    """The changes to one object in a pass of the loop, in the functions that lead to the iteration over its loader.

    Those of other functions that are called there count as well where the workers may stay.
    """
    one = ChangedObject(workers, found.loader, made)
    for frame in found.path:
        body: Node = loop.body if frame is found.path[0] else frame.scope.node
        tree = frame.scope.module.tree
        for node, written, names in statements_that_change(one, body, frame):
            # Workers that are known to start get their copy before the first batch.
            is_late = (
                found.loader.has_workers and isinstance(found.node, cst.For) and _counts_in(found.node, node, tree)
            )
            lifetime = Lifetime.EPOCH if is_late and persistent is not Lifetime.PERSISTENT else persistent
            if lifetime is None or not is_reached(workers.ev, node, frame, with_options=True):
                continue
            if _is_made_again(found, node, tree):
                continue
            name = one.first_read(names)
            if name is not None:
                yield StaleAttribute(node, name, one.name, found.loader, written, lifetime)
        if persistent is not None:
            yield from _changes_in_calls(one, body, frame, [each.scope for each in found.path], persistent)


def _is_made_again(found: Pass, change: Node, tree: Tree) -> bool:
    """True if the block of a change goes on to bind what the loop over batches goes over: to another loader."""
    iterated = found.node.iter if isinstance(found.node, cst.For | cst.CompFor) else found.node
    if iterated not in tree:
        return False
    names = {dotted(each) for each in (*tree.find(iterated, cst.Name), *tree.find(iterated, cst.Attribute))}
    line = next((each for each in (change, *tree.ancestors(change)) if isinstance(each, cst.SimpleStatementLine)), None)
    block = tree.parent(line) if line is not None else None
    after = tree.order(change)
    return isinstance(block, cst.IndentedBlock) and any(
        isinstance(small, cst.Assign)
        and tree.order(small) > after
        and any(dotted(each.target) in names for each in small.targets)
        for other in block.body
        if isinstance(other, cst.SimpleStatementLine)
        for small in other.body
    )


def _changes_in_calls(
    one: ChangedObject, body: Node, frame: Frame, others: list[Scope], persistent: Lifetime
) -> Iterator[StaleAttribute]:
    """The changes to an object in the functions that a body calls, reported at the call where that is another file."""
    for call, called in _called(one.workers, body, frame, one.made, others, 0):
        for node, written, names in statements_that_change(one, called.scope.node, called):
            name = one.first_read(names)
            if name is None or not is_reached(one.workers.ev, node, called, with_options=True):
                continue
            is_here = called.scope.module is frame.scope.module
            place, what = (node, written) if is_here else (call, f"{dotted(call.func)}()")
            yield StaleAttribute(place, name, one.name, one.loader, what, persistent)


def _called(
    workers: Workers, body: Node, frame: Frame, made: CallResult, others: list[Scope], depth: int
) -> Iterator[tuple[cst.Call, Frame]]:
    """The functions that a body calls, directly or through each other, each with the call that stands in the body.

    Methods of the object itself are left out, and the functions `others`.
    """
    tree = frame.scope.module.tree
    for call in tree.find(body, cst.Call):
        if function_scope(tree.scope_of(call)) is not frame.scope or not is_reached(workers.ev, call, frame):
            continue
        for callee in workers.ev.values(call.func, frame):
            function = callee.function if isinstance(callee, Method) else callee
            receiver = callee.receiver if isinstance(callee, Method) else None
            if not isinstance(function, Function) or function.scope in others or receiver == made:
                continue
            inside = workers.ev.enter(function, call, frame, receiver)
            yield call, inside
            if depth < CHANGE_DEPTH:
                further = _called(workers, function.node, inside, made, [*others, function.scope], depth + 1)
                yield from ((call, each) for _, each in further)


def _counts_in(loop: cst.For, node: Node, tree: Tree) -> bool:
    """True if a statement in the body of a loop over batches passes on a number that the loop counts up."""
    above = tree.parent(node)
    while isinstance(above, cst.Expr | cst.SimpleStatementLine | cst.IndentedBlock) and above is not loop.body:
        above = tree.parent(above)
    if above is not loop.body:
        return False
    counted = {each.value for each in tree.find(loop.target, cst.Name)}
    counted |= {dotted(each.target) for each in tree.find(loop.body, cst.AugAssign)}
    if isinstance(node, cst.AugAssign):
        return True
    given = [arg.value for arg in node.args] if isinstance(node, cst.Call) else [getattr(node, "value", node)]
    return any(dotted(each) in counted for each in given)


def _sets_in_loops(module: ModuleFacts) -> bool:
    """True if a loop of a module may set an attribute of a Dataset, by what it is called: `dataset.set_level(step)`."""
    tree = module.tree
    for scope in module.root.descend():
        changed: list[tuple[Node, cst.BaseExpression]] = [
            *((node, each.target) for node in scope.own(cst.Assign) for each in node.targets),
            *((node, node.target) for node in scope.own(cst.AugAssign)),
            *((call, call.func) for call in scope.own(cst.Call) if last_name(call.func).startswith("set_")),
        ]
        for node, target in changed:
            owner = last_name(target.value).lower() if isinstance(target, cst.Attribute) else ""
            is_data = "data" in owner or owner == "ds" or owner.endswith(("_ds", "set"))
            if is_data and any(isinstance(above, cst.For) for above in tree.ancestors(node)):
                return True
    return False
