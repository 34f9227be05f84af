"""Worker code that changes in place what a Dataset stores: the next epoch gets the changed sample.

Each change counts whose result depends on what was there before: `x *= 2`, `item["boxes"] = flip(item["boxes"])`,
`item.pop("path")`. What is set anew each time, such as `item["index"] = index`, harms nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.datasets.field_uses import AccessSite
from dataloader_lint.facts.datasets.index_dep import IndexDep
from dataloader_lint.facts.infer import attributes, classes
from dataloader_lint.facts.infer.reachability import enclosing_tests, is_reached
from dataloader_lint.facts.infer.size_classes import Size, container_kind, is_parsed, size_of
from dataloader_lint.facts.infer.values import CallResult, Const, Frame, Method, Opaque, Value
from dataloader_lint.facts.infer.values import Function as FunctionValue
from dataloader_lint.facts.limits import STORED_ALIAS_DEPTH
from dataloader_lint.facts.object_state.dataset import Dataset
from dataloader_lint.facts.object_state.loaded_objects import is_loaded
from dataloader_lint.facts.syntax.expressions import last_name
from dataloader_lint.facts.syntax.names import Binding, Kind, dotted, resolve, written_part
from dataloader_lint.facts.syntax.steps import Step
from dataloader_lint.facts.syntax.tree import Node, Scope

# Methods of lists, dicts and sets that give something else when they run again.
_CHANGING = frozenset({"append", "extend", "insert", "pop", "popitem", "popleft", "remove", "reverse"})
# Methods of tensors that change their memory, from what was in it.
_IN_PLACE = frozenset({"add_", "div_", "exp_", "flip_", "log_", "mul_", "neg_", "normal_", "pow_", "sqrt_", "sub_"})
# What changes nothing the second time.
_IDEMPOTENT = frozenset(
    {
        *("Path", "abs", "array", "asarray", "as_tensor", "astype", "bool", "clip", "clamp", "contiguous", "dict"),
        *("float", "float32", "from_numpy", "int", "int64", "list", "long", "lower", "max", "min", "ones", "round"),
        *("set", "sorted", "str", "strip", "tensor", "to", "tuple", "upper", "zeros"),
    }
)


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


def sample_mutations(dataset: Dataset) -> Iterator[SampleMutation]:
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
        for change in function.changes():
            found = function.changed(change)
            if found is not None and id(found.read) not in reported and function.is_lasting(found, change):
                reported.add(id(found.read))
                yield SampleMutation(change.node, found.name, label, found.read, _is_nested(found, change))
        for call, helper in function.helpers(0, set()):
            for change in helper.changes():
                found = helper.changed(change)
                if found is not None and id(found.read) not in reported and helper.is_lasting(found, change):
                    reported.add(id(found.read))
                    by = Step(helper.scope.module, change.node, f"`{helper.name}` changes it here")
                    yield SampleMutation(call, found.name, label, found.read, _is_nested(found, change), by)


@dataclass(frozen=True, slots=True, eq=False)
class _Stored:
    """An element of an attribute, or a part of one: `depth` counts the steps from the element inwards."""

    name: str
    read: AccessSite
    depth: int


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """A place that changes something from what it was before, what it changes, and the method that does it, if any."""

    node: Node
    target: cst.BaseExpression
    method: str = ""


def _is_nested(stored: _Stored, change: _Change) -> bool:
    return stored.depth > 0 and isinstance(change.node, cst.AugAssign | cst.Call)


class _Function:
    """One function of a Dataset's worker code; `given` are the stored samples that a helper gets as its parameters.

    `reader` is the function that reads these; a method that reads them itself has none.
    """

    def __init__(
        self,
        dataset: Dataset,
        scope: Scope,
        reads: dict[int, tuple[str, AccessSite]],
        frame: Frame | None = None,
        given: dict[str, _Stored] | None = None,
        reader: _Function | None = None,
    ) -> None:
        self.dataset = dataset
        self.scope = scope
        self.tree = scope.module.tree
        self.frame: Frame = frame or attributes.method_frame(dataset.ev, scope, dataset.self_value)
        self._reads = reads
        self._given = given or {}
        self._reader = reader or self

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
            callees = self.dataset.ev.values(call.func, self.frame) if given else ()
            if len(callees) != 1 or not isinstance(callees[0], FunctionValue | Method):
                continue
            function = callees[0].function if isinstance(callees[0], Method) else callees[0]
            receiver = callees[0].receiver if isinstance(callees[0], Method) else None
            if function.scope is self.scope or function.scope.own(cst.Yield):
                continue
            frame = self.dataset.ev.enter(function, call, self.frame, receiver)
            by_name = {name: given[id(arg.node)] for name, arg in (frame.args or {}).items() if id(arg.node) in given}
            helper = _Function(self.dataset, function.scope, self._reads, frame, by_name, self._reader)
            yield call, helper
            key = (id(function.scope), *((name, id(by_name[name].read)) for name in sorted(by_name)))
            if depth < STORED_ALIAS_DEPTH and key not in seen:
                seen.add(key)
                yield from ((call, further) for _, further in helper.helpers(depth + 1, seen))

    def _passed(self, arg: cst.Arg) -> _Stored | None:
        is_plain = not arg.star and isinstance(arg.value, cst.Name | cst.Attribute | cst.Subscript)
        return self.stored(arg.value) if is_plain else None

    def changes(self) -> Iterator[_Change]:
        """The places that may change a sample, in the order of the document."""
        found = [_Change(each, each.target) for each in self.scope.within(cst.AugAssign)]
        for assign in self.scope.within(cst.Assign):
            for target in assign.targets:
                place = target.target
                if isinstance(place, cst.Subscript | cst.Attribute) and self._reads_before(assign, place):
                    found.append(_Change(assign, place))
        for call in self.scope.within(cst.Call):
            if isinstance(call.func, cst.Attribute) and last_name(call.func) in _CHANGING | _IN_PLACE:
                found.append(_Change(call, call.func.value, last_name(call.func)))
        for deleted in self.scope.within(cst.Del):
            if isinstance(deleted.target, cst.Subscript):
                found.append(_Change(deleted, deleted.target))
        return iter(sorted(found, key=lambda change: self.tree.order(change.node)))

    def changed(self, change: _Change) -> _Stored | None:
        """The element of an attribute that a change surely changes, or a part of."""
        target = change.target
        if (
            isinstance(target, cst.Subscript)
            and not isinstance(change.node, cst.Call)
            and id(target) not in self._reads
        ):
            return _inside(self.stored(target.value, 1))  # `points[mask] *= 2` changes `points`, whatever the mask is
        return self.stored(target)

    def stored(self, node: cst.BaseExpression, depth: int = 0) -> _Stored | None:
        """The element of an attribute that an expression surely is, or is a part of."""
        if depth > STORED_ALIAS_DEPTH:
            return None
        if id(node) in self._reads:
            name, read = self._reads[id(node)]
            return _Stored(name, read, 0)
        if isinstance(node, cst.Subscript) and not all(map(self._is_basic, node.slice)):
            return None
        if isinstance(node, cst.Subscript | cst.Attribute):
            return _inside(self.stored(node.value, depth + 1))
        if not isinstance(node, cst.Name):
            return None
        found = [self._bound(each, depth) for each in resolve(node, self.tree) if each.kind is not Kind.AUGMENTED]
        return found[0] if found and all(each is not None for each in found) else None

    def _bound(self, binding: Binding, depth: int) -> _Stored | None:
        """The element of an attribute that a binding surely gives its name, or a part of one."""
        if binding.scope is not self.scope:
            return None
        if binding.kind is Kind.PARAMETER:
            return self._given.get(binding.name)
        if binding.kind is Kind.ELEMENT and binding.value is not None:
            owner = _owner_of_elements(binding.value, binding.path)
            return _inside(self.stored(owner, depth + 1)) if owner is not None else None
        part = written_part(binding.value, binding.path) if binding.kind is Kind.VALUE else None
        return self.stored(part, depth + 1) if part is not None else None

    def _is_basic(self, element: cst.SubscriptElement) -> bool:
        """True for a slice, a number or a key. What a list, an array or a mask picks from an array is a copy."""
        index = element.slice
        if not isinstance(index, cst.Index) or isinstance(index.value, cst.Ellipsis):
            return True
        return all(
            isinstance(each, Const) or (isinstance(each, Opaque) and each.kind in _BASIC_INDICES)
            for each in self.dataset.ev.values(index.value, self.frame)
        )

    def is_lasting(self, stored: _Stored, change: _Change) -> bool:
        """True if a change surely stays in what the Dataset keeps, and comes again with the next epoch."""
        values = self.dataset.ev.values(_owner(stored.read), self._reader.frame)
        kinds = {_kind(self.dataset, each) for each in values if each != Const(None)}
        if not kinds or None in kinds:
            return False
        changed = _root(change.target)  # `if "image" not in item` asks whether it was changed already
        if changed and any(self.tree.named(test, changed) for test, _ in enclosing_tests(change.node, self.frame)):
            return False
        if not is_reached(self.dataset.ev, change.node, self.frame, with_options=True) or self._reader._is_put_back(
            stored
        ):
            return False
        if change.method in _IN_PLACE or "tensor" in kinds:  # an index of a tensor gives a view of it
            is_view = kinds == {"tensor"} and stored.read.itself is IndexDep.INDEX
            return is_view and (not change.method or change.method in _IN_PLACE)
        if change.method and stored.read.is_sampled and stored.depth == 0:
            return _takes_key(change.node)  # any other may be a buffer that is meant to be used up
        if change.method:
            return stored.depth > 0 or change.target is not stored.read.node
        if id(change.target) in self._reads:
            return False  # `self.count[index] += 1`: what it keeps is meant to change
        if isinstance(change.target, cst.Name) and stored.depth == 0:
            elements = [each for value in values for each in self.dataset.ev.element(value)]
            return bool(elements) and all(isinstance(each, Opaque) and each.kind in _MUTABLE for each in elements)
        return not isinstance(change.target, cst.Name)

    def _is_put_back(self, stored: _Stored) -> bool:
        """True if the function itself stores into the attribute: then it is a cache, or a state that is meant to be."""
        owner = dotted(_owner(stored.read))
        return any(
            isinstance(each.target, cst.Subscript) and dotted(each.target.value) == owner
            for assign in self.scope.within(cst.Assign)
            for each in assign.targets
        )

    def _reads_before(self, assign: cst.Assign, target: cst.Subscript | cst.Attribute) -> bool:
        """True if what is stored in a place is made from what was there: `item["x"] = flip(item["x"])`."""
        value = assign.value
        if isinstance(value, cst.Call) and last_name(value.func) in _IDEMPOTENT:
            return False
        if not isinstance(value, cst.Call | cst.BinaryOperation):
            return False
        return self._uses(value, self.tree.spelling(target), 0) or self._uses_element(value, target)

    def _uses_element(self, value: Node, target: cst.Subscript | cst.Attribute) -> bool:
        """True for what a loop takes from the place: `for key, box in item.items(): item[key] = box * 2`."""
        index = target.slice[0].slice if isinstance(target, cst.Subscript) else None
        if not isinstance(index, cst.Index) or not isinstance(index.value, cst.Name):
            return False
        keys = [each for each in resolve(index.value, self.tree) if each.path == (0,)]
        for name in self.tree.find(value, cst.Name):
            for each in resolve(name, self.tree):
                owner = _owner_of_elements(each.value, each.path) if each.kind is Kind.ELEMENT and each.value else None
                is_same = owner is not None and self.tree.spelling(owner) == self.tree.spelling(target.value)
                if is_same and each.path == (1,) and any(key.node is each.node for key in keys):
                    return True
        return False

    def _uses(self, node: Node, wanted: tuple[object, ...], depth: int) -> bool:
        for inner in self.tree.walk(node):
            if isinstance(inner, cst.Subscript | cst.Attribute) and self.tree.spelling(inner) == wanted:
                return True
            if isinstance(inner, cst.Name) and depth < STORED_ALIAS_DEPTH:
                bindings = resolve(inner, self.tree)
                if len(bindings) == 1 and bindings[0].kind is Kind.VALUE and bindings[0].scope is self.scope:
                    part = written_part(bindings[0].value, bindings[0].path)
                    if part is not None and not _is_idempotent(part) and self._uses(part, wanted, depth + 1):
                        return True
        return False


_MUTABLE = frozenset({"array", "list", "tensor"})
_BASIC_INDICES = frozenset({"int", "key", "str"})


def _inside(outer: _Stored | None) -> _Stored | None:
    """A part of what is stored."""
    return _Stored(outer.name, outer.read, outer.depth + 1) if outer is not None else None


def _owner_of_elements(iterated: cst.BaseExpression, path: tuple[int, ...]) -> cst.BaseExpression | None:
    """What holds the elements that a loop gives a name: `item` for `for key, box in item.items()`."""
    while isinstance(iterated, cst.Call) and iterated.args and last_name(iterated.func) in ("list", "tuple", "tqdm"):
        iterated = iterated.args[0].value
    if not isinstance(iterated, cst.Call):
        return iterated if not path else None
    name = last_name(iterated.func)
    if name == "enumerate" and path == (1,) and iterated.args:
        return iterated.args[0].value
    is_value = (name, path) in (("items", (1,)), ("values", ()))
    return iterated.func.value if is_value and isinstance(iterated.func, cst.Attribute) else None


def _is_idempotent(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and last_name(node.func) in _IDEMPOTENT


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


def _kind(dataset: Dataset, value: Value) -> str | None:
    """What an attribute holds: "container" or "tensor"; None for all that may give a fresh object for each index."""
    if isinstance(value, Opaque) and value.kind == "tensor":
        return "tensor"
    is_container = container_kind(value) in (Size.LIST, Size.DICT) or is_parsed(value) or is_loaded(value)
    if is_container or (not isinstance(value, CallResult) and size_of(dataset.ev, value) in (Size.LIST, Size.DICT)):
        return "container"
    return None
