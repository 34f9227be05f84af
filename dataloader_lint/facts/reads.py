"""How worker code reads the attributes of a Dataset: with the index, with a key of the sample, by length.

Follows the index argument of `__getitem__` through assignments, arithmetic, methods and functions that it is passed to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum

import libcst as cst

from dataloader_lint.facts import classes, streams
from dataloader_lint.facts.classes import Bases
from dataloader_lint.facts.module import last_name
from dataloader_lint.facts.names import Binding, Kind, resolve
from dataloader_lint.facts.tree import Scope, parameters
from dataloader_lint.facts.values import Class, Evaluator, Function, Method


class Level(IntEnum):
    """How an expression depends on the index argument."""

    NONE = 0
    SAMPLE = 1  # something computed from the sample: a label, a part of a row
    KEY = 2  # what a list of keys holds at the index: `self.ids[index]`
    INDEX = 3  # the index itself, or arithmetic on it


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One expression of worker code that reads an attribute, the function it stands in, and how it reads."""

    node: cst.BaseExpression
    scope: Scope
    indexed: Level = Level.NONE
    itself: Level = Level.NONE
    queried: Level = Level.NONE
    is_gone_through: bool = False


@dataclass(slots=True)
class Use:
    """How one attribute is read by worker code."""

    indexed: Level = Level.NONE  # it, or what stands in it under the same key for all samples
    itself: Level = Level.NONE  # the same of it alone
    queried: Level = Level.NONE  # a method of the attribute is called with something of this level
    is_length: bool = False
    is_gone_through: bool = False  # one sample is made of each of its elements
    is_named: bool = False  # a constant string is a key of it
    places: list[Place] = field(default_factory=list)
    lengths: list[Place] = field(default_factory=list)  # where it is measured for the length of the Dataset

    def add(self, place: Place) -> None:
        """Counts one more place that reads it."""
        self.places.append(place)
        self.indexed = max(self.indexed, place.indexed)
        self.itself = max(self.itself, place.itself)
        self.queried = max(self.queried, place.queried)
        self.is_gone_through |= place.is_gone_through

    def measure(self, place: Place) -> None:
        """Counts one more place that takes the length of the Dataset from it."""
        self.lengths.append(place)
        self.is_length = True

    def only(self, wanted: Callable[[Place], bool]) -> Use:
        """The same use as far as it happens at some of the places."""
        found = Use(is_named=self.is_named)
        for place in filter(wanted, self.places):
            found.add(place)
        for place in filter(wanted, self.lengths):
            found.measure(place)
        return found


@dataclass(slots=True)
class Reads:
    """All uses of a Dataset's attributes in worker code, by attribute, and the functions that worker code runs."""

    uses: dict[str, Use] = field(default_factory=dict)
    functions: list[Scope] = field(default_factory=list)
    is_stream: bool = False
    following: Scope | None = None  # the `__next__` of a stream

    def of(self, name: str) -> Use:
        return self.uses.get(name, Use())


@dataclass(frozen=True, slots=True)
class _Entry:
    """A function that worker code enters, with the name of the object in it and what its parameters depend on."""

    scope: Scope
    own: str
    levels: tuple[tuple[str, Level], ...]


MAX_FUNCTIONS = 60


def reads_of(ev: Evaluator, klass: Class, bases: Bases) -> Reads:
    """How objects of a class are read by `__getitem__`, `__getitems__` and `__iter__` and all that these call."""
    following = streams.next_of(ev, bases)
    reads = Reads(is_stream=streams.is_stream(bases), following=None if following is None else following.scope)
    todo: list[_Entry] = []
    for name in ("__getitem__", "__getitems__", "__iter__", "get"):
        method = classes.find_method(ev, bases.classes, name)
        if method is None or (name == "get" and not _geometric(bases)):
            continue
        own = classes.receiver_name(method.scope)
        params = [param.name.value for param in parameters(method.node) if param.name.value != own]
        levels = ((params[0], Level.INDEX),) if params and name != "__iter__" else ()
        todo.append(_Entry(method.scope, own, levels))
    if following is not None:
        todo.append(_Entry(following.scope, classes.receiver_name(following.scope), ()))
    seen: dict[int, dict[str, Level]] = {}
    while todo and len(seen) < MAX_FUNCTIONS:
        entry = todo.pop()
        known = seen.setdefault(id(entry.scope), {"": Level.NONE})
        new = {name: level for name, level in entry.levels if level > known.get(name, Level.NONE)}
        if not new and (len(known) > 1 or entry.scope in reads.functions):
            continue
        known.update(new)
        if entry.scope not in reads.functions:
            reads.functions.append(entry.scope)
        todo.extend(_Body(ev, bases, reads, entry.scope, entry.own, known).run())
    if reads.functions or not _is_finished(klass, bases):
        _lengths(ev, bases, reads)
    return reads


def _is_finished(klass: Class, bases: Bases) -> bool:
    """Whether a class is no base for others to add how samples are read: its own file makes objects of it as it is.

    Where it cannot be indexed either, something else than a DataLoader reads these, such as threads of the project's.
    """
    if not bases.complete or not _PLAIN.issuperset(bases.libraries):
        return False
    calls = klass.scope.module.calls_named(klass.node.name.value)
    return any(isinstance(call.func, cst.Name) for call in calls)  # no `coco.COCO(file)` in a class COCO


_PLAIN = frozenset(
    {
        "abc.ABC",
        "builtins.object",
        "object",
        "torch.utils.data.Dataset",
        "torch.utils.data.IterableDataset",
        "torch.utils.data.dataset.Dataset",
        "torch.utils.data.dataset.IterableDataset",
    }
)


def _geometric(bases: Bases) -> bool:
    return any(name.startswith("torch_geometric.") for name in bases.libraries)


class _Body:
    """One function of worker code, with what its names depend on."""

    def __init__(
        self, ev: Evaluator, bases: Bases, reads: Reads, scope: Scope, own: str, levels: dict[str, Level]
    ) -> None:
        self.ev = ev
        self.bases = bases
        self.reads = reads
        self.scope = scope
        self.own = own
        self.entered = levels  # what the parameters depend on, by name
        self._levels: dict[int, Level] = {}
        self._running: set[int] = set()
        self._loops = streams.sample_loops(scope) if reads.is_stream else []
        self._is_next = scope is reads.following

    def run(self) -> Iterator[_Entry]:
        for loop in self._loops:
            self._goes_through(loop)
        for scope in self.scope.descend():
            if isinstance(scope.node, cst.ClassDef):
                continue
            for subscript in scope.own(cst.Subscript):
                self._subscript(subscript)
            for call in scope.own(cst.Call):
                yield from self._call(call)
            for attribute in scope.own(cst.Attribute):
                yield from self._property(attribute)

    def use(self, name: str) -> Use:
        """The record of an attribute's uses, to be added to."""
        return self.reads.uses.setdefault(name, Use())

    def _binding_level(self, binding: Binding) -> Level:
        """How what a binding gives its name depends on the index."""
        if binding.kind is Kind.PARAMETER:
            return self.entered.get(binding.name, Level.NONE) if binding.scope is self.scope else Level.NONE
        if binding.value is None:
            return Level.NONE
        key = id(binding)
        if key not in self._levels:
            if key in self._running:
                return Level.NONE
            self._running.add(key)
            value, path = _written_out(binding.value, binding.path)
            level = self.level(value)
            self._running.discard(key)
            if any(binding.node is loop for loop in self._loops):
                level = self._taken_level(binding)
            elif binding.kind is Kind.ELEMENT:
                level = level if level is Level.INDEX else min(level, Level.SAMPLE)
            elif binding.path:
                level = _part_level(value, path, level)
            self._levels[key] = level
        return self._levels[key]

    def _goes_through(self, loop: cst.For) -> None:
        """What a loop that gives a sample a pass takes one by one."""
        for source in streams.gone_through(loop.iter, self.scope.module.tree):
            for name in self.attributes(source):
                self.use(name).add(Place(loop.iter, self.scope, is_gone_through=True))

    def _taken_level(self, binding: Binding) -> Level:
        """What a loop that gives a sample a pass takes: the number of the sample, or an element of a list of keys."""
        assert binding.value is not None
        if isinstance(binding.value, cst.Call) and last_name(binding.value.func) == "enumerate" and binding.path:
            return Level.INDEX if binding.path[0] == 0 else Level.SAMPLE if len(binding.path) > 1 else Level.KEY
        if streams.counts(binding.value, self.scope.module.tree):
            return Level.INDEX
        return Level.SAMPLE if binding.path else Level.KEY

    def level(self, node: cst.CSTNode) -> Level:
        """How an expression depends on the index."""
        if isinstance(node, cst.Name):
            bindings = resolve(node, self.scope.module.tree)
            return max((self._binding_level(each) for each in bindings), default=Level.NONE)
        if isinstance(node, cst.Subscript):
            return self._read_level(node)
        if isinstance(node, cst.BinaryOperation):
            left, right = self.level(node.left), self.level(node.right)
            return self._combined(left, right)
        if isinstance(node, cst.Call):
            return self._call_level(node)
        if isinstance(node, cst.IfExp):
            return max(self.level(node.body), self.level(node.orelse))
        if isinstance(node, cst.BooleanOperation):
            return max(self.level(node.left), self.level(node.right))
        if isinstance(node, cst.UnaryOperation):
            return self.level(node.expression)
        if isinstance(node, cst.NamedExpr):
            return self.level(node.value)
        if isinstance(node, cst.Attribute):
            return min(self.level(node.value), Level.SAMPLE)
        if isinstance(node, cst.FormattedString):
            parts = [
                self.level(part.expression) for part in node.parts if isinstance(part, cst.FormattedStringExpression)
            ]
            return max(parts, default=Level.NONE)
        if isinstance(node, cst.Tuple | cst.List):
            return max((self.level(element.value) for element in node.elements), default=Level.NONE)
        if isinstance(node, cst.ListComp | cst.GeneratorExp):
            return min(self.level(node.elt), Level.SAMPLE)
        return Level.NONE

    def _combined(self, left: Level, right: Level) -> Level:
        if Level.SAMPLE in (left, right) and max(left, right) < Level.INDEX:
            return Level.SAMPLE
        return max(left, right)

    def _read_level(self, node: cst.Subscript) -> Level:
        inside = max(
            (self.level(element.slice.value) for element in node.slice if isinstance(element.slice, cst.Index)),
            default=Level.NONE,
        )
        if inside is Level.INDEX:
            return Level.KEY  # what stands at the index
        owner = self.level(node.value)
        if inside is not Level.NONE:
            return Level.SAMPLE
        return min(owner, Level.SAMPLE) if owner is not Level.INDEX else Level.INDEX

    def _call_level(self, node: cst.Call) -> Level:
        inside = max((self.level(arg.value) for arg in node.args), default=Level.NONE)
        name = node.func.value if isinstance(node.func, cst.Name) else ""
        if name == "next" and self._is_next:
            return Level.INDEX
        if name in ("int", "abs", "min", "max", "divmod", "range", "str", "list", "tuple", "len", "round", "sorted"):
            return inside
        if isinstance(node.func, cst.Attribute):
            owner = self.level(node.func.value)
            if owner is Level.INDEX and node.func.attr.value in ("tolist", "item", "numpy", "copy", "cpu", "long"):
                return Level.INDEX
            if owner is Level.KEY and node.func.attr.value in ("decode", "strip", "item", "lower", "format"):
                return Level.KEY
            if node.func.attr.value in ("get", "pop") and inside is Level.INDEX:
                return Level.KEY
            inside = max(inside, min(owner, Level.SAMPLE))
        return min(inside, Level.SAMPLE)

    def attributes(self, node: cst.CSTNode) -> set[str]:
        """The attributes of the object that an expression is: `self.x`, a local name for it, one of two."""
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == self.own:
            return self._behind(node.attr.value)
        if isinstance(node, cst.Name):
            found: set[str] = set()
            for binding in resolve(node, self.scope.module.tree):
                if binding.kind is Kind.VALUE and not binding.path and binding.value is not None:
                    key = -id(binding)
                    if key not in self._running:
                        self._running.add(key)
                        found |= self.attributes(binding.value)
                        self._running.discard(key)
            return found
        if isinstance(node, cst.IfExp):
            return self.attributes(node.body) | self.attributes(node.orelse)
        return set()

    def _behind(self, name: str) -> set[str]:
        """The attribute that a property hands out; the name itself where it is no property."""
        method = classes.find_method(self.ev, self.bases.classes, name)
        if method is None or not isinstance(method.node, cst.FunctionDef) or not classes.is_property(method.node):
            return {name}
        own = classes.receiver_name(method.scope)
        return {
            each.value.attr.value
            for each in method.scope.own(cst.Return)
            if isinstance(each.value, cst.Attribute)
            and isinstance(each.value.value, cst.Name)
            and each.value.value.value == own
        } or {name}

    def _subscript(self, node: cst.Subscript) -> None:
        if isinstance(node.slice[0].slice, cst.Index) and isinstance(node.slice[0].slice.value, cst.SimpleString):
            for name in self.attributes(node.value):
                self.use(name).is_named = True
        index = max(
            (self.level(element.slice.value) for element in node.slice if isinstance(element.slice, cst.Index)),
            default=Level.NONE,
        )
        for element in node.slice:
            if isinstance(element.slice, cst.Slice):
                for bound in (element.slice.lower, element.slice.upper):
                    if bound is not None:
                        index = max(index, self.level(bound))
        if index is Level.NONE:
            return
        owner: cst.BaseExpression = node.value
        is_inside = isinstance(owner, cst.Subscript)
        while isinstance(owner, cst.Subscript):  # self.info["path"][index]
            if self.level(owner) is not Level.NONE:
                return  # indexes a part of the sample
            owner = owner.value
        for name in self.attributes(owner):
            self.use(name).add(Place(node, self.scope, index, Level.NONE if is_inside else index))
        if isinstance(owner, cst.Attribute):  # self.coco.imgs[key]
            for name in self.attributes(owner.value):
                self.use(name).add(Place(node, self.scope, queried=index))

    def _property(self, node: cst.Attribute) -> Iterator[_Entry]:
        if isinstance(node.value, cst.Name) and node.value.value == self.own:
            method = classes.find_method(self.ev, self.bases.classes, node.attr.value)
            if method is not None and isinstance(method.node, cst.FunctionDef) and classes.is_property(method.node):
                yield _Entry(method.scope, classes.receiver_name(method.scope), ())

    def _call(self, call: cst.Call) -> Iterator[_Entry]:
        function = call.func
        if isinstance(function, cst.Attribute):
            inside = max((self.level(arg.value) for arg in call.args), default=Level.NONE)
            if inside is not Level.NONE:
                got = inside if function.attr.value == "get" else Level.NONE
                for name in self.attributes(function.value):
                    self.use(name).add(Place(call, self.scope, got, got, queried=inside))
        for target, own in self._targets(call):
            yield _Entry(target.scope, own, tuple(self._passed(call, target, own)))

    def _targets(self, call: cst.Call) -> Iterator[tuple[Function, str]]:
        """The functions of the project that a call runs, with the name of the object in them."""
        function = call.func
        if isinstance(function, cst.Attribute) and isinstance(function.value, cst.Name):
            if function.value.value == self.own:
                method = classes.find_method(self.ev, self.bases.classes, function.attr.value)
                if method is not None:
                    yield method, classes.receiver_name(method.scope)
                return
        if isinstance(function, cst.Attribute) and isinstance(function.value, cst.Call):
            name = function.value.func
            if isinstance(name, cst.Name) and name.value == "super":
                for value in self.ev.values(function, self.ev.frame_of(self.scope)):
                    if isinstance(value, Method):
                        yield value.function, classes.receiver_name(value.function.scope)
                return
        # A module function matters where the object itself is handed to it: `load_image(self, index)`.
        for arg in call.args:
            if isinstance(arg.value, cst.Name) and arg.value.value == self.own:
                for value in self.ev.values(function, self.ev.frame_of(self.scope)):
                    if isinstance(value, Function) and isinstance(value.node, cst.FunctionDef):
                        position = [each.value for each in call.args].index(arg.value)
                        params = parameters(value.node)
                        if arg.keyword is None and position < len(params):
                            yield value, params[position].name.value

    def _passed(self, call: cst.Call, target: Function, own: str) -> Iterator[tuple[str, Level]]:
        bound = classes.class_of(target.scope) is not None and own != ""
        params = [param.name.value for param in parameters(target.node)][1 if bound else 0 :]
        position = 0
        for arg in call.args:
            level = self.level(arg.value)
            if arg.keyword is not None:
                yield arg.keyword.value, level
            elif arg.star:
                position = len(params)
            else:
                if position < len(params):
                    yield params[position], level
                position += 1


def _written_out(value: cst.BaseExpression, path: tuple[int, ...]) -> tuple[cst.BaseExpression, tuple[int, ...]]:
    """What an unpacking gives a name, as far as both sides are written out: `name, text = self.names[index], None`."""
    while path and isinstance(value, cst.Tuple | cst.List) and 0 <= path[0] < len(value.elements):
        if any(isinstance(each, cst.StarredElement) for each in value.elements):
            break
        value, path = value.elements[path[0]].value, path[1:]
    return value, path


def _part_level(value: cst.BaseExpression, path: tuple[int, ...], level: Level) -> Level:
    """A part of an unpacked value: `divmod(index, n)` gives indices, but a pair that a sampler hands out only one.

    What is unpacked side by side with others is most often a label of the sample.
    """
    if level is not Level.INDEX:
        return min(level, Level.SAMPLE)
    return Level.SAMPLE if isinstance(value, cst.Name) and path not in ((), (0,)) else level


def _lengths(ev: Evaluator, bases: Bases, reads: Reads) -> None:
    """Attributes whose `len()` is the length of the Dataset, directly or through another attribute that holds it."""
    method = classes.find_method(ev, bases.classes, "__len__") or (
        classes.find_method(ev, bases.classes, "len") if _geometric(bases) else None
    )
    if method is None:
        return
    body = _Body(ev, bases, reads, method.scope, classes.receiver_name(method.scope), {})
    for _ in body.run():
        pass
    for statement in method.scope.own(cst.Return):
        if statement.value is not None:
            _length_of(body, statement.value, method.scope, 0)


def _length_of(body: _Body, node: cst.BaseExpression, scope: Scope, depth: int) -> None:
    tree = scope.module.tree
    for call in tree.find(node, cst.Call):
        if isinstance(call.func, cst.Name) and call.func.value == "len" and call.args:
            measured = call.args[0].value
            while isinstance(measured, cst.Subscript) and not _is_numbered(measured):
                measured = measured.value
            for name in body.attributes(measured):
                body.use(name).measure(Place(call, scope))
    for attribute in tree.find(node, cst.Attribute):
        if isinstance(attribute.value, cst.Name) and attribute.value.value == body.own and depth < 2:
            _length_in_attribute(body, attribute.attr.value, depth)


def _is_numbered(node: cst.Subscript) -> bool:
    """`self.columns[0]`: how long that is says nothing of the list around it; one under a name is a field."""
    index = node.slice[0].slice
    return isinstance(index, cst.Index) and isinstance(index.value, cst.Integer)


def _length_in_attribute(body: _Body, name: str, depth: int) -> None:
    """`self.length = len(self.paths)`, or `len(paths)` of a name that is kept as `self.paths`."""
    for klass in body.bases.classes:
        for binding in classes.attribute_bindings(klass.scope).get(name, ()):
            if binding.value is None:
                continue
            inner = _Body(body.ev, body.bases, body.reads, binding.method, classes.receiver_name(binding.method), {})
            for call in binding.method.module.tree.find(binding.value, cst.Call):
                if isinstance(call.func, cst.Name) and call.func.value == "len" and call.args:
                    measured, place = call.args[0].value, Place(call, binding.method)
                    for each in inner.attributes(measured):
                        body.use(each).measure(place)
                    if isinstance(measured, cst.Name):
                        for kept in _kept_as(klass.scope, measured.value, binding.method):
                            body.use(kept).measure(place)


def _kept_as(klass: Scope, name: str, method: Scope) -> Iterator[str]:
    for attribute, found in classes.attribute_bindings(klass).items():
        for binding in found:
            if binding.method is method and isinstance(binding.value, cst.Name) and binding.value.value == name:
                yield attribute
