"""Worker code that changes in place what a Dataset stores: the next epoch gets the changed sample.

Each change counts whose result depends on what was there before: `x *= 2`, `item["boxes"] = flip(item["boxes"])`,
`item.pop("path")`. What is set again each time, such as `item["index"] = index`, harms nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.dataset_class import DatasetClass
from dataloader_lint.pipeline.datasets.field_uses import AccessSite
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.pipeline.datasets.loaded_objects import is_loaded
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.rules.samples.dl613_stored_sample_changed.in_place_changes import (
    IN_PLACE,
    Change,
    changes,
    owner_of_elements,
)
from dataloader_lint.rules.samples.dl613_stored_sample_changed.local_values import is_number
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import enclosing_tests, is_reached
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.limits import STORED_ALIAS_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name, written_items, written_key
from dataloader_lint.semantics.syntax.names import Binding, Kind, dotted, resolve, written_out, written_part
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.size_classes import Size, container_kind, is_parsed, size_of
from dataloader_lint.semantics.values.values import CallResult, Const, Frame, Opaque, Value


@dataclass(frozen=True, slots=True, eq=False)
class SampleMutation:
    """A statement or call in worker code that changes a stored sample.

    `is_nested` is True if it changes an object inside the sample, which a shallow copy still shares.
    """

    node: Node
    attribute: str
    function: str
    read: AccessSite
    is_nested: bool
    by: Step | None = None  # where a helper changes it that the function passes it to; `node` is the call then

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the sample is read from the storage, and where a helper changes it."""
        read = Step(self.read.scope.module, self.read.node, f"the sample is read from `self.{self.attribute}` here")
        return (read, self.by) if self.by is not None else (read,)


def sample_mutations(dataset: DatasetClass) -> Iterator[SampleMutation]:
    """Yields the places in a Dataset's worker code that change samples in its storage, from what they were before."""
    reads = {
        id(place.node): (name, place)
        for name, use in dataset.reads.uses.items()
        for place in use.places
        if _is_element(place) and "." not in name
    }
    if not reads:
        return
    for scope in dataset.reads.functions:
        if classes.class_of(scope) is None:
            continue
        function = _Function(dataset, scope, reads)
        label = f"{dataset.name}.{scope.node.name.value}" if isinstance(scope.node, cst.FunctionDef) else "a lambda"
        reported: set[int] = set()  # one copy where the sample is read cures all changes of it
        for change in changes(scope):
            found = function.changed(change)
            if found is not None and id(found.read) not in reported and function.is_lasting(found, change):
                reported.add(id(found.read))
                yield SampleMutation(change.node, found.name, label, found.read, _is_nested(found, change))
        for call, helper in function.helpers(0, set()):
            for change in changes(helper.scope):
                found = helper.changed(change)
                if found is not None and id(found.read) not in reported and helper.is_lasting(found, change):
                    reported.add(id(found.read))
                    by = Step(helper.scope.module, change.node, f"`{helper.name}` changes it here")
                    yield SampleMutation(call, found.name, label, found.read, _is_nested(found, change), by)


@dataclass(frozen=True, slots=True, eq=False)
class _Stored:
    """An element of an attribute, or a part of one: `depth` counts the steps from the element inwards.

    `reader` is the function that reads it from the attribute.
    """

    name: str
    read: AccessSite
    depth: int
    reader: _Function


def _is_nested(stored: _Stored, change: Change) -> bool:
    return stored.depth > 0 and isinstance(change.node, cst.AugAssign | cst.Call)


class _Function:
    """One function of a Dataset's worker code.

    `given` are the stored samples that a helper gets as its parameters; `given_dicts` its parameters that are dicts of
    stored samples, each with the function that made it and its name there.
    """

    def __init__(
        self,
        dataset: DatasetClass,
        scope: Scope,
        reads: dict[int, tuple[str, AccessSite]],
        frame: Frame | None = None,
        given: dict[str, _Stored] | None = None,
        given_dicts: dict[str, tuple[_Function, cst.Name]] | None = None,
    ) -> None:
        self.dataset = dataset
        self.scope = scope
        self.tree = scope.module.tree
        self.frame: Frame = frame or attributes.method_frame(dataset.ev, scope, dataset.self_value)
        self._reads = reads
        self._given = given or {}
        self._given_dicts = given_dicts or {}
        self._dicts: dict[str, list[_Item]] = {}

    @property
    def name(self) -> str:
        """What the function is called."""
        return self.scope.node.name.value if isinstance(self.scope.node, cst.FunctionDef) else "a lambda"

    def helpers(self, depth: int, seen: set[tuple[object, ...]]) -> Iterator[tuple[cst.Call, _Function]]:
        """The functions that this one passes stored samples to, directly or through each other, with its own calls.

        `seen` are those whose own helpers were asked for, each with what it is given.
        """
        for call in self.scope.within(cst.Call):
            given = {id(arg.value): stored for arg in call.args if (stored := self._passed(arg)) is not None}
            dicts = {id(arg.value): arg.value for arg in call.args if isinstance(arg.value, cst.Name)}
            dicts = {number: name for number, name in dicts.items() if self._holds_samples(name)}
            helper = self._entered(call, given, dicts) if given or dicts else None
            if helper is None:
                continue
            yield call, helper
            key = (id(helper.scope), *((name, id(helper._given[name].read)) for name in sorted(helper._given)))
            key = (*key, *((name, id(helper._given_dicts[name][1])) for name in sorted(helper._given_dicts)))
            if depth < STORED_ALIAS_DEPTH and key not in seen:
                seen.add(key)
                yield from ((call, further) for _, further in helper.helpers(depth + 1, seen))

    def _entered(self, call: cst.Call, given: dict[int, _Stored], dicts: dict[int, cst.Name]) -> _Function | None:
        """The one function of the project that a call surely runs, with the stored samples that it gets."""
        callees = self.dataset.ev.values(call.func, self.frame)
        frame = self.dataset.ev.entered(callees[0], call, self.frame) if len(callees) == 1 else None
        if frame is None or frame.scope is self.scope or frame.scope.own(cst.Yield):
            return None
        args = {name: id(arg.node) for name, arg in (frame.args or {}).items()}
        stored = {name: given[number] for name, number in args.items() if number in given}
        by_name = {name: (self, dicts[number]) for name, number in args.items() if number in dicts}
        return _Function(self.dataset, frame.scope, self._reads, frame, stored, by_name)

    def _passed(self, arg: cst.Arg, depth: int = 0) -> _Stored | None:
        is_plain = not arg.star and isinstance(arg.value, cst.Name | cst.Attribute | cst.Subscript)
        return self.stored(arg.value, depth) if is_plain else None

    def changed(self, change: Change) -> _Stored | None:
        """The element of an attribute that a change surely changes, or a part of."""
        target = change.target
        if (
            isinstance(target, cst.Subscript)
            and not isinstance(change.node, cst.Call)
            and id(target) not in self._reads
        ):
            if isinstance(change.node, cst.AugAssign) and (parts := self._parts(target)):
                return self._all_stored(parts, 1)
            return _inside(self.stored(target.value, 1))  # `points[mask] *= 2` changes `points`, whatever the mask is
        return self.stored(target)

    def stored(self, node: cst.BaseExpression, depth: int = 0) -> _Stored | None:
        """The element of an attribute that an expression surely is, or is a part of."""
        if depth > STORED_ALIAS_DEPTH:
            return None
        if id(node) in self._reads:
            name, read = self._reads[id(node)]
            return _Stored(name, read, 0, self)
        kind = type(node)  # quicker than `isinstance`, which LibCST's abstract classes make slow
        if kind is cst.Subscript:
            node = cst.ensure_type(node, cst.Subscript)
            if parts := self._parts(node):
                return self._all_stored(parts, depth)
            outer = self.stored(node.value, depth + 1)
            return _inside(outer) if outer is not None and all(map(self._is_basic, node.slice)) else None
        if kind is cst.Attribute:
            return _inside(self.stored(cst.ensure_type(node, cst.Attribute).value, depth + 1))
        if kind is cst.Call:
            return self._returned(cst.ensure_type(node, cst.Call), depth)
        if kind is not cst.Name:
            return None
        node = cst.ensure_type(node, cst.Name)
        found = [self._bound(each, depth) for each in resolve(node, self.tree) if each.kind is not Kind.AUGMENTED]
        return found[0] if found and all(each is not None for each in found) else None

    def _all_stored(self, parts: list[tuple[_Function, cst.BaseExpression]], depth: int) -> _Stored | None:
        found = [function.stored(value, depth + 1) for function, value in parts]
        return found[0] if all(each is not None for each in found) else None

    def _returned(self, call: cst.Call, depth: int, path: tuple[int, ...] = ()) -> _Stored | None:
        """The stored sample that a method surely returns: `self.get(index)`, or has at a place in what it returns."""
        if depth > STORED_ALIAS_DEPTH:
            return None
        given = {id(arg.value): value for arg in call.args if (value := self._passed(arg, depth + 1)) is not None}
        if not given and dotted(call.func).count(".") != 1:
            return None  # only a method of the Dataset itself reads what it stores
        callee = self._entered(call, given, {})
        if callee is None or not isinstance(callee.scope.node, cst.FunctionDef) or callee.scope.node.asynchronous:
            return None
        returned = [written_part(each.value, path) for each in callee.scope.own(cst.Return)]
        found = [callee.stored(each, depth + 1) if each is not None else None for each in returned]
        return found[0] if found and all(each is not None for each in found) else None

    def _parts(self, node: cst.Subscript) -> list[tuple[_Function, cst.BaseExpression]]:
        """What a key of a dict that the function makes itself can be, each with the function where it stands."""
        key = written_key(node)
        if key is None or not isinstance(node.value, cst.Name):
            return []
        return [(maker, value) for maker, name, value in self._items(node.value) if name == key]

    def _holds_samples(self, name: cst.Name) -> bool:
        return any(maker.stored(value, 1) is not None for maker, _, value in self._items(name))

    def _items(self, name: cst.Name) -> list[_Item]:
        """The keys and values of a dict that the function makes, or gets from the one that makes it; else nothing."""
        if name.value not in self._dicts:
            self._dicts[name.value] = self._work_out_items(name)
        return self._dicts[name.value]

    def _work_out_items(self, name: cst.Name) -> list[_Item]:
        items: list[_Item] = []
        for binding in resolve(name, self.tree):
            if binding.scope is self.scope and binding.kind is Kind.PARAMETER and name.value in self._given_dicts:
                maker, there = self._given_dicts[name.value]
                items += maker._items(there)
                continue
            made = binding.written
            pairs = written_items(made) if binding.scope is self.scope and made is not None else None
            if pairs is None:
                return []
            items += [(self, key, value) for key, value in pairs]
        stores = ((each.target, assign.value) for assign in self.scope.within(cst.Assign) for each in assign.targets)
        for target, value in stores:
            if isinstance(target, cst.Subscript) and dotted(target.value) == name.value:
                items.append((self, written_key(target), value))
        return items

    def _bound(self, binding: Binding, depth: int) -> _Stored | None:
        """The element of an attribute that a binding surely gives its name, or a part of one."""
        if binding.scope is not self.scope:
            return None
        if binding.kind is Kind.PARAMETER:
            return self._given.get(binding.name)
        if binding.kind is Kind.ELEMENT and binding.value is not None:
            owner = owner_of_elements(binding.value, binding.path)
            return _inside(self.stored(owner, depth + 1)) if owner is not None else None
        if binding.kind is not Kind.VALUE or binding.value is None:
            return None
        part, path = written_out(binding.value, binding.path)
        if path:  # `row, number = self.row_of(index)`
            return self._returned(part, depth + 1, path) if isinstance(part, cst.Call) else None
        return self.stored(part, depth + 1)

    def _is_basic(self, element: cst.SubscriptElement) -> bool:
        """True for a slice, a number or a key. What a list, an array or a mask picks from an array is a copy."""
        index = element.slice
        if not isinstance(index, cst.Index) or isinstance(index.value, cst.Ellipsis):
            return True
        return all(
            isinstance(each, Const) or (isinstance(each, Opaque) and each.kind in _BASIC_INDICES)
            for each in self.dataset.ev.values(index.value, self.frame)
        )

    def is_lasting(self, stored: _Stored, change: Change) -> bool:
        """True if a change surely stays in what the Dataset keeps, and comes again with the next epoch."""
        values = self.dataset.ev.values(_owner(stored.read), stored.reader.frame)
        kinds = {_kind(self.dataset, each) for each in values if each != Const(None)}
        if not kinds or None in kinds:
            return False
        changed = _root(change.target)  # `if "image" not in item` asks whether it was changed already
        if changed and any(self.tree.named(test, changed) for test, _ in enclosing_tests(change.node, self.frame)):
            return False
        if not is_reached(self.dataset.ev, change.node, self.frame, with_options=True):
            return False
        if stored.reader._is_put_back(stored):
            return False
        if change.method in IN_PLACE or "tensor" in kinds:  # an index of a tensor gives a view of it
            is_view = kinds == {"tensor"} and stored.read.itself is IndexDep.INDEX
            return is_view and (not change.method or change.method in IN_PLACE)
        if "array" in kinds:  # what takes a new value by index is a row, which is a view; a number is not stored
            is_row = kinds == {"array"} and stored.read.itself is IndexDep.INDEX and stored.reader._is_at_number(stored)
            return is_row and not change.method and stored.depth > 0
        if change.method and stored.read.is_sampled and stored.depth == 0:
            return _takes_key(change.node)  # any other may be a buffer that is meant to be used up
        if change.method:
            is_part = stored.depth > 0 or change.target is not stored.read.node
            return is_part and not self._is_rotated(change)
        if id(change.target) in self._reads:
            return False  # `self.count[index] += 1`: what it keeps is meant to change
        is_own_item = isinstance(change.target, cst.Subscript) and bool(self._parts(change.target))
        if (isinstance(change.target, cst.Name) or is_own_item) and stored.depth == 0:
            elements = [each for value in values for each in self.dataset.ev.element(value)]
            return bool(elements) and all(isinstance(each, Opaque) and each.kind in _MUTABLE for each in elements)
        return not isinstance(change.target, cst.Name) and not is_own_item

    def _is_rotated(self, change: Change) -> bool:
        """True if the function also adds to what it takes from: `path = paths.pop(0)`, then `paths.append(path)`."""
        wanted = self.tree.spelling(change.target)
        called = {
            last_name(call.func)
            for call in self.scope.within(cst.Call)
            if isinstance(call.func, cst.Attribute) and self.tree.spelling(call.func.value) == wanted
        }
        return bool(called & _TAKING) and bool(called & _ADDING)

    def _is_at_number(self, stored: _Stored) -> bool:
        """True if the sample is read at one number, `self.x[index]`: what a list or a mask picks is a copy."""
        read = stored.read.node
        return (
            isinstance(read, cst.Subscript)
            and self.name != "__getitems__"
            and len(read.slice) == 1
            and isinstance(read.slice[0].slice, cst.Index)
            and is_number(read.slice[0].slice.value, self.scope)
        )

    def _is_put_back(self, stored: _Stored) -> bool:
        """True if the function itself stores into the attribute: then it is a cache, or a state that is meant to be."""
        owner = dotted(_owner(stored.read))
        return any(
            isinstance(each.target, cst.Subscript) and dotted(each.target.value) == owner
            for assign in self.scope.within(cst.Assign)
            for each in assign.targets
        )


# A key of a dict, None where it is not written out, and its value with the function where that stands.
_Item = tuple[_Function, str | None, cst.BaseExpression]
_MUTABLE = frozenset({"array", "list", "tensor"})
_TAKING = frozenset({"pop", "popleft", "remove"})
_ADDING = frozenset({"append", "appendleft", "insert"})
_BASIC_INDICES = frozenset({"int", "key", "str"})


def _inside(outer: _Stored | None) -> _Stored | None:
    """A part of what is stored."""
    return _Stored(outer.name, outer.read, outer.depth + 1, outer.reader) if outer is not None else None


def _is_element(place: AccessSite) -> bool:
    """True if it reads one sample: `self.items[index]`, `random.choice(self.items)`."""
    node = place.node
    if isinstance(node, cst.Call):
        return place.is_sampled and last_name(node.func) == "choice" and isinstance(_owner(place), cst.Attribute)
    return isinstance(node, cst.Subscript) and (place.itself >= IndexDep.KEY or place.is_sampled)


def _takes_key(node: Node) -> bool:
    """True for `record.pop("path")`."""
    return isinstance(node, cst.Call) and bool(node.args) and isinstance(node.args[0].value, cst.SimpleString)


def _owner(read: AccessSite) -> cst.BaseExpression:
    if isinstance(read.node, cst.Call):
        return read.node.args[0].value
    assert isinstance(read.node, cst.Subscript)
    return read.node.value


def _root(node: cst.BaseExpression) -> str:
    """The name that an expression starts with; empty if it starts with none."""
    while isinstance(node, cst.Subscript | cst.Attribute | cst.Call):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else ""


def _kind(dataset: DatasetClass, value: Value) -> str | None:
    """What an attribute holds: "container", "array" or "tensor"; None if an index may give a fresh object each time."""
    if isinstance(value, Opaque) and value.kind in ("array", "tensor"):
        return value.kind
    if isinstance(value, CallResult) and value.library == "numpy.load":
        return "array"  # an archive of several arrays has no number as a key
    is_container = container_kind(value) in (Size.LIST, Size.DICT) or is_parsed(value) or is_loaded(value)
    if is_container or (not isinstance(value, CallResult) and size_of(dataset.ev, value) in (Size.LIST, Size.DICT)):
        return "container"
    return None
