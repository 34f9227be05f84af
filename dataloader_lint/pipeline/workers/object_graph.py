"""What an object contains, through containers, library objects and other objects of the project: what pickle visits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import libcst as cst

from dataloader_lint.pipeline.workers.constructor_steps import Step, bare, steps_of
from dataloader_lint.pipeline.workers.stores import added_to_container, attributes_set_on, stores
from dataloader_lint.semantics.classes import classes, records
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.containers import follow
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.libraries.objects import ARGUMENTS_NOT_STORED
from dataloader_lint.semantics.limits import OBJECT_HOPS, OBJECTS_KEPT
from dataloader_lint.semantics.syntax.expressions import parameters
from dataloader_lint.semantics.syntax.tree import Node, Tree
from dataloader_lint.semantics.values.values import (
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
    Module,
    Opaque,
    Partial,
    Sequence,
    Value,
)
from dataloader_lint.semantics.values.values import Iterator as Iterated

_LEAVES = (LISTED_PATHS, Opaque("image"))

# A class with one of these methods decides itself what is pickled.
PICKLE_METHODS = ("__getstate__", "__reduce__", "__reduce_ex__")


@dataclass(frozen=True, slots=True, eq=False)
class FieldOwner:
    """An attribute that holds something: its object, and the statement and step that store it."""

    owner: CallResult
    steps: tuple[Step, ...]
    step: Step
    attribute: str
    node: Node


@dataclass(frozen=True, slots=True)
class Path:
    """The access path from the root object to a value."""

    holdings: tuple[FieldOwner, ...] = ()  # attributes of the project's objects, outermost first
    through: tuple[str, ...] = ()  # classes of the objects on the path: of libraries, and `.Name` of records
    keyword: str = ""  # argument of the last library object
    container: Node | None = None  # the display that contains it directly
    hops: int = 0

    def deeper(self) -> Path:
        return replace(self, hops=self.hops + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Reachable:
    """A value that an object contains: the expression that supplies it, and the access path."""

    value: Value
    node: cst.BaseExpression
    frame: Frame
    path: Path


@dataclass(slots=True)
class ObjectGraph:
    """What one object contains besides instances of the project's classes, and the classes of those instances."""

    kept: list[Reachable] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)


class ObjectGraphs:
    """Cached object graphs, one per object; the steps of each constructor call are followed once."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self._found: dict[tuple[Value, bool], ObjectGraph] = {}
        self._steps: dict[tuple[CallResult, bool], tuple[Step, ...]] = {}
        self._bare: dict[int, CallResult] = {}

    def of(self, value: Value, with_length: bool = False) -> ObjectGraph:
        """The object graph of a value. Instances whose class customizes pickling are listed, but not expanded."""
        key = (value, with_length)
        if key not in self._found:
            walk = _Walk(self, with_length)
            walk.value(value, None, Path())
            self._found[key] = walk.found
        return self._found[key]

    def of_argument(self, node: cst.BaseExpression, frame: Frame, keyword: str) -> ObjectGraph:
        """The graph of one argument of a Dataset whose class is unknown."""
        walk = _Walk(self, with_length=False)
        walk.expression(node, frame, Path(through=("Dataset",), keyword=keyword))
        return walk.found

    def bare(self, klass: Class) -> CallResult:
        """An instance of a class whose constructor arguments are unknown."""
        key = id(klass.scope)
        if key not in self._bare:
            self._bare[key] = bare(klass, self.ev)
        return self._bare[key]

    def steps(self, made: CallResult, with_length: bool) -> tuple[Step, ...]:
        """Cached `steps_of`."""
        key = (made, with_length)
        if key not in self._steps:
            self._steps[key] = steps_of(self.ev, made, with_length)
        return self._steps[key]


class _Walk:
    def __init__(self, graphs: ObjectGraphs, with_length: bool) -> None:
        self.graphs = graphs
        self.ev = graphs.ev
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
        if value in _LEAVES or is_module(value):
            self._leaf(value, written, path)
            return
        while isinstance(value, ItemOf | Iterated):
            is_part = isinstance(value, ItemOf)
            value = value.of
            if is_part and isinstance(value, CallResult) and value.library in LOADERS:
                return  # a batch has no reference to its loader
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
            self._attributes_set_later(value, value.by.node.name.value, path)
        elif isinstance(value, CallResult):
            self._library_object(value, written, path)
            self._attributes_set_later(value, value.library, path)

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
        elif isinstance(node, cst.Param):  # stored `*values`
            for each in frame.extra or ():
                if each.node is not None and each.frame is not None:
                    self.expression(each.node, each.frame, path)
            return
        elif isinstance(node, cst.Call) and value.items:  # a named tuple
            for arg in node.args:
                self._argument(arg, frame, inside)
        elif isinstance(node, cst.Call) and node.args and not isinstance(node.func, cst.Attribute):
            self._elements_copied_from(node.args[0].value, frame, path)
        self._added_later(node, frame, inside)

    def _elements_copied_from(self, node: cst.BaseExpression, frame: Frame, path: Path) -> None:
        """`list(x)`, `tuple(f(x) for x in y)`, `dict(pairs)`: contains what its argument contains."""
        for value in self.ev.values(node, frame):
            if isinstance(value, Sequence | Mapping | Iterated):
                self._elements(value, node, frame, path)

    def _spread(self, node: cst.BaseExpression, frame: Frame, path: Path) -> None:
        """`[*x]`, `kept.extend(x)`, `kept += x`: the elements of x are stored, but not a generator that yields them."""
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
                    self._elements_copied_from(arg.value, frame, path)
                else:
                    self.expression(arg.value, frame, inside)
        elif isinstance(node, cst.Param):  # stored `**keywords`
            assert isinstance(frame.scope.node, cst.FunctionDef | cst.Lambda)
            named = {param.name.value for param in parameters(frame.scope.node)}
            for keyword, passed in (frame.args or {}).items():
                if keyword not in named and passed.node is not None and passed.frame is not None:
                    self.expression(passed.node, passed.frame, path)
            return
        self._added_later(node, frame, inside)

    def _added_later(self, node: Node, frame: Frame, path: Path) -> None:
        """Adds what is put into a container through the name that its display is bound to."""
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
            for added in added_to_container(scope, target):
                if _is_spread(added, tree):
                    self._spread(added, frame, path)
                else:
                    self.expression(added, frame, path)

    def _library_object(self, value: CallResult, written: tuple[cst.BaseExpression, Frame] | None, path: Path) -> None:
        """A library object: a leaf itself, and a container of its constructor arguments."""
        self._leaf(value, written, path)
        self._library_arguments(value, value.library, path)

    def _library_arguments(self, value: CallResult, name: str, path: Path) -> None:
        """The constructor arguments that a class of a library stores."""
        if value.call is None or value.frame is None or not keeps_arguments(name):
            return
        last = name.rpartition(".")[2]
        for call, frame in ((value.call, value.frame), *value.before):
            for arg in call.args:
                keyword = arg.keyword.value if arg.keyword is not None else ""
                if (last, keyword) not in ARGUMENTS_NOT_STORED:
                    inside = replace(path, through=(*path.through, name), keyword=keyword, container=None)
                    self._argument(arg, frame, inside)

    def _object(self, value: CallResult, klass: Class, path: Path) -> None:
        self.found.classes.append(klass)
        bases = self.ev.bases(klass)
        if any(classes.find_method(self.ev, bases.classes, name) is not None for name in PICKLE_METHODS):
            return
        if value.call is not None and value.frame is not None and records.is_filled_by_call(self.ev, klass):
            for call, frame in ((value.call, value.frame), *value.before):
                self._fields(call, frame, klass, path)
            for name, default, home in records.defaults(self.ev, value, klass):
                through = (*path.through, f".{klass.node.name.value}")
                inside = replace(path, through=through, keyword=name, container=None)
                self.expression(default, self.ev.frame_of(home.scope), inside)
        if not any(classes.find_method(self.ev, bases.classes, name) for name in ("__init__", "__new__")):
            for library in bases.libraries:  # the constructor is inherited: `class Flip(transforms.Lambda)`
                self._library_arguments(value, library, path)
        made = value if value.call is not None else self.graphs.bare(klass)
        steps = self.graphs.steps(made, self.with_length)
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
            self._base_arguments(step, made, steps, path, bases.libraries)

    def _fields(self, call: cst.Call, frame: Frame, klass: Class, path: Path) -> None:
        """What a call gives the fields of a record."""
        for arg in call.args:
            keyword = arg.keyword.value if arg.keyword is not None else ""
            through = (*path.through, f".{klass.node.name.value}")
            self._argument(arg, frame, replace(path, through=through, keyword=keyword, container=None))

    def _attributes_set_later(self, value: CallResult, maker: str, path: Path) -> None:
        """Adds what the function that constructs an object stores into it afterwards: `data.transform = ...`."""
        if value.call is None or value.frame is None:
            return
        for name, stored in attributes_set_on(value.call, value.frame.scope.module.tree):
            inside = replace(path, through=(*path.through, maker), keyword=name, container=None)
            self.expression(stored, value.frame, inside)

    def _base_arguments(
        self, step: Step, made: CallResult, steps: tuple[Step, ...], path: Path, libraries: Iterable[str]
    ) -> None:
        """`super().__init__(root, transform=...)` of a library's base class, direct or indirect."""
        behind = [each.rpartition(".")[2] for each in libraries]
        for call in step.library_bases(self.ev):
            names = [each.name for each in self.ev.values(call.func, step.frame) if isinstance(each, Library)]
            base = names[0].removesuffix(".__init__") if names else ""
            if not base or not keeps_arguments(base) or not is_reached(self.ev, call, step.frame):
                continue
            for arg in call.args:
                keyword = arg.keyword.value if arg.keyword is not None else ""
                if not any((each, keyword) in ARGUMENTS_NOT_STORED for each in (base.rpartition(".")[2], *behind)):
                    holding = FieldOwner(made, steps, step, keyword, call)
                    inside = replace(path, holdings=(*path.holdings, holding), through=(base,), keyword=keyword)
                    self._argument(arg, step.frame, inside)


def is_module(value: Value) -> bool:
    """True for a module of the project, and for one of a library that is imported as a whole: `import h5py`."""
    return isinstance(value, Module) or (isinstance(value, Library) and "." not in value.name)


def _is_spread(added: cst.BaseExpression, tree: Tree) -> bool:
    """True if a container adds the elements of an expression one by one: `kept.extend(x)`, `kept += x`."""
    parent = tree.parent(added)
    if isinstance(parent, cst.Arg):
        call = tree.parent(parent)
        func = call.func if isinstance(call, cst.Call) else None
        return isinstance(func, cst.Attribute) and func.attr.value in ("extend", "update") and parent.keyword is None
    return isinstance(parent, cst.AugAssign)


def keeps_arguments(name: str) -> bool:
    """True if a library callable stores its arguments: a class, judged by its capitalized name."""
    package, _, last = name.rpartition(".")
    if row(name).stores_arguments:
        return True
    if any(package == each or package.startswith(f"{each}.") for each in _CONSUMERS):
        return False
    return last[:1].isupper()


# Packages whose classes consume their arguments, or pickle functions in their own way.
_CONSUMERS = ("builtins", "pandas", "pathlib", "threading", "torch.utils.data.datapipes", "torchdata", "typing")
