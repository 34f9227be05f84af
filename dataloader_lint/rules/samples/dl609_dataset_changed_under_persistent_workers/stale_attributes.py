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
from dataloader_lint.pipeline.loaders.epochs import EpochLoop, Pass, loaders_behind, loops_of, training_loops
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.rules.samples.dl609_dataset_changed_under_persistent_workers.hooks import (
    epoch_hooks,
    loaders_that_train,
    of_trainer,
)
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.indirect_stores import ANY_NAME, indirect_stores
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.short_names import REMOVING
from dataloader_lint.semantics.limits import CHANGE_DEPTH, CHANGING_METHODS
from dataloader_lint.semantics.syntax.additions import ADDING_METHODS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import (
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    ItemOf,
    Mapping,
    Method,
    Opaque,
    Sequence,
    Unknown,
    Value,
    constant,
)

# Attributes whose assignment writes shared memory.
_SHARED = frozenset({"value", "data"})


# Methods that change a list or a dict.
_CHANGING = REMOVING | ADDING_METHODS.keys() | {"reverse", "sort"}
# What Datasets of torchvision read for each sample.
_LIBRARY = "torchvision.datasets."
_READ_BY_LIBRARY = frozenset({"target_transform", "transform"})


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
            for made in [inner for value in given for inner in _datasets_in(workers, value)]:
                for change in _changes(workers, epochs.loop, found, made, persistent):
                    if id(change.node) not in seen and change.node in tree:
                        seen.add(id(change.node))
                        yield change
    for found in _batch_loops(file) if _sets_in_loops(file.module) else ():
        for value in found.loader.values("dataset"):
            for made in _datasets_in(workers, value):
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
                for made in _datasets_in(workers, value):
                    one = _Object(workers, loader, made, is_in_hook=True)
                    body = hook.scope.node
                    for node, written, names in _statements_that_change(one, body, hook):
                        name = one.first_read(names)
                        if name and is_reached(workers.ev, node, hook, with_options=True):
                            yield StaleAttribute(node, name, one.name, loader, written, persistent)
                    yield from _changes_in_calls(one, body, hook, [hook.scope], persistent)


def _datasets_in(workers: Workers, value: Value) -> Iterator[CallResult]:
    """The objects that give the samples of what a loader is given, of the project or of torchvision."""
    return wrapped_datasets(workers.ev, value, library=_LIBRARY)


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


class _Object:
    """One object that a loader gets, and how a place in the code is told to mean it."""

    def __init__(self, workers: Workers, loader: Loader, made: CallResult, is_in_hook: bool = False) -> None:
        self.workers = workers
        self.loader = loader
        self.made = made
        self.klass = made.by if isinstance(made.by, Class) else None
        self.name = self.klass.node.name.value if self.klass is not None else made.library.rpartition(".")[2]
        self.is_in_hook = is_in_hook
        self._read: frozenset[str] | None = None

    def is_meant(self, node: cst.BaseExpression, frame: Frame) -> bool:
        """True if an expression may be the object."""
        found = self.workers.ev.values(node, frame)
        if self.made in found or not self.is_in_hook:
            return self.made in found
        if any(self._is_made_there(each) for each in found):
            return True
        is_known = not all(isinstance(each, Unknown | AttributeOf | ItemOf) for each in found)
        given = of_trainer(self.workers.ev, node, frame, self.loader) if not is_known else ()
        inner = (each for value in given for each in _datasets_in(self.workers, value))
        return any(self._is_made_there(each) for each in inner)

    def _is_made_there(self, value: Value) -> bool:
        """True for an object of the same class that the same call makes: a trainer has one module of each."""
        return isinstance(value, CallResult) and value.by == self.made.by and value.call is self.made.call

    def holder_of(self, node: cst.BaseExpression, changed: set[str], frame: Frame) -> str:
        """The attribute that holds what is changed, if workers read the change: `tool` of `dataset.tool.p`."""
        parts = [each for each in self.workers.ev.values(node, frame) if isinstance(each, CallResult) and each.call]
        for part in parts if self.klass is not None else ():
            if isinstance(part.by, Class) and part != self.made:
                for name in sorted(self.read):
                    if part in self.workers.ev.attribute(self.made, name) and (
                        any(f"{name}.{each}" in self.read for each in changed)
                        or not changed.isdisjoint(_read_by_workers(self.workers, part.by, self.loader))
                    ):
                        return name
        return ""

    @property
    def read(self) -> frozenset[str]:
        """The attributes that worker code reads."""
        if self._read is None:
            own = self.klass
            self._read = _read_by_workers(self.workers, own, self.loader) if own is not None else _READ_BY_LIBRARY
        return self._read

    def first_read(self, names: set[str]) -> str | None:
        """The first of some attributes that worker code reads."""
        return next((each for each in sorted(names) if each in self.read), None) if names else None


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
    one = _Object(workers, found.loader, made)
    for frame in found.path:
        body: Node = loop.body if frame is found.path[0] else frame.scope.node
        tree = frame.scope.module.tree
        for node, written, names in _statements_that_change(one, body, frame):
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
    one: _Object, body: Node, frame: Frame, others: list[Scope], persistent: Lifetime
) -> Iterator[StaleAttribute]:
    """The changes to an object in the functions that a body calls, reported at the call where that is another file."""
    for call, called in _called(one.workers, body, frame, one.made, others, 0):
        for node, written, names in _statements_that_change(one, called.scope.node, called):
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


def _statements_that_change(one: _Object, body: Node, frame: Frame) -> Iterator[tuple[Node, str, set[str]]]:
    """Yields stores into the object and calls of methods that bind its attributes, with these attributes."""
    workers = one.workers
    tree = frame.scope.module.tree
    for node in tree.walk(body):
        if function_scope(tree.scope_of(node)) is not frame.scope:
            continue
        if isinstance(node, cst.Assign | cst.AugAssign):
            targets = [each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target]
            for target in targets:
                name = _first_attribute(one, target, frame)
                if name:
                    whole = target.value if isinstance(target, cst.Subscript) else target
                    yield node, dotted(whole), {name, *_set_by_property(one, name)}
        elif isinstance(node, cst.Call) and dotted(node.func) == "setattr" and len(node.args) == 3:
            owner, key = (arg.value for arg in node.args[:2])
            named = constant(workers.ev.values(key, frame))
            if named is not None and isinstance(named.value, str) and one.is_meant(owner, frame):
                yield node, f"{dotted(owner)}.{named.value}", {named.value}
        elif isinstance(node, cst.Call):
            changed = _changed_in_place(workers.ev, node, frame)
            if changed is not None and one.is_meant(changed.value, frame):
                yield node, dotted(changed), {changed.attr.value}
            elif isinstance(node.func, cst.Attribute) and one.klass and one.is_meant(node.func.value, frame):
                bases = workers.ev.bases(one.klass).classes
                method = classes.find_method(workers.ev, bases, node.func.attr.value)
                if method is not None:
                    bound = _bound_by(workers, method.scope, one.klass)
                    if ANY_NAME in bound:  # `dataset.update(scale=2)` of `def update(self, **options)`
                        bound |= {arg.keyword.value for arg in node.args if arg.keyword is not None}
                    yield node, f"{dotted(node.func)}()", bound


def _set_by_property(one: _Object, name: str) -> set[str]:
    """The attributes that the setter of a property of this name binds."""
    bases = one.workers.ev.bases(one.klass).classes if one.klass is not None else ()
    setters = [
        scope
        for klass in bases
        for scope in klass.scope.inner
        if isinstance(scope.node, cst.FunctionDef)
        and scope.node.name.value == name
        and f"{name}.setter" in classes.decorator_names(scope.node)
    ]
    return set().union(*(_bound_by(one.workers, scope, one.klass) for scope in setters)) if one.klass else set()


def _changed_in_place(ev: Evaluator, call: cst.Call, frame: Frame) -> cst.Attribute | None:
    """The attribute whose list, dict or array a call changes: `random.shuffle(self.order)`, `self.rows.append(row)`."""
    name = last_name(call.func)
    if name == "shuffle" and call.args:
        changed, is_array = call.args[0].value, True
    elif name in _CHANGING and isinstance(call.func, cst.Attribute):
        changed, is_array = call.func.value, False
    else:
        return None
    if not isinstance(changed, cst.Attribute):
        return None
    found = ev.values(changed, frame)
    is_own = all(
        isinstance(each, Sequence | Mapping)
        or (isinstance(each, Opaque) and each.kind in ("list", "array" if is_array else ""))
        for each in found
    )
    return changed if found and is_own else None


def _is_list_or_dict(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    found = ev.values(node, frame)
    return bool(found) and all(isinstance(each, Mapping | Sequence) for each in found)


def _first_attribute(one: _Object, target: cst.BaseExpression, frame: Frame) -> str:
    """The attribute of the object that a store changes, directly or deeper; empty for another object."""
    if isinstance(target, cst.Subscript):  # `dataset.options["p"] = 0.5`; an array or tensor may be shared
        if not _is_list_or_dict(one.workers.ev, target.value, frame):
            return ""
        target = target.value
    if not isinstance(target, cst.Attribute) or target.attr.value in _SHARED:
        return ""
    node: cst.BaseExpression = target
    while isinstance(node, cst.Attribute):
        if one.is_meant(node.value, frame):
            return node.attr.value
        node = node.value
    return one.holder_of(target.value, {target.attr.value}, frame)


def _bound_by(workers: Workers, method: Scope, klass: Class) -> set[str]:
    """The attributes that a method binds, directly or through methods that it calls on the object."""
    bases = workers.ev.bases(klass)
    todo = [method]
    found: set[str] = set()
    for scope in todo:  # grows during the iteration
        owner = classes.class_of(scope)
        for bindings in classes.attribute_bindings(owner).values() if owner is not None else ():
            found.update(binding.name for binding in bindings if binding.method is scope)
        own, frame = classes.receiver_name(scope), workers.ev.frame_of(scope)
        found.update(each.name for each in indirect_stores(scope, own))
        stores: list[cst.Assign | cst.AugAssign] = [*scope.own(cst.Assign), *scope.own(cst.AugAssign)]
        for store in stores:
            targets = [store.target] if isinstance(store, cst.AugAssign) else [each.target for each in store.targets]
            for target in targets:
                whole = target.value if isinstance(target, cst.Subscript) else None
                if isinstance(whole, cst.Attribute) and dotted(whole.value) == own:
                    if _is_list_or_dict(workers.ev, whole, frame):
                        found.add(whole.attr.value)
        changed = (_changed_in_place(workers.ev, call, frame) for call in scope.own(cst.Call))
        found.update(each.attr.value for each in changed if each is not None and dotted(each.value) == own)
        for called, _ in calls_on_self(workers.ev, scope, bases):
            if called.scope not in todo and len(todo) < CHANGING_METHODS:
                todo.append(called.scope)
    return found


def _read_by_workers(workers: Workers, klass: Class, loader: Loader) -> frozenset[str]:
    """The attributes of instances of the class that worker code reads: `tool`, and `tool.p` of `self.tool.p`."""
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
                    head, _, path = dotted(node).partition(".")
                    if head == own and path.count(".") <= 1:
                        found.add(path)
    return frozenset(found)
