"""The Python containers that a Dataset keeps as its attributes, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.rules.memory._shared.loaded_dicts import is_loaded_dict
from dataloader_lint.rules.memory._shared.mutations import (
    added_to,
    appended_in,
    appended_later,
    grown_elsewhere,
    is_numbered_later,
    records_added,
)
from dataloader_lint.rules.memory._shared.non_container_fields import is_non_container
from dataloader_lint.rules.memory._shared.strong_updates import (
    follows,
    is_object,
    overwritten_bindings,
    replaces,
    surely_replaces,
)
from dataloader_lint.rules.memory._shared.type_guards import is_excluded_by_guard
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.heap.writes import Write, home_of
from dataloader_lint.semantics.libraries.short_names import SAME_ELEMENTS
from dataloader_lint.semantics.limits import KEPT_DEPTH
from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import Scope, Tree
from dataloader_lint.semantics.values import type_hints
from dataloader_lint.semantics.values.size_classes import Size, container_kind, kind_of_object, size_of
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    CallResult,
    Const,
    Evaluator,
    Frame,
    Mapping,
    Opaque,
    Sequence,
    Value,
    Values,
    merge,
)


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """An attribute of a Dataset that holds a Python container, at the first binding that shows it.

    `grows` is True where code adds to it for each of many things, or where what makes it depends on the data.
    """

    name: str
    size: Size
    binding: AttributeBinding
    value: Value
    elements: Values
    grows: bool


def containers_of(dataset: StoringDataset, tree: Tree) -> Iterator[Container]:
    """The lists and dicts that a Dataset keeps; an attribute that can be either counts as both.

    Of those that worker code may read for a sample or for the length, and that some statement of the tree binds.
    """
    for name, bindings in dataset.bound().items():
        if dataset.reads.of(name).is_read_per_sample and any(binding.node in tree for binding in bindings):
            yield from _containers(dataset, name, bindings)


def _containers(dataset: StoringDataset, name: str, bindings: list[AttributeBinding]) -> list[Container]:
    """The containers that an attribute can hold, each at the first binding that shows it."""
    ev = dataset.ev
    growth = appended_in(dataset, name)
    shown: dict[Size, Container] = {}
    replacing: list[AttributeBinding] = []
    showing: dict[Size, list[AttributeBinding]] = {}
    first: dict[Size, AttributeBinding] = {}  # where it is first seen to be a container at all, if still an empty one
    lost = overwritten_bindings(bindings)
    for binding in bindings:
        if binding.kind is Kind.AUGMENTED or binding in lost:
            continue
        if replacing and not shown and _is_worked_out_from_itself(binding):
            continue  # of the array that has taken the place of the list
        values = _given(ev, binding, attributes.bound(ev, binding, dataset.self_value))
        if is_non_container(dataset, binding, values):
            continue
        for value in values:
            kind = container_kind(value) or kind_of_object(ev, value)
            size = _size_seen(dataset, name, binding, value, values, kind, bool(growth))
            if size is None:
                continue
            records = records_added(dataset, name, binding) if size is Size.SLOTS else ()
            if records:
                size = Size.LIST
            if kind is not None:
                first.setdefault(kind, binding)
            if size in (Size.LIST, Size.DICT):
                showing.setdefault(size, []).append(binding)
            if size in (Size.LIST, Size.DICT) and size not in shown and not is_excluded_by_guard(binding, size):
                grown = bool(growth) or grown_elsewhere(dataset, binding) or not isinstance(value, Opaque)
                elements = records or _elements(ev, value, growth, dataset)
                shown[size] = Container(name, size, first.get(size, binding), value, elements, grown)
            elif size in (Size.ARRAY, Size.SLOTS) or is_object(ev, value, values):
                replacing.append(binding)
                shown = {each: found for each, found in shown.items() if not _takes_place(dataset, binding, found)}
                first = {each: found for each, found in first.items() if not replaces(ev, binding, found)}
    # Emptied: construction has made something better of what was in it.
    if is_called(dataset, name, ("clear",)):
        return []
    found = _not_replaced(ev, shown, replacing)
    if len(found) > 1 and found[0].binding is found[1].binding:
        found = found[:1]  # one binding, of which no more is known
    elif len(found) > 1:
        found = [each for each in found if not _has_become_another(each.size, showing)]
    return [_as_it_stays(dataset, each, bindings) for each in found]


def _size_seen(
    dataset: StoringDataset,
    name: str,
    binding: AttributeBinding,
    value: Value,
    values: Values,
    kind: Size | None,
    is_grown: bool,
) -> Size | None:
    """The size class of one of the values of a binding; None for places that get something else as well."""
    ev = dataset.ev
    size = Size.ARRAY if _is_of_array(dataset, binding) else size_of(ev, value)
    if is_loaded_dict(dataset, name, value):
        size = Size.DICT
    if size is Size.SLOTS and (_is_added_to(ev, values) or _is_other_arm(ev, binding, values)):
        return None
    if size in (Size.SMALL, Size.OTHER) and kind is not None:
        if is_grown or _grows(dataset, name, binding, value, kind):
            return kind
    return size


def _not_replaced(ev: Evaluator, shown: dict[Size, Container], replacing: list[AttributeBinding]) -> list[Container]:
    """The containers that no binding in another method replaces: those of a class come before those of its bases."""
    return [
        each
        for each in shown.values()
        if not any(one.method is not each.binding.method and replaces(ev, one, each.binding) for one in replacing)
    ]


def _has_become_another(size: Size, showing: dict[Size, list[AttributeBinding]]) -> bool:
    """True if all that shows an attribute to be a set or dict is replaced by lists, or the other way round.

    `self.names = set()`, a loop that adds to it, `self.names = sorted(self.names)`.
    """
    others = [binding for other, bindings in showing.items() if other is not size for binding in bindings]
    return all(any(surely_replaces(other, each) for other in others) for each in showing[size])


def _takes_place(dataset: StoringDataset, binding: AttributeBinding, container: Container) -> bool:
    """True if a binding surely comes after a container's, or after all that is added to one that starts empty."""
    if replaces(dataset.ev, binding, container.binding):
        return True
    if not isinstance(container.value, Sequence) or container.value.items != ():
        return False
    added = added_to(dataset, container.name, container.binding)
    return bool(added) and all(follows(dataset.ev, binding, each) for each, _ in added)


def _given(ev: Evaluator, binding: AttributeBinding, values: Values) -> Values:
    """What is bound, and what it is declared as where no visible code gives anything that tells of the data.

    That is a parameter left at None, and what tests alone give: a list of the one file that they made.
    """
    is_left = all(isinstance(value, Const) and value.value is None and value.default for value in values)
    if not values or binding.method.parent is None or not (is_left or _is_of_tests(values, binding)):
        return values
    declared = [binding.annotation] if binding.annotation is not None and not binding.path else []
    for each in resolve(binding.value, binding.method.module.tree) if isinstance(binding.value, cst.Name) else ():
        if isinstance(each.node, cst.Param) and each.node.annotation is not None:
            declared.append(each.node.annotation.annotation)
    outside = ev.frame_of(binding.method.parent)
    return merge(values, *(type_hints.values_of(ev, annotation, outside) for annotation in declared))


def _is_of_tests(values: Values, binding: AttributeBinding) -> bool:
    """True if all of it is written out in tests, for a class that stands in none."""
    frames = [value.frame if isinstance(value, Mapping | Sequence) else None for value in values]
    if not all(frame is not None and is_test(frame.scope.module) for frame in frames):
        return False
    return not is_test(binding.method.module)


def _is_of_array(dataset: StoringDataset, binding: AttributeBinding) -> bool:
    """True if what is bound is worked out from an array, and thus neither a list nor an element of one.

    `np.array(self.names)[order]`, `torch.stack(self.rows).numpy()`, `pd.DataFrame(self.rows).values`.
    """
    source = _source(binding.value) if not binding.path else None
    frame = attributes.method_frame(dataset.ev, binding.method, dataset.self_value)
    while source is not None:
        found = dataset.ev.values(source, frame)
        if found and all(size_of(dataset.ev, value) is Size.ARRAY for value in found):
            return True
        source = _source(source)
    return False


def _is_worked_out_from_itself(binding: AttributeBinding) -> bool:
    """`self.names = self.names[first:last]`."""
    own = f"{classes.receiver_name(binding.method)}.{binding.name}"
    source = _source(binding.value) if not binding.path else None
    while source is not None and dotted(source) != own:
        source = _source(source)
    return source is not None


def _source(node: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """What an expression indexes, compares, negates, or asks for something that is no list, if it does that."""
    if isinstance(node, cst.Subscript):
        return node.value
    if isinstance(node, cst.UnaryOperation):
        return node.expression
    if isinstance(node, cst.Comparison):
        return node.left
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        name = node.func.attr.value
        return None if name in _GIVING_OBJECTS or name.startswith("to_") else node.func.value
    return node.value if isinstance(node, cst.Attribute) and node.attr.value in ("T", "values") else None


# Methods by which arrays, tensors and tables hand out Python objects, or several of their kind.
_GIVING_OBJECTS = frozenset(
    {"chunk", "dumps", "item", "items", "iterrows", "itertuples", "keys", "split", "tobytes", "tolist", "unbind"}
)


def _is_added_to(ev: Evaluator, values: Values) -> bool:
    """True if one name means a list that starts empty and gets more: `labels += [0] * n` makes no slots of it."""
    is_empty = any(isinstance(value, Sequence) and value.items == () for value in values)
    return is_empty and any(size_of(ev, value) is Size.LIST for value in values)


def _is_other_arm(ev: Evaluator, binding: AttributeBinding, values: Values) -> bool:
    """True if one thing again and again is what there is in place of a list: `starts if starts else [0] * n`."""
    return isinstance(binding.value, cst.IfExp) and any(size_of(ev, value) is Size.LIST for value in values)


def _grows(dataset: StoringDataset, name: str, binding: AttributeBinding, value: Value, kind: Size) -> bool:
    """True if what starts small grows under another name, in one of its places, or after construction."""
    if grown_elsewhere(dataset, binding):
        return True
    if isinstance(value, Sequence) and not value.items and appended_later(dataset, name):
        return True
    return kind is Size.DICT and is_numbered_later(dataset, name)


def _as_it_stays(dataset: StoringDataset, container: Container, bindings: list[AttributeBinding]) -> Container:
    """A container with the elements that it has after what construction surely makes of it: `self.x = make(self.x)`."""
    last = next((each for each in reversed(bindings) if surely_replaces(each, container.binding)), None)
    if last is None or _keeps_elements(last):
        return container
    ev = dataset.ev
    left = [
        _inside(ev, value)
        for value in attributes.bound(ev, last, dataset.self_value)
        if size_of(ev, value) is container.size
    ]
    return replace(container, elements=merge(*left) or (UNKNOWN,))


def _keeps_elements(binding: AttributeBinding) -> bool:
    """True if the elements are those that were there before: `self.x = sorted(self.x)`, `self.x = self.x[:9]`."""
    node = binding.value
    while True:
        if isinstance(node, cst.Call) and node.args and dotted(node.func) in SAME_ELEMENTS:
            node = node.args[0].value
        elif isinstance(node, cst.Subscript) and isinstance(node.slice[0].slice, cst.Slice):
            node = node.value
        else:
            return isinstance(node, cst.Attribute) and node.attr.value == binding.name


def is_called(dataset: StoringDataset, name: str, methods: tuple[str, ...]) -> bool:
    """True if construction calls one of some methods of what an attribute holds."""
    return any(not _called_methods(scope).get(name, frozenset()).isdisjoint(methods) for scope in dataset.construction)


def _called_methods(scope: Scope) -> dict[str, set[str]]:
    """By attribute the methods that a function calls of what it holds."""

    def work_out() -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for inner in scope.descend():
            for call in inner.own(cst.Call):
                if isinstance(call.func, cst.Attribute) and isinstance(call.func.value, cst.Attribute):
                    found.setdefault(call.func.value.attr.value, set()).add(call.func.attr.value)
        return found

    return scope.module.tree.once(("called methods", id(scope)), work_out)


def _elements(ev: Evaluator, value: Value, growth: list[Write], dataset: StoringDataset) -> Values:
    """What the container holds, as far as it is known; what is appended counts too."""
    found: list[Values] = [_inside(ev, value)] if not (isinstance(value, Sequence) and value.items == ()) else []
    found.extend(ev.values(added.value, _frame_of(dataset, home_of(added))) for added in growth)
    return merge(*found) or (UNKNOWN,)


def _frame_of(dataset: StoringDataset, scope: Scope) -> Frame:
    """The frame of a function that adds to a container: for a method of the Dataset, that of its object."""
    klass = classes.class_of(scope)
    if klass is not None and all(each.scope is not klass for each in dataset.bases.classes):
        return dataset.ev.frame_of(scope)
    return attributes.method_frame(dataset.ev, scope, dataset.self_value)


def _inside(ev: Evaluator, value: Value, depth: int = 0) -> Values:
    """What running over a value gives, where the keys of a dict are what its maker writes: mostly strings is no word.

    `list(self.rows.keys())`, `sorted(self.rows)`, `[key for key in self.rows]` are seen through.
    """
    if isinstance(value, Mapping):
        if isinstance(value.node, cst.DictComp):
            return ev.values(value.node.key, value.frame)
        return tuple(each for each in ev.element(value) if isinstance(each, Const)) or (UNKNOWN,)
    source: cst.BaseExpression | None = None
    if isinstance(value, CallResult) and value.library == "method.keys":
        source = value.call.func.value if value.call and isinstance(value.call.func, cst.Attribute) else None
    elif isinstance(value, Sequence) and value.items is None:
        node = value.node
        if isinstance(node, cst.Call) and node.args:
            source = node.args[0].value
        elif isinstance(node, cst.Subscript):
            source = node.value
        elif isinstance(node, cst.List) and len(node.elements) == 1:
            source = node.elements[0].value  # `[*self.rows]`
        elif isinstance(node, cst.ListComp | cst.GeneratorExp) and isinstance(node.elt, cst.Name):
            plain = node.for_in.inner_for_in is None and isinstance(node.for_in.target, cst.Name)
            source = node.for_in.iter if plain and dotted(node.for_in.target) == node.elt.value else None
    frame = value.frame if isinstance(value, CallResult | Sequence) else None
    if source is None or frame is None or depth > KEPT_DEPTH:
        return ev.element(value)
    return merge(*(_inside(ev, each, depth + 1) for each in ev.values(source, frame)))
