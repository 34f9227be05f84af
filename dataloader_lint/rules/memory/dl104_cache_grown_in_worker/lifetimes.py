"""Lifetimes: containers that live as long as the worker, on long-lived objects, on classes, in modules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

import libcst as cst

from dataloader_lint.pipeline.datasets.construction import construction_of
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.semantics.control.reachability import enclosing_tests
from dataloader_lint.semantics.libraries.calls import KEYED, row
from dataloader_lint.semantics.libraries.short_names import REMOVING
from dataloader_lint.semantics.limits import OUTLIVING_DEPTH
from dataloader_lint.semantics.syntax.attribute_stores import stores_to
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted, resolve, target_paths
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    Mapping,
    Sequence,
    Value,
    Values,
    merge,
)


class Shape(Enum):
    """How a container can grow."""

    DICT = "dict"  # by another key; sets too
    LIST = "list"  # by appending
    SLOTS = "slots"  # as many places as there will ever be, all of them empty at first
    OTHER = "other"  # not at all, or unknown


@dataclass(frozen=True, slots=True, eq=False)
class Holder:
    """A container that outlives the sample."""

    text: str  # as the user writes it
    name: str
    shape: Shape
    is_global: bool
    klass: Scope | None = None  # of the object whose attribute it is
    is_root: bool = True  # what grows is the container itself, not something in it
    makes_elements: bool = False  # a key that is not there is no error


_DISPLAYS = (cst.Dict, cst.List, cst.Set, cst.Call)


def may_outlive(node: cst.BaseExpression, tree: Tree, depth: int = 0) -> bool:
    """True if `Lifetimes.find` might find the container: a cheap look, which needs no worker code."""
    while isinstance(node, cst.Subscript):
        node = node.value
    if not isinstance(node, cst.Name):
        return isinstance(node, cst.Attribute)
    bindings = resolve(node, tree) if depth <= OUTLIVING_DEPTH else []
    home = function_scope(tree.scope_of(node)) if bindings else None
    return bool(bindings) and all(_may_live_on(each, tree, depth, home) for each in bindings)


def _may_live_on(binding: Binding, tree: Tree, depth: int, home: Scope | None) -> bool:
    if binding.kind is Kind.VALUE and not isinstance(binding.scope.node, cst.Module):
        if binding.value is None or binding.path:
            return False
        is_of_closure = isinstance(binding.value, _DISPLAYS) and function_scope(binding.scope) is not home
        return is_of_closure or may_outlive(binding.value, tree, depth + 1)
    return binding.kind in (Kind.IMPORT, Kind.PARAMETER) or isinstance(binding.scope.node, cst.Module)


class Lifetimes:
    """Answers for one worker function in its frame."""

    def __init__(self, workers: Workers, function: WorkerFunction, use: ContainerUse) -> None:
        self.ev: Evaluator = workers.ev
        self.function = function
        self._use = use

    def find(self, node: cst.BaseExpression, frame: Frame, depth: int = 0) -> Holder | None:
        """The container that an expression names, if it outlives the sample."""
        if depth > OUTLIVING_DEPTH:
            return None
        if isinstance(node, cst.Subscript):
            outer = self.find(node.value, frame, depth + 1)
            if outer is None or outer.shape is Shape.OTHER:
                return None
            shape = outer.shape if outer.makes_elements else _shape(self.ev, self.ev.values(node, frame))
            return replace(outer, shape=shape, is_root=False)
        if isinstance(node, cst.Name):
            return self._named(node, frame, depth)
        if isinstance(node, cst.Attribute):
            return self._attribute(node, frame)
        return None

    def find_attributes(self, node: cst.BaseExpression, frame: Frame) -> Holder | None:
        """The attributes of an object, as a container, if the object outlives the sample."""
        owners = self.ev.values(node, frame)
        klass = owners[0].by if len(owners) == 1 and isinstance(owners[0], CallResult) else None
        if not isinstance(klass, Class) or not self._lives_on(owners[0]):
            return None
        return Holder(f"{dotted(node)}.__dict__", "__dict__", Shape.DICT, False, klass.scope)

    def _named(self, node: cst.Name, frame: Frame, depth: int) -> Holder | None:
        tree = frame.scope.module.tree
        bindings = resolve(node, tree) if node in tree else []
        found = None
        for binding in bindings:
            home = self.ev.at(binding.scope, frame)
            if binding.kind is Kind.IMPORT or isinstance(binding.scope.node, cst.Module):
                values = self.ev.values(node, frame)
                if any(isinstance(each, Mapping | Sequence) and not _is_top(each.frame.scope) for each in values):
                    return None
                found = Holder(node.value, node.value, _shape(self.ev, values), True, None, True, _makes(values))
            elif binding.kind is Kind.VALUE and binding.value is not None and not binding.path:
                if isinstance(binding.value, _DISPLAYS) and function_scope(binding.scope) is not frame.scope:
                    if self._is_inside(function_scope(binding.scope)):
                        return None
                    values = self.ev.values(binding.value, home)  # of a closure that was made before the workers
                    found = Holder(node.value, node.value, _shape(self.ev, values), True, None, True, _makes(values))
                else:
                    found = self.find(binding.value, home, depth + 1)
            elif binding.kind is Kind.PARAMETER and home.args is not None and node.value in home.args:
                given = home.args[node.value]
                if given.node is None or given.frame is None:
                    return None
                found = self.find(given.node, given.frame, depth + 1)
            elif binding.kind is Kind.PARAMETER and home.args is not None and isinstance(binding.node, cst.Param):
                default = binding.node.default  # made once, for all calls: `def read(path, known={})`
                values = self.ev.values(default, frame) if isinstance(default, _DISPLAYS) else ()
                found = Holder(node.value, node.value, _shape(self.ev, values), True, None, True, _makes(values))
            else:
                return None
            if found is None:
                return None
        return found

    def _attribute(self, node: cst.Attribute, frame: Frame) -> Holder | None:
        name = node.attr.value
        if name == "__dict__":
            return self.find_attributes(node.value, frame)
        if isinstance(node.value, cst.Attribute) and node.value.attr.value == "__class__":
            owners = self.ev.values(node.value.value, frame)
        else:
            owners = self.ev.values(node.value, frame)
        if isinstance(node.value, cst.Name) and len(owners) == 1 and isinstance(owners[0], Function):
            return self._of_function(owners[0], node, frame)
        if not owners or not all(self._lives_on(each) for each in owners):
            return None
        owner = owners[0]
        klass = owner.by if isinstance(owner, CallResult) else owner
        if not isinstance(klass, Class) or len(owners) > 1:
            return None
        values = self.ev.attribute(owner, name)
        shape = _shape(self.ev, values)
        if shape in (Shape.DICT, Shape.SLOTS) and name in self._use.filled_by_constructor(klass):
            shape = Shape.OTHER
        return Holder(dotted(node) or name, name, shape, False, klass.scope, True, _makes(values))

    def _of_function(self, owner: Function, node: cst.Attribute, frame: Frame) -> Holder | None:
        """An attribute of a function: `read.known = {}`."""
        module, name = owner.scope.module, node.attr.value
        stores = [each for each in stores_to(module, dotted(node.value), name) if module is frame.scope.module]
        values = merge(*(self.ev.values(each.value, self.ev.frame_of(module.root)) for each in stores))
        return Holder(dotted(node), name, _shape(self.ev, values), True, None, True, _makes(values))

    def _lives_on(self, value: Value) -> bool:
        """True if an object is one of the project that was not made in worker code."""
        if isinstance(value, Class):
            return True
        if not isinstance(value, CallResult) or not isinstance(value.by, Class):
            return False
        return value.frame is None or not self._is_inside(value.frame.scope)

    def _is_inside(self, scope: Scope) -> bool:
        return id(scope) in self._use.inside(self.function) or any(scope is each.scope for each in self.function.path)

    def is_emptied(self, kept: Holder) -> bool:
        """True if worker code takes something out again, or starts again."""
        return self._use.is_emptied(self.function, kept) or any(
            kept.name in _emptied_in(each.scope, kept.is_root, kept.is_global)
            for each in self.function.path
            if kept.klass is not None or each.module is self.function.module
        )


class ContainerUse:
    """What constructors fill and worker code empties: found once, and asked for each container."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._inside: dict[int, frozenset[int]] = {}
        self._emptied: dict[tuple[int, int, bool, bool], frozenset[str]] = {}
        self._filled: dict[int, frozenset[str]] = {}

    def inside(self, function: WorkerFunction) -> frozenset[int]:
        """The functions that run in the same workers, by the `id` of their scopes."""
        module = function.path[0].module
        if id(module) not in self._inside:
            self._inside[id(module)] = frozenset(id(each.scope) for each in self._workers.functions(module))
        return self._inside[id(module)]

    def is_emptied(self, function: WorkerFunction, kept: Holder) -> bool:
        """True if one of these functions, of the class of a container or of its module, empties it."""
        home = kept.klass or function.module.root
        key = (id(function.path[0].module), id(home), kept.is_root, kept.is_global)
        if key not in self._emptied:
            inside = self.inside(function)
            scopes = (each for each in self._around(home) if id(each) in inside)
            names = (_emptied_in(each, kept.is_root, kept.is_global) for each in scopes)
            self._emptied[key] = frozenset[str]().union(*names)
        return kept.name in self._emptied[key]

    def _around(self, home: Scope) -> Iterator[Scope]:
        if not home.is_class:
            yield from home.descend()
            return
        ev = self._workers.ev
        for each in ev.bases(Class(home, ev.frame_of(home))).classes:
            for method in each.scope.inner:
                yield from method.descend()

    def filled_by_constructor(self, klass: Class) -> frozenset[str]:
        """The last names of containers in all of whose places construction stores something without a condition."""
        key = id(klass.scope)
        if key not in self._filled:
            ev = self._workers.ev
            stores = (
                (inner.module.tree, statement, target)
                for scope in construction_of(ev, ev.bases(klass))
                for inner in scope.descend()
                for statement, target in _stores(inner)
            )
            self._filled[key] = frozenset(
                _owner_name(target)
                for tree, statement, target in stores
                if isinstance(target, cst.Subscript)
                if not any(isinstance(above, cst.If) for above in tree.ancestors(statement))
            )
        return self._filled[key]


def _emptied_in(scope: Scope, is_root: bool, is_global: bool) -> frozenset[str]:
    """The last parts of the names of the containers that a scope empties, or binds to another one."""

    def work_out() -> frozenset[str]:
        taken = _emptied_names(scope)
        aliased = {name for name, aliases in _aliases(scope, is_root).items() if not aliases.isdisjoint(taken)}
        bound = {
            _owner_name(target)
            for statement, target in _stores(scope)
            if isinstance(target, cst.Attribute) or (isinstance(target, cst.Name) and is_global)
            if not _is_first_time(statement, scope)
        }
        return frozenset(taken | aliased | bound)

    return scope.module.tree.once((f"emptied {is_root} {is_global}", id(scope)), work_out)


def _aliases(scope: Scope, is_root: bool) -> dict[str, set[str]]:
    """The local names of an attribute, or of what grows in it where that is no root: `bucket = self.buckets[size]`."""

    def work_out() -> dict[str, set[str]]:
        aliases: dict[str, set[str]] = {}
        for name, found in bindings_of(scope).items():
            for binding in found:
                node = binding.value
                while not is_root and isinstance(node, cst.Subscript):
                    node = node.value
                if isinstance(node, cst.Attribute):
                    aliases.setdefault(node.attr.value, set()).add(name)
        return aliases

    return scope.module.tree.once((f"aliases {is_root}", id(scope)), work_out)


def _emptied_names(scope: Scope) -> set[str]:
    """The last parts of the names of the containers out of which a scope takes something."""
    return scope.module.tree.once(("emptied names", id(scope)), lambda: {*map(_owner_name, _emptied(scope))} - {""})


def _emptied(scope: Scope) -> Iterator[cst.CSTNode]:
    for call in scope.own(cst.Call):
        if last_name(call.func) in REMOVING:
            if isinstance(call.func, cst.Attribute):
                yield call.func.value
            yield from (arg.value for arg in call.args[:1])
    yield from (each.target for each in scope.own(cst.Del))
    for statement, target in _stores(scope):
        if isinstance(target, cst.Subscript):
            value = getattr(statement, "value", None)
            if value is not None and (_mentions_none(value) or _is_emptied_whole(target, value)):
                yield target


def _is_emptied_whole(target: cst.Subscript, value: cst.CSTNode) -> bool:
    """True if `bucket[:] = []` is stored."""
    return isinstance(target.slice[0].slice, cst.Slice) and isinstance(value, cst.List) and not value.elements


def _mentions_none(node: cst.CSTNode) -> bool:
    parts = [each.value for each in node.elements] if isinstance(node, cst.Tuple) else [node]
    return any(isinstance(each, cst.Name) and each.value == "None" for each in parts)


def _is_first_time(statement: Node, scope: Scope) -> bool:
    """True if a statement makes a container where there is none yet: `if self.cache is None: self.cache = {}`."""
    frame = Frame(scope)
    for test, answer in enclosing_tests(statement, frame):
        if isinstance(test, cst.Comparison) and isinstance(test.comparisons[0].operator, cst.Is) and answer:
            return True
        if isinstance(test, cst.UnaryOperation) and answer:  # not hasattr(...)
            return True
    return False


def _stores(scope: Scope) -> Iterator[tuple[Node, cst.CSTNode]]:
    for assign in scope.own(cst.Assign):
        for each in assign.targets:
            for target, _ in target_paths(each.target):
                yield assign, target
    for annotated in scope.own(cst.AnnAssign):
        if annotated.value is not None:
            yield annotated, annotated.target


def _owner_name(node: cst.CSTNode) -> str:
    """The last part of the name of a container, of an expression that is that or something in it; maybe empty."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return last_name(node)


def _is_top(scope: Scope) -> bool:
    return isinstance(scope.node, cst.Module)


def _makes(values: Values) -> bool:
    return any(isinstance(each, CallResult) and each.library == "collections.defaultdict" for each in values)


def _shape(ev: Evaluator, values: Values) -> Shape:
    """How a container grows; whatever is not known to be a plain container of Python does not."""
    shapes = {_shape_of(ev, each) for each in values if not (isinstance(each, Const) and each.value is None)}
    return shapes.pop() if len(shapes) == 1 else Shape.OTHER


def _shape_of(ev: Evaluator, value: Value) -> Shape:
    if isinstance(value, Mapping):
        if isinstance(value.node, cst.Dict):
            return Shape.DICT
        if isinstance(value.node, cst.DictComp):
            return Shape.SLOTS if _is_empty_slot(value.node.value) else Shape.OTHER
        return Shape.DICT if isinstance(value.node, cst.Call) else Shape.OTHER
    if isinstance(value, Sequence):
        if value.kind in ("set", "frozenset"):
            return Shape.DICT
        if value.kind != "list":
            return Shape.OTHER
        if isinstance(value.node, cst.BinaryOperation) and isinstance(value.node.operator, cst.Multiply):
            sides = (value.node.left, value.node.right)
            lists = [each for each in sides if isinstance(each, cst.List)]
            return (
                Shape.SLOTS
                if any(_is_empty_slot(part.value) for each in lists for part in each.elements)
                else Shape.LIST
            )
        if isinstance(value.node, cst.ListComp) and _is_empty_slot(value.node.elt):
            return Shape.SLOTS
        return Shape.LIST
    if isinstance(value, CallResult):
        if value.library == "collections.deque" and value.call is not None:
            is_bounded = len(value.call.args) > 1 or any(arg.keyword is not None for arg in value.call.args)
            return Shape.OTHER if is_bounded else Shape.LIST
        if row(value.library).gives in KEYED and value.library.startswith(("builtins.", "collections.")):
            return Shape.DICT
    return Shape.OTHER


def _is_empty_slot(node: cst.CSTNode) -> bool:
    """True for None, an empty tuple and an empty text, which cannot be filled in place."""
    if isinstance(node, cst.Tuple):
        return not node.elements
    if isinstance(node, cst.SimpleString):
        return not node.evaluated_value
    return isinstance(node, cst.Name) and node.value == "None"
