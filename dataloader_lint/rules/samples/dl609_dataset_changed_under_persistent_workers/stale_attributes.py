"""Changes to a Dataset between epochs in the main process, which the copies in persistent workers do not get."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from dataloader_lint.pipeline.datasets.construction import calls_on_self
from dataloader_lint.pipeline.datasets.wrappers import wrapped_datasets
from dataloader_lint.pipeline.epoch_loops import epoch_loops, loops_with_passes
from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.loaders.argument_sites import sites_of
from dataloader_lint.pipeline.loaders.epochs import EpochLoop, Pass, training_loops
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.limits import CHANGE_DEPTH, CHANGING_METHODS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Const, Frame, Function, Method, constant

# Attributes whose assignment writes shared memory.
_SHARED = frozenset({"value", "data"})


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
    dataset: Class
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
        for found in epochs.passes:
            # A loader of its own in each round has not started its workers yet.
            persistent = None if found.changes_with(epochs.loop) else _keeps_workers(found.loader)
            if found.loader.has_workers is False:
                continue
            given = found.loader.values("dataset")
            for made in [inner for value in given for inner in wrapped_datasets(workers.ev, value)]:
                assert isinstance(made.by, Class)
                for change in _changes(workers, epochs.loop, found, made, made.by, persistent):
                    if id(change.node) not in seen and change.node in tree:
                        seen.add(id(change.node))
                        yield change


def _loops(file: File) -> list[EpochLoop]:
    if file.project.mentions_word(file.module, "persistent_workers"):
        return epoch_loops(file)
    if _sets_in_loops(file.module):
        return loops_with_passes(file, training_loops(file.project, file.module), False)
    return []


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
    klass: Class,
    persistent: Lifetime | None,
) -> Iterator[StaleAttribute]:
    """The changes to one object in a pass of the loop, in the functions that lead to the iteration over its loader.

    Those of other functions that are called there count as well where the workers may stay.
    """
    read: set[str] | None = None
    for frame in found.path:
        body: Node = loop.body if frame is found.path[0] else frame.scope.node
        tree = frame.scope.module.tree
        for node, written, names in _statements_that_change(workers, body, frame, made, klass):
            # Workers that are known to start get their copy before the first batch.
            is_late = (
                found.loader.has_workers and isinstance(found.node, cst.For) and _counts_in(found.node, node, tree)
            )
            lifetime = Lifetime.EPOCH if is_late and persistent is not Lifetime.PERSISTENT else persistent
            if lifetime is None or not is_reached(workers.ev, node, frame, with_options=True):
                continue
            if read is None:
                read = _read_by_workers(workers, klass, found.loader)
            name = next((each for each in sorted(names) if each in read), None)
            if name is not None:
                yield StaleAttribute(node, name, klass, found.loader, written, lifetime)
        others = [each.scope for each in found.path] if persistent is not None else []
        for call, called in _called(workers, body, frame, made, others, 0) if others else ():
            for node, written, names in _statements_that_change(workers, called.scope.node, called, made, klass):
                if not is_reached(workers.ev, node, called, with_options=True):
                    continue
                read = _read_by_workers(workers, klass, found.loader) if read is None else read
                name = next((each for each in sorted(names) if each in read), None)
                is_here = called.scope.module is frame.scope.module
                place, what = (node, written) if is_here else (call, f"{dotted(call.func)}()")
                if name is not None and persistent is not None:
                    yield StaleAttribute(place, name, klass, found.loader, what, persistent)


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
    """True if a loop of a module may set an attribute of a Dataset, by what it is called."""
    tree = module.tree
    for scope in module.root.descend():
        stores: list[cst.Assign | cst.AugAssign] = [*scope.own(cst.Assign), *scope.own(cst.AugAssign)]
        for node in stores:
            targets = [node.target] if isinstance(node, cst.AugAssign) else [each.target for each in node.targets]
            for target in targets:
                owner = last_name(target.value).lower() if isinstance(target, cst.Attribute) else ""
                if ("data" in owner or owner.endswith("set")) and any(
                    isinstance(above, cst.For) for above in tree.ancestors(node)
                ):
                    return True
    return False


def _statements_that_change(
    workers: Workers, body: Node, frame: Frame, made: CallResult, klass: Class
) -> Iterator[tuple[Node, str, set[str]]]:
    """Yields stores into the object and calls of methods that bind its attributes, with these attributes."""
    tree = frame.scope.module.tree
    for node in tree.walk(body):
        if function_scope(tree.scope_of(node)) is not frame.scope:
            continue
        if isinstance(node, cst.Assign | cst.AugAssign):
            targets = [each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target]
            for target in targets:
                name = _first_attribute(workers, target, frame, made)
                if name:
                    yield node, dotted(target), {name}
        elif isinstance(node, cst.Call) and dotted(node.func) == "setattr" and len(node.args) == 3:
            owner, key = (arg.value for arg in node.args[:2])
            named = constant(workers.ev.values(key, frame))
            if named is not None and isinstance(named.value, str) and made in workers.ev.values(owner, frame):
                yield node, f"{dotted(owner)}.{named.value}", {named.value}
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            if made in workers.ev.values(node.func.value, frame):
                method = classes.find_method(workers.ev, workers.ev.bases(klass).classes, node.func.attr.value)
                if method is not None:
                    yield node, f"{dotted(node.func)}()", _bound_by(workers, method.scope, klass)


def _first_attribute(workers: Workers, target: cst.BaseExpression, frame: Frame, made: CallResult) -> str:
    """The attribute of the object that a store changes, directly or deeper; empty for another object."""
    if not isinstance(target, cst.Attribute) or target.attr.value in _SHARED:
        return ""
    node: cst.BaseExpression = target
    while isinstance(node, cst.Attribute):
        if made in workers.ev.values(node.value, frame):
            return node.attr.value
        node = node.value
    return ""


def _bound_by(workers: Workers, method: Scope, klass: Class) -> set[str]:
    """The attributes that a method binds, directly or through methods that it calls on the object."""
    bases = workers.ev.bases(klass)
    todo = [method]
    found: set[str] = set()
    for scope in todo:  # grows during the iteration
        owner = classes.class_of(scope)
        for bindings in classes.attribute_bindings(owner).values() if owner is not None else ():
            found.update(binding.name for binding in bindings if binding.method is scope)
        for called, _ in calls_on_self(workers.ev, scope, bases):
            if called.scope not in todo and len(todo) < CHANGING_METHODS:
                todo.append(called.scope)
    return found


def _read_by_workers(workers: Workers, klass: Class, loader: Loader) -> set[str]:
    """The attributes of instances of the class that worker code reads."""
    own_classes = {id(each.scope) for each in workers.ev.bases(klass).classes}
    found: set[str] = set()
    modules = {each.path: each for each in (klass.scope.module, loader.frame.scope.module)}
    for module in modules.values():
        for function in workers.functions(module):
            owner = classes.class_of(function.scope)
            if owner is None or id(owner) not in own_classes:
                continue
            own = classes.receiver_name(function.scope)
            for scope in function.scope.descend():
                for node in scope.own(cst.Attribute):
                    if isinstance(node.value, cst.Name) and node.value.value == own:
                        found.add(node.attr.value)
    return found
