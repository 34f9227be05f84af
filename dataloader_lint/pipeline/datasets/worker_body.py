"""How one function of worker code reads the attributes of a Dataset: with the index, with a key of the sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.datasets import streams
from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind
from dataloader_lint.pipeline.datasets.field_uses import AccessSite, FieldUse, FieldUses
from dataloader_lint.pipeline.datasets.function_index import IndexInFunction, iterated
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.pipeline.datasets.random_choice import is_size_of, random_index_bounds, sampled_source
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.limits import WORKER_BODY_DEPTH
from dataloader_lint.semantics.syntax.expressions import parameters
from dataloader_lint.semantics.syntax.names import Kind, dotted, is_none, resolve, written_out
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import Bases, CallResult, Class, Evaluator, Function, Method, Value


@dataclass(frozen=True, slots=True)
class Entry:
    """A function that worker code enters: the name of the object in it, and the dependence of its parameters.

    `held` maps parameters to the attributes of the object that they get: `read(self.names, index)`. In a method of a
    helper that the Dataset stores, `part` is the attribute that stores it, and `bases` are the classes of the helper.
    """

    scope: Scope
    own: str
    levels: tuple[tuple[str, IndexDep], ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    part: str = ""
    bases: Bases | None = None


class Body:
    """One function of worker code, with the dependence of its names."""

    def __init__(
        self, ev: Evaluator, bases: Bases, reads: FieldUses, entry: Entry, levels: dict[str, IndexDep], depth: int = 0
    ) -> None:
        scope = entry.scope
        self.ev = ev
        self.bases = entry.bases or bases
        self.reads = reads
        self._part = entry.part
        self.scope = scope
        self.own = entry.own
        self._attribute_parameters = entry.held
        self._loops = streams.sample_loops(scope) if reads.is_stream else []
        self._dependence = IndexInFunction(scope, levels, self._loops, scope is reads.following, self._result_of_method)
        self._depth = depth  # call depth while return values are followed
        self._running: set[int] = set()

    def run(self) -> Iterator[Entry]:
        for loop in self._loops:
            self._record_iteration(loop)
        for comparison in self.scope.module.tree.find(self.scope.node, cst.Comparison):
            self._membership(comparison)
        for scope in self.scope.descend():
            if scope.is_class:
                continue
            for subscript in scope.own(cst.Subscript):
                self._subscript(subscript)
                yield from self._indexed_helpers(subscript)
            for call in scope.own(cst.Call):
                yield from self._call(call)
                yield from self._called_helpers(call)
            for attribute in scope.own(cst.Attribute):
                yield from self._property(attribute)

    def use(self, name: str) -> FieldUse:
        """The record of an attribute's uses, for adding to it."""
        return self.reads.uses.setdefault(name, FieldUse())

    def _record_iteration(self, loop: cst.For) -> None:
        """Records what a loop that yields one sample per pass iterates over."""
        for source in streams.iterated(loop.iter, self.scope.module.tree):
            for name in self.attributes(source):
                self.use(name).add(AccessSite(loop.iter, self.scope, is_iterated=True))

    def attributes(self, node: cst.CSTNode) -> set[str]:
        """The attributes of the object that an expression may be: `self.x`, a local alias of it, one of two."""
        if type(node) is cst.Attribute and type(node.value) is cst.Name and node.value.value == self.own:
            found = self._returned_by_property(node.attr.value)
            return {f"{self._part}.{name}" for name in found} if self._part else found
        if type(node) is cst.Attribute:  # `self.index.files`, of a helper that is stored as `index`
            return {f"{name}.{node.attr.value}" for name in self.attributes(node.value) if "." not in name}
        if type(node) is cst.Name:
            found = set()
            for binding in resolve(node, self.scope.module.tree):
                if binding.kind is Kind.PARAMETER and binding.scope is self.scope:
                    found.update(name for param, name in self._attribute_parameters if param == binding.name)
                elif binding.kind is Kind.VALUE and not binding.path and binding.value is not None:
                    key = id(binding)
                    if key not in self._running:
                        self._running.add(key)
                        found |= self.attributes(binding.value)
                        self._running.discard(key)
            return found
        if isinstance(node, cst.IfExp):
            return self.attributes(node.body) | self.attributes(node.orelse)
        if isinstance(node, cst.BooleanOperation):
            return self.attributes(node.left) | self.attributes(node.right)
        if isinstance(node, cst.NamedExpr):
            return self.attributes(node.value)
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
            owner = node.func.value  # `self.current()[index]`
            if isinstance(owner, cst.Name) and owner.value == self.own:
                method = classes.find_method(self.ev, self.bases.classes, node.func.attr.value)
                return self._returned_by(method) if method is not None else set()
        return set()

    def _returned_by_property(self, name: str) -> set[str]:
        """The attributes that a property may return; the name itself if it is no property."""
        method = classes.find_method(self.ev, self.bases.classes, name)
        if method is None or not isinstance(method.node, cst.FunctionDef) or not classes.is_property(method.node):
            return {name}
        return self._returned_by(method) or {name}

    def _returned_by(self, method: Function) -> set[str]:
        """The attributes of the object that a method may return."""
        returned = [each.value for each in method.scope.own(cst.Return) if each.value is not None]
        if not returned or self._depth >= WORKER_BODY_DEPTH:
            return set()
        entry = Entry(method.scope, classes.receiver_name(method.scope), part=self._part, bases=self.bases)
        inside = Body(self.ev, self.bases, self.reads, entry, {}, self._depth + 1)
        found: set[str] = set().union(*(inside.attributes(each) for each in returned))
        return {name.removeprefix(f"{self._part}.") for name in found} if self._part else found

    def _subscript(self, node: cst.Subscript) -> None:
        if isinstance(node.slice[0].slice, cst.Index) and isinstance(node.slice[0].slice.value, cst.SimpleString):
            for name in self.attributes(node.value):
                self.use(name).is_named = True
        index = max(
            (
                self._dependence.at(element.slice.value)
                for element in node.slice
                if isinstance(element.slice, cst.Index)
            ),
            default=IndexDep.NONE,
        )
        for element in node.slice:
            if isinstance(element.slice, cst.Slice):
                for bound in (element.slice.lower, element.slice.upper):
                    if bound is not None:
                        index = max(index, self._dependence.at(bound))
        if index is IndexDep.NONE:
            self._random_subscript(node)
            return
        owner: cst.BaseExpression = node.value
        is_inside = isinstance(owner, cst.Subscript)
        while isinstance(owner, cst.Subscript):  # self.info["path"][index]
            if self._dependence.at(owner) is not IndexDep.NONE:
                return  # this indexes a part of the sample
            owner = owner.value
        for name in self.attributes(owner):
            self.use(name).add(AccessSite(node, self.scope, index, IndexDep.NONE if is_inside else index))
        if isinstance(owner, cst.Attribute):  # self.coco.imgs[key]
            for name in self.attributes(owner.value):
                self.use(name).add(AccessSite(node, self.scope, queried=index))
        if isinstance(owner, cst.Name) and index is IndexDep.INDEX:
            for name in self._iterated_attributes(owner):
                self.use(name).add(AccessSite(node, self.scope, index))
            self._alias_of_part(owner, index)

    def _alias_of_part(self, node: cst.Name, index: IndexDep) -> None:
        """`paths = self.paths[self.split]` followed by `paths[index]`, read as one expression."""
        for binding in resolve(node, self.scope.module.tree):
            whole = binding.value if binding.kind is Kind.VALUE and not binding.path else None
            while isinstance(whole, cst.Subscript) and self._dependence.at(whole) is IndexDep.NONE:
                whole = whole.value
            for name in self.attributes(whole) if whole is not binding.value and whole is not None else ():
                assert isinstance(binding.value, cst.Subscript)
                self.use(name).add(AccessSite(binding.value, self.scope, index))

    def _membership(self, node: cst.Comparison) -> None:
        """Records `(user, item) in self.seen`."""
        for target in node.comparisons:
            is_in = isinstance(target.operator, cst.In | cst.NotIn)
            level = self._dependence.at(node.left) if is_in else IndexDep.NONE
            for name in self.attributes(target.comparator) if level is not IndexDep.NONE else ():
                self.use(name).add(AccessSite(node, self.scope, queried=level))

    def _iterated_attributes(self, node: cst.Name) -> set[str]:
        """The attributes that a name iterates over: `for part in self.parts`, `for key, x in self.columns.items()`."""
        found: set[str] = set()
        for binding in resolve(node, self.scope.module.tree):
            if binding.kind is not Kind.ELEMENT or binding.value is None:
                continue
            over, path = iterated(binding.value, binding.path)
            if isinstance(over, cst.Call) and isinstance(over.func, cst.Attribute) and not over.args:
                if {"items": (1,), "values": ()}.get(over.func.attr.value) != path:
                    continue
                over, path = over.func.value, ()
            if not path:
                found |= self.attributes(over)
        return found

    def _random_subscript(self, node: cst.Subscript) -> None:
        """`self.files[random.randrange(len(self.files))]`."""
        index = node.slice[0].slice
        if isinstance(index, cst.Index) and isinstance(index.value, cst.Name | cst.Call | cst.Subscript):
            names = self.attributes(node.value)
            bounds = random_index_bounds(index.value, self.scope.module.tree) if names else set()
            for name in names:
                if any(is_size_of(bound, name, self.bases) for bound in bounds):
                    self.use(name).add(AccessSite(node, self.scope, is_sampled=True))

    def _property(self, node: cst.Attribute) -> Iterator[Entry]:
        if isinstance(node.value, cst.Name) and node.value.value == self.own:
            method = classes.find_method(self.ev, self.bases.classes, node.attr.value)
            if method is not None and isinstance(method.node, cst.FunctionDef) and classes.is_property(method.node):
                yield Entry(
                    method.scope,
                    classes.receiver_name(method.scope),
                    (),
                    (),
                    self._part,
                    self.bases if self._part else None,
                )

    def _call(self, call: cst.Call) -> Iterator[Entry]:
        function = call.func
        if isinstance(function, cst.Attribute):
            inside = max((self._dependence.at(arg.value) for arg in call.args), default=IndexDep.NONE)
            if inside is not IndexDep.NONE:
                got = inside if function.attr.value == "get" else IndexDep.NONE
                for name in self.attributes(function.value):
                    self.use(name).add(AccessSite(call, self.scope, got, got, queried=inside))
        source = sampled_source(call)
        for name in self.attributes(source) if source is not None else ():
            self.use(name).add(AccessSite(call, self.scope, is_sampled=True))
        given = {arg.value: sorted(self.attributes(arg.value)) for arg in call.args}
        for target, own in self._callees(call, any(given.values())):
            passed = tuple(self._parameters_passed(call, target, own))
            levels = tuple((name, self._dependence.at(node)) for name, node in passed)
            held = tuple((name, each) for name, node in passed for each in given[node])
            yield Entry(target.scope, own, levels, held, self._part, self.bases if self._part else None)

    def _called_helpers(self, call: cst.Call) -> Iterator[Entry]:
        """`self.index.find(number)` or `self.augment(sample)`, of an object of a class of the project."""
        function = call.func
        if not isinstance(function, cst.Attribute) or self._part:
            return
        names = sorted(self.attributes(function.value) or self.attributes(function))
        if not names or all(self._dependence.at(arg.value) is IndexDep.NONE for arg in call.args):
            return
        for value in self.ev.values(function, self.ev.frame_of(self.scope)):
            method, receiver = self._of_object(value)
            if method is not None and receiver is not None:
                passed = self._parameters_passed(call, method, classes.receiver_name(method.scope))
                levels = tuple((name, self._dependence.at(node)) for name, node in passed)
                yield from self._of_helper(method, receiver, names, levels)

    def _of_object(self, called: Value) -> tuple[Function | None, CallResult | None]:
        """The method that a call of a value runs, and the object that it runs on: itself if it can be called."""
        if isinstance(called, Method) and isinstance(called.receiver, CallResult):
            return called.function, called.receiver
        if isinstance(called, CallResult) and isinstance(called.by, Class):
            return classes.find_method(self.ev, self.ev.bases(called.by).classes, "__call__"), called
        return None, None

    def _indexed_helpers(self, node: cst.Subscript) -> Iterator[Entry]:
        """`self.index[number]`, likewise."""
        index = node.slice[0].slice
        level = self._dependence.at(index.value) if isinstance(index, cst.Index) and not self._part else IndexDep.NONE
        names = sorted(self.attributes(node.value)) if level is not IndexDep.NONE else []
        for value in self.ev.values(node.value, self.ev.frame_of(self.scope)) if names else ():
            if isinstance(value, CallResult) and isinstance(value.by, Class):
                method = classes.find_method(self.ev, self.ev.bases(value.by).classes, "__getitem__")
                params = parameters(method.node)[1:2] if method is not None else []
                if method is not None and params:
                    yield from self._of_helper(method, value, names, ((params[0].name.value, level),))

    def _of_helper(
        self, method: Function, receiver: CallResult, names: list[str], levels: tuple[tuple[str, IndexDep], ...]
    ) -> Iterator[Entry]:
        if not isinstance(receiver.by, Class) or dataset_kind(self.ev, receiver.by):
            return  # another Dataset is looked at by itself
        own, bases = classes.receiver_name(method.scope), self.ev.bases(receiver.by)
        yield from (Entry(method.scope, own, levels, (), name, bases) for name in names if "." not in name)

    def _callees(self, call: cst.Call, gives_attributes: bool) -> Iterator[tuple[Function, str]]:
        """Yields the functions of the project that a call runs, with the name of the object in them.

        The name is empty if a call passes attributes of the object, but not the object itself.
        """
        function = call.func
        owner = function.value if isinstance(function, cst.Attribute) else None
        if isinstance(function, cst.Attribute) and self._is_own(owner):
            method = classes.find_method(self.ev, self.bases.classes, function.attr.value)
            if method is not None:
                yield method, classes.receiver_name(method.scope)
            return
        if isinstance(owner, cst.Call) and dotted(owner.func) == "super":
            for value in self.ev.values(function, self.ev.frame_of(self.scope)):
                if isinstance(value, Method):
                    yield value.function, classes.receiver_name(value.function.scope)
            return
        # A module function matters if it gets the object itself: `load_image(self, index)`.
        place = next((place for place, arg in enumerate(call.args) if self._is_own(arg.value)), None)
        if place is None:
            if gives_attributes and any(self._dependence.at(arg.value) is not IndexDep.NONE for arg in call.args):
                yield from ((each, "") for each in self._functions(function))
            return
        for each in self._functions(function):
            params = parameters(each.node)
            if call.args[place].keyword is None and place < len(params):
                yield each, params[place].name.value

    def _is_own(self, node: cst.BaseExpression | None) -> bool:
        return isinstance(node, cst.Name) and node.value == self.own

    def _functions(self, called: cst.BaseExpression) -> Iterator[Function]:
        for value in self.ev.values(called, self.ev.frame_of(self.scope)):
            if isinstance(value, Function) and isinstance(value.node, cst.FunctionDef):
                yield value

    def _result_of_method(self, call: cst.Call, path: tuple[int, ...]) -> IndexDep:
        """The dependence of the result of a method of the object: `return self.names[index]` gives a key.

        `path` is the place in the returned tuple, if that is unpacked.
        """
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        if not isinstance(owner, cst.Name) or owner.value != self.own or self._depth >= WORKER_BODY_DEPTH:
            return IndexDep.NONE
        assert isinstance(call.func, cst.Attribute)
        method = classes.find_method(self.ev, self.bases.classes, call.func.attr.value)
        if method is None:
            return IndexDep.NONE
        own = classes.receiver_name(method.scope)
        levels = {name: self._dependence.at(node) for name, node in self._parameters_passed(call, method, own)}
        inside = Body(self.ev, self.bases, self.reads, Entry(method.scope, own), levels, self._depth + 1)
        returned = [each.value for each in method.scope.own(cst.Return) if each.value is not None]
        returned = [each for each in returned if not _says_nothing_found(each)] or returned
        parts = [written_out(each, path) for each in returned]
        return min(
            (IndexDep.NONE if rest else inside._dependence.at(part) for part, rest in parts), default=IndexDep.NONE
        )

    def _parameters_passed(
        self, call: cst.Call, target: Function, own: str
    ) -> Iterator[tuple[str, cst.BaseExpression]]:
        """Yields the parameters of a function that a call supplies, with the argument."""
        bound = classes.class_of(target.scope) is not None and own != ""
        params = [param.name.value for param in parameters(target.node)][1 if bound else 0 :]
        position = 0
        for arg in call.args:
            if arg.keyword is not None:
                yield arg.keyword.value, arg.value
            elif arg.star:
                position = len(params)
            else:
                if position < len(params):
                    yield params[position], arg.value
                position += 1


def _says_nothing_found(node: cst.BaseExpression) -> bool:
    """True for the None or -1 that a search returns in the end."""
    return is_none(node) or (isinstance(node, cst.UnaryOperation) and isinstance(node.expression, cst.Integer))
