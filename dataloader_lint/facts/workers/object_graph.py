"""What an object keeps, through containers, library objects and other objects of the project: what a pickle meets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import libcst as cst

from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.containers import follow
from dataloader_lint.facts.infer.reachability import is_reached
from dataloader_lint.facts.infer.values import (
    LISTED_PATHS,
    CallResult,
    Class,
    Evaluator,
    Frame,
    Function,
    ItemOf,
    Library,
    Mapping,
    Method,
    Partial,
    Sequence,
    Value,
)
from dataloader_lint.facts.infer.values import (
    Iterator as Iterated,
)
from dataloader_lint.facts.libraries.catalogue import LOADERS
from dataloader_lint.facts.libraries.objects import DOES_NOT_KEEP, KEEPERS
from dataloader_lint.facts.limits import OBJECT_HOPS, OBJECTS_KEPT
from dataloader_lint.facts.syntax.tree import Node, Tree, parameters
from dataloader_lint.facts.workers.constructor_steps import Step, bare, steps_of
from dataloader_lint.facts.workers.stores import put_into, set_on, stores

# With these a class says itself what of it is pickled.
PICKLES_ITSELF = ("__getstate__", "__reduce__", "__reduce_ex__")


@dataclass(frozen=True, slots=True, eq=False)
class FieldOwner:
    """An attribute that holds something: of which object, and the statement of which step that puts it there."""

    owner: CallResult
    steps: tuple[Step, ...]
    step: Step
    attribute: str
    node: Node


@dataclass(frozen=True, slots=True)
class Path:
    """How the walk got where it is."""

    holdings: tuple[FieldOwner, ...] = ()  # attributes of the project's objects, the outermost first
    through: tuple[str, ...] = ()  # library objects on the way, by the names of their classes
    keyword: str = ""  # the argument of the last of them
    container: Node | None = None  # the display that holds it directly
    hops: int = 0

    def deeper(self) -> Path:
        return replace(self, hops=self.hops + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Reachable:
    """Something that an object keeps: the value, the expression that brings it in, and the way there."""

    value: Value
    node: cst.BaseExpression
    frame: Frame
    path: Path


@dataclass(slots=True)
class ObjectGraph:
    """All that one object keeps that is no object of the project itself, and the classes of those that are."""

    kept: list[Reachable] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)


class ObjectGraphs:
    """What objects keep; each object is looked through once, and each way to make one followed once."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self._found: dict[tuple[Value, bool], ObjectGraph] = {}
        self._steps: dict[tuple[CallResult, bool], tuple[Step, ...]] = {}
        self._bare: dict[int, CallResult] = {}

    def of(self, value: Value, with_length: bool = False) -> ObjectGraph:
        """What an object keeps. Objects whose class says itself what of it is pickled are named, but not opened."""
        key = (value, with_length)
        if key not in self._found:
            walk = _Walk(self, with_length)
            walk.value(value, None, Path())
            self._found[key] = walk.found
        return self._found[key]

    def of_argument(self, node: cst.BaseExpression, frame: Frame, keyword: str) -> ObjectGraph:
        """What a Dataset of a class that nobody knows keeps as one of its arguments."""
        walk = _Walk(self, with_length=False)
        walk.expression(node, frame, Path(through=("Dataset",), keyword=keyword))
        return walk.found

    def bare(self, klass: Class) -> CallResult:
        """An object of a class of whose making nothing is known."""
        key = id(klass.scope)
        if key not in self._bare:
            self._bare[key] = bare(klass, self.ev)
        return self._bare[key]

    def steps(self, made: CallResult, with_length: bool) -> tuple[Step, ...]:
        """What making an object runs, as `steps_of` tells it."""
        key = (made, with_length)
        if key not in self._steps:
            self._steps[key] = steps_of(self.ev, made, with_length)
        return self._steps[key]


class _Walk:
    def __init__(self, inventories: ObjectGraphs, with_length: bool) -> None:
        self.inventories = inventories
        self.ev = inventories.ev
        self.with_length = with_length
        self.found = ObjectGraph()
        self._seen: set[Value] = set()
        self._expressions: set[tuple[int, int]] = set()

    def expression(self, node: cst.BaseExpression, frame: Frame, path: Path) -> None:
        key = (id(node), id(frame))
        if key in self._expressions or path.hops > OBJECT_HOPS or len(self._expressions) > OBJECTS_KEPT:
            return
        self._expressions.add(key)
        for value in self.ev.values(node, frame):
            self.value(value, (node, frame), path)

    def value(self, value: Value, written: tuple[cst.BaseExpression, Frame] | None, path: Path) -> None:
        if value == LISTED_PATHS:
            self._leaf(value, written, path)
            return
        while isinstance(value, ItemOf | Iterated):
            is_part = isinstance(value, ItemOf)
            value = value.of
            if is_part and isinstance(value, CallResult) and value.library in LOADERS:
                return  # a batch, which knows nothing of its loader
        if isinstance(value, Sequence | Mapping | CallResult | Partial | Method):
            if value in self._seen or len(self._seen) > OBJECTS_KEPT or path.hops > OBJECT_HOPS:
                return
            self._seen.add(value)
        path = path.deeper()
        if isinstance(value, Function):
            self._leaf(value, written, path)
        elif isinstance(value, Method):
            self.value(value.receiver, written, path)
        elif isinstance(value, Partial):
            for call, frame in ((value.call, value.frame), *value.before):
                for arg in call.args:
                    self._argument(arg, frame, replace(path, container=None))
        elif isinstance(value, Sequence):
            self._sequence(value, written, path)
        elif isinstance(value, Mapping):
            self._mapping(value, path)
        elif isinstance(value, CallResult) and isinstance(value.by, Class):
            self._object(value, value.by, path)
            self._set_from_outside(value, value.by.node.name.value, path)
        elif isinstance(value, CallResult):
            self._of_library(value, written, path)
            self._set_from_outside(value, value.library, path)

    def _leaf(self, value: Value, written: tuple[cst.BaseExpression, Frame] | None, path: Path) -> None:
        if written is not None:
            self.found.kept.append(Reachable(value, written[0], written[1], path))

    def _sequence(self, value: Sequence, written: tuple[cst.BaseExpression, Frame] | None, path: Path) -> None:
        node, frame = value.node, value.frame
        if value.kind == "generator":
            self._leaf(value, written, path)
            return
        inside = replace(path, container=node)
        if isinstance(node, cst.List | cst.Tuple | cst.Set):
            for element in node.elements:
                if isinstance(element, cst.StarredElement):
                    self._spread(element.value, frame, path)
                else:
                    self.expression(element.value, frame, inside)
        elif isinstance(node, cst.ListComp | cst.SetComp):
            self.expression(node.elt, frame, inside)
        elif isinstance(node, cst.BinaryOperation):
            self.expression(node.left, frame, path)
            self.expression(node.right, frame, path)
        elif isinstance(node, cst.Call) and value.items:  # a named tuple
            for arg in node.args:
                self._argument(arg, frame, inside)
        elif isinstance(node, cst.Call) and node.args and not isinstance(node.func, cst.Attribute):
            self._copied(node.args[0].value, frame, path)
        self._added_later(node, frame, inside)

    def _copied(self, node: cst.BaseExpression, frame: Frame, path: Path) -> None:
        """`list(x)`, `tuple(f(x) for x in y)`, `dict(pairs)`: holds what the other holds."""
        for value in self.ev.values(node, frame):
            if isinstance(value, Sequence | Mapping | Iterated):
                self._elements(value, node, frame, path)

    def _spread(self, node: cst.BaseExpression, frame: Frame, path: Path) -> None:
        """`[*x]`, `kept.extend(x)`, `kept += x`: what x gives is kept from then on, and no generator that gives it."""
        for value in self.ev.values(node, frame):
            self._elements(value, node, frame, path)

    def _elements(self, value: Value, node: cst.BaseExpression, frame: Frame, path: Path) -> None:
        while isinstance(value, Iterated):
            value = value.of
        if not isinstance(value, Sequence) or value.kind != "generator":
            self.value(value, (node, frame), path)
        elif isinstance(value.node, cst.GeneratorExp):
            self.expression(value.node.elt, value.frame, replace(path, container=node))
        elif isinstance(value.node, cst.FunctionDef):
            for statement in value.frame.scope.own(cst.Yield):
                if isinstance(statement.value, cst.BaseExpression):
                    self.expression(statement.value, value.frame, replace(path, container=node))

    def _argument(self, arg: cst.Arg, frame: Frame, path: Path) -> None:
        if arg.star:
            self._spread(arg.value, frame, path)
        else:
            self.expression(arg.value, frame, path)

    def _mapping(self, value: Mapping, path: Path) -> None:
        node, frame = value.node, value.frame
        inside = replace(path, container=node)
        if isinstance(node, cst.Dict):
            for element in node.elements:
                self.expression(element.value, frame, inside)
        elif isinstance(node, cst.DictComp):
            self.expression(node.value, frame, inside)
        elif isinstance(node, cst.BinaryOperation):
            self.expression(node.left, frame, path)
            self.expression(node.right, frame, path)
        elif isinstance(node, cst.Call):
            for arg in node.args:
                if arg.keyword is None:
                    self._copied(arg.value, frame, path)
                else:
                    self.expression(arg.value, frame, inside)
        elif isinstance(node, cst.Param):  # **keywords that are kept
            assert isinstance(frame.scope.node, cst.FunctionDef | cst.Lambda)
            named = {param.name.value for param in parameters(frame.scope.node)}
            for keyword, passed in (frame.args or {}).items():
                if keyword not in named and passed.node is not None and passed.frame is not None:
                    self.expression(passed.node, passed.frame, path)
            return
        self._added_later(node, frame, inside)

    def _added_later(self, node: Node, frame: Frame, path: Path) -> None:
        """What is put into a container through the name that its display is bound to."""
        tree = frame.scope.module.tree
        if node not in tree:
            return
        statement = tree.parent(node)
        if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
            target: cst.BaseExpression = statement.targets[0].target
        elif isinstance(statement, cst.AnnAssign | cst.AugAssign):
            target = statement.target
        else:
            return
        if isinstance(target, cst.Name):
            scope = tree.scope_of(statement)
            for added in put_into(scope, target):
                if _is_spread(added, tree):
                    self._spread(added, frame, path)
                else:
                    self.expression(added, frame, path)

    def _of_library(self, value: CallResult, written: tuple[cst.BaseExpression, Frame] | None, path: Path) -> None:
        """An object of a library: a leaf for whoever knows it, and a holder of what it was made from."""
        self._leaf(value, written, path)
        name = value.library
        last = name.rpartition(".")[2]
        if value.call is None or value.frame is None or not keeps_arguments(name):
            return
        for call, frame in ((value.call, value.frame), *value.before):
            for arg in call.args:
                keyword = arg.keyword.value if arg.keyword is not None else ""
                if (last, keyword) not in DOES_NOT_KEEP:
                    inside = replace(path, through=(*path.through, name), keyword=keyword, container=None)
                    self._argument(arg, frame, inside)

    def _object(self, value: CallResult, klass: Class, path: Path) -> None:
        self.found.classes.append(klass)
        bases = self.ev.bases(klass)
        if any(classes.find_method(self.ev, bases.classes, name) is not None for name in PICKLES_ITSELF):
            return
        made = value if value.call is not None else self.inventories.bare(klass)
        steps = self.inventories.steps(made, self.with_length)
        path = replace(path, through=(), keyword="", container=None)
        for step in steps:
            for name, node, added, position in stores(step):
                if not is_reached(self.ev, node, step.frame):
                    continue
                holding = FieldOwner(made, steps, step, name, node)
                inside = replace(path, holdings=(*path.holdings, holding))
                if position:
                    for each in follow(self.ev, self.ev.values(added, step.frame), position):
                        self.value(each, (added, step.frame), inside)
                elif _is_spread(added, step.scope.module.tree):
                    self._spread(added, step.frame, inside)
                else:
                    self.expression(added, step.frame, inside)
            self._given_to_library(step, made, steps, path, bases.libraries)

    def _set_from_outside(self, value: CallResult, maker: str, path: Path) -> None:
        """What the function that makes an object stores into it afterwards: `data.transform = ...`."""
        if value.call is None or value.frame is None:
            return
        for name, stored in set_on(value.call, value.frame.scope.module.tree):
            inside = replace(path, through=(*path.through, maker), keyword=name, container=None)
            self.expression(stored, value.frame, inside)

    def _given_to_library(
        self, step: Step, made: CallResult, steps: tuple[Step, ...], path: Path, libraries: Iterable[str]
    ) -> None:
        """`super().__init__(root, transform=...)` of a base that a library defines, or of another one behind it."""
        behind = [each.rpartition(".")[2] for each in libraries]
        for call in step.library_bases(self.ev):
            names = [each.name for each in self.ev.values(call.func, step.frame) if isinstance(each, Library)]
            base = names[0].removesuffix(".__init__") if names else ""
            if not base or not keeps_arguments(base) or not is_reached(self.ev, call, step.frame):
                continue
            for arg in call.args:
                keyword = arg.keyword.value if arg.keyword is not None else ""
                if not any((each, keyword) in DOES_NOT_KEEP for each in (base.rpartition(".")[2], *behind)):
                    holding = FieldOwner(made, steps, step, keyword, call)
                    inside = replace(path, holdings=(*path.holdings, holding), through=(base,), keyword=keyword)
                    self._argument(arg, step.frame, inside)


def _is_spread(added: cst.BaseExpression, tree: Tree) -> bool:
    """Whether an expression that is added to a container is taken apart there: `kept.extend(x)`, `kept += x`."""
    parent = tree.parent(added)
    if isinstance(parent, cst.Arg):
        call = tree.parent(parent)
        func = call.func if isinstance(call, cst.Call) else None
        return isinstance(func, cst.Attribute) and func.attr.value in ("extend", "update") and parent.keyword is None
    return isinstance(parent, cst.AugAssign)


def keeps_arguments(name: str) -> bool:
    """Whether what a library's callable makes holds on to the arguments: a class, as its name says."""
    package, _, last = name.rpartition(".")
    if name in KEEPERS:
        return True
    if any(package == each or package.startswith(f"{each}.") for each in _CONSUMERS):
        return False
    return last[:1].isupper()


# Packages whose classes take what they are given apart, or have a way of their own to pickle functions.
_CONSUMERS = ("builtins", "pandas", "pathlib", "threading", "torch.utils.data.datapipes", "torchdata", "typing")
