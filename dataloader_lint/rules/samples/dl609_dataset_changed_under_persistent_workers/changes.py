"""What changes an object that a loader gets, and which of its attributes worker code reads."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.construction import calls_on_self
from dataloader_lint.pipeline.datasets.wrappers import wrapped_datasets
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.rules.samples.dl609_dataset_changed_under_persistent_workers.hooks import of_trainer
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.indirect_stores import ANY_NAME, indirect_stores
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.short_names import REMOVING
from dataloader_lint.semantics.limits import CHANGING_METHODS
from dataloader_lint.semantics.syntax.additions import ADDING_METHODS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node, Scope, function_scope
from dataloader_lint.semantics.values.values import (
    AttributeOf,
    CallResult,
    Class,
    Evaluator,
    Frame,
    ItemOf,
    Mapping,
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


class ChangedObject:
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
        inner = (each for value in given for each in datasets_in(self.workers, value))
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


def datasets_in(workers: Workers, value: Value) -> Iterator[CallResult]:
    """The objects that give the samples of what a loader is given, of the project or of torchvision."""
    return wrapped_datasets(workers.ev, value, library=_LIBRARY)


def statements_that_change(one: ChangedObject, body: Node, frame: Frame) -> Iterator[tuple[Node, str, set[str]]]:
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


def _set_by_property(one: ChangedObject, name: str) -> set[str]:
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


def _first_attribute(one: ChangedObject, target: cst.BaseExpression, frame: Frame) -> str:
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
