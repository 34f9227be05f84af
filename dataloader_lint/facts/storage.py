"""What a Dataset keeps: which of its attributes are Python containers that grow with the data, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from dataloader_lint.facts import classes, members
from dataloader_lint.facts.classes import AttributeBinding, attribute_bindings
from dataloader_lint.facts.entries import has_entry_for_each, has_files_of_each, is_numbered_by_samples
from dataloader_lint.facts.forms import Form, form_of, has_list, is_of_pairs, is_parsed, kind_of_filled
from dataloader_lint.facts.growth import (
    adds_files,
    fills_fields,
    gathers,
    grown_as_local,
    grown_under_a_key,
    grows_in,
    grows_later,
)
from dataloader_lint.facts.library import DICT_MAKERS
from dataloader_lint.facts.module import last_name
from dataloader_lint.facts.names import Kind, dotted
from dataloader_lint.facts.numbered import is_numbered_by_labels
from dataloader_lint.facts.parsed_files import is_asked_by_name, is_asked_by_place
from dataloader_lint.facts.parts import holds_parts
from dataloader_lint.facts.picked import holds_samples
from dataloader_lint.facts.rebinding import is_object, lost_bindings, replaces, surely_replaces
from dataloader_lint.facts.shared_elements import shares_elements
from dataloader_lint.facts.told_apart import as_read, is_told_apart
from dataloader_lint.facts.tree import Node, Scope
from dataloader_lint.facts.unreached import is_reached_in_workers
from dataloader_lint.facts.uses import Level, Use
from dataloader_lint.facts.values import (
    UNKNOWN,
    Const,
    Element,
    Evaluator,
    Made,
    Mapping,
    Sequence,
    Typed,
    Value,
    Values,
    merge,
)
from dataloader_lint.facts.wrapped import is_wrapped

if TYPE_CHECKING:
    from dataloader_lint.facts.datasets import Dataset


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """An attribute of a Dataset that holds a Python container, at the first binding that shows it.

    `grows` is True where code adds to it for each of many things, or where what makes it depends on the data.
    """

    name: str
    form: Form
    binding: AttributeBinding
    value: Value
    elements: Values
    grows: bool


@dataclass(frozen=True, slots=True, eq=False)
class SampleStorage:
    """A Python container of a Dataset that grows with the data and that workers read for every sample."""

    container: Container
    use: Use
    dataset: Dataset

    @property
    def name(self) -> str:
        return self.container.name

    @property
    def owner(self) -> str:
        """The name of the class that binds it."""
        klass = self.container.binding.method
        while not isinstance(klass.node, cst.ClassDef):
            assert klass.parent is not None
            klass = klass.parent
        return klass.node.name.value

    @property
    def node(self) -> Node:
        """The statement that binds it, or its place among several that one statement binds."""
        return self.container.binding.target or self.container.binding.node

    @property
    def reading(self) -> str:
        """What workers do with it, to follow "that workers"."""
        if self.use.indexed is Level.INDEX or self.use.indexed is Level.KEY:
            return "index for every sample"
        if self.use.is_gone_through:
            return "go through, sample by sample"
        if self.use.is_drawn:
            return "pick from for every sample"
        if self.use.queried is Level.NONE and self.use.indexed is Level.NONE:
            return "get whole where they are spawned"  # it is as long as the Dataset
        return "read for every sample"

    @property
    def kind(self) -> str:
        """What the container is called: `dict`, `set`, `COCO`."""
        value = self.container.value
        if isinstance(value, Made) and value.library and not is_parsed(value):
            return f"`{value.library.rpartition('.')[2]}`"
        return value.kind if isinstance(value, Sequence) else "dict"

    @property
    def holds_files(self) -> bool:
        """Whether its elements are the arrays that whole files hold."""
        return adds_files(self.dataset, self.name, self.container.binding)

    @property
    def element_kind(self) -> str:
        """The kind of all its elements where it is known: `str`, `int`, `float`, `bool`, `tensor`, ...; else empty."""
        kinds = {_kind(value) for value in self.container.elements}
        return kinds.pop() if len(kinds) == 1 else ""


def _kind(value: Value) -> str:
    if isinstance(value, Const):
        return type(value.value).__name__
    return value.kind if isinstance(value, Typed) else ""


def sample_storage(dataset: Dataset, form: Form) -> Iterator[SampleStorage]:
    """The lists or dicts of a Dataset that are sample storage."""
    for container in containers_of(dataset):
        use, found = dataset.reads.of(container.name), container.form
        if not is_parsed(container.value):
            use = as_read(use, container.name, found)
        if found is Form.LIST and is_parsed(container.value):
            if use.is_named or _is_called(dataset, container.name, ("items", "keys", "values")):
                found = Form.DICT
            elif use.indexed is Level.KEY and not use.is_length and is_asked_by_name(dataset, use):
                found = Form.DICT
            elif _is_dict_elsewhere(dataset, container):
                found = Form.DICT
        if found is not form or _holds_little(container):
            continue
        if form is Form.LIST:
            # What a file holds may be a dict as well, which is asked for keys.
            grows = container.grows
            if use.indexed is Level.KEY and is_parsed(container.value):
                grows = is_asked_by_place(dataset, container.name, use)
            indexed = use.indexed if use.itself is use.indexed or _has_lists(dataset, container) else use.itself
            stored = indexed is Level.INDEX or use.is_length or (indexed is Level.KEY and grows)
            stored = stored or use.is_gone_through
            if not stored and use.itself is Level.SAMPLE:
                stored = has_files_of_each(dataset, container) or is_numbered_by_samples(dataset, container)
            stored = stored or (use.is_drawn and container.grows and holds_samples(dataset, container))
            if stored and use.itself is not Level.INDEX and not use.is_length:
                stored = not holds_parts(dataset, container, use.itself is not Level.NONE)
                stored = stored and not is_numbered_by_labels(dataset, container)
            stored = stored and not shares_elements(dataset, container) and not _is_two_things(dataset, container)
        else:
            # Most dicts of pairs number names.
            numbers = is_of_pairs(container.value) or _numbers_names(container, dataset)
            least = Level.INDEX if numbers or _is_written_out(container, dataset) else Level.KEY
            asked = use.indexed >= least or use.queried >= (Level.SAMPLE if _is_index(container) else least)
            if use.itself is Level.SAMPLE and not asked:
                asked = gathers(dataset, container.name, container.binding) or (
                    container.grows and has_entry_for_each(dataset, container)
                )
            if use.is_drawn and not asked and fills_fields(dataset, container.name, container.binding):
                asked = holds_samples(dataset, container)
            stored = use.is_length or ((asked or use.is_gone_through) and container.grows)
            stored = stored and not _is_record(container, dataset)
        if stored and (use.is_length or is_reached_in_workers(dataset, use)):
            yield SampleStorage(container, use, dataset)


def _has_lists(dataset: Dataset, container: Container) -> bool:
    """Whether the elements of a list are lists; of what else may be in it, arrays of all samples are most likely."""
    found = container.elements
    if any(kind_of_filled(each) is Form.LIST or form_of(dataset.ev, each) is Form.LIST for each in found):
        return True
    return fills_fields(dataset, container.name, container.binding)


def _is_two_things(dataset: Dataset, container: Container) -> bool:
    """Whether a part of a file of JSON has the name of what another class of the Dataset keeps.

    What is asked for the index tells nothing of it then: `self.labels` may be classes here, and cached masks in a base.
    """
    if not isinstance(container.value, Element):
        return False
    home = classes.class_of(container.binding.method)
    others = (each.scope for each in dataset.bases.classes if each.scope is not home)
    return any(container.name in attribute_bindings(each) for each in others)


def _is_dict_elsewhere(dataset: Dataset, container: Container) -> bool:
    """Whether the class or a base of it binds the attribute to an empty dict as well, or to one that is written out."""
    return any(
        kind_of_filled(value) is Form.DICT
        for klass in dataset.bases.classes
        for binding in attribute_bindings(klass.scope).get(container.name, ())
        for value in members.bound(dataset.ev, binding, dataset.self_value)
    )


def _is_of_array(dataset: Dataset, binding: AttributeBinding) -> bool:
    """Whether a part of an array is bound, `np.array(self.names)[order]`, which is no list, nor is an element of it."""
    node = binding.value
    if not isinstance(node, cst.Subscript) or binding.path:
        return False
    while isinstance(node, cst.Subscript):
        node = node.value
    found = dataset.ev.values(node, members.method_frame(dataset.ev, binding.method, dataset.self_value))
    return bool(found) and all(isinstance(value, Typed) and value.kind in ("array", "tensor") for value in found)


def _is_record(container: Container, dataset: Dataset) -> bool:
    """Whether a dict has one key for each field of the samples, none for a sample, and holds no lists in sight.

    Workers then ask what stands in it for the index, `self.columns["label"][index]`, never the dict itself.
    """
    use = dataset.reads.of(container.name)
    value = container.value
    if use.indexed is Level.NONE or use.itself is not Level.NONE or use.queried is not Level.NONE:
        return False
    if use.is_gone_through:
        return False
    if isinstance(value, Made) and value.library not in DICT_MAKERS:
        return False  # a file of which nobody knows what is in it
    if fills_fields(dataset, container.name, container.binding):
        return False
    if isinstance(value, Mapping) and has_list(dataset.ev, value):
        return False
    return not any(kind_of_filled(each) or form_of(dataset.ev, each) is Form.LIST for each in container.elements)


def _numbers_names(container: Container, dataset: Dataset) -> bool:
    """Whether a dict numbers the names of something, `{name: i for i, name in enumerate(names)}`, but the samples."""
    made = container.value.node if isinstance(container.value, Mapping) else None
    if not isinstance(made, cst.DictComp) or not isinstance(made.value, cst.Name):
        return False
    loop = made.for_in
    targets = loop.target.elements if isinstance(loop.target, cst.Tuple) else ()
    if not isinstance(loop.iter, cst.Call) or not loop.iter.args or last_name(loop.iter.func) != "enumerate":
        return False
    names = loop.iter.args[0].value
    if isinstance(names, cst.Attribute) and dataset.reads.of(names.attr.value).is_length:
        return False
    return bool(targets) and dotted(targets[0].value) == made.value.value


def _is_written_out(container: Container, dataset: Dataset) -> bool:
    """Whether a dict is written out and nothing is added to it, so that a list in it is all that may be long."""
    if not isinstance(container.value, Mapping) or not isinstance(container.value.node, cst.Dict):
        return False
    return not grows_in(dataset, container.name) and not grown_as_local(dataset.ev, container.binding)


def _is_index(container: Container) -> bool:
    """Whether it is a library's index over all annotations of a data set."""
    return isinstance(container.value, Made) and container.value.library.rpartition(".")[2] in ("COCO", "LVIS")


def _holds_little(container: Container) -> bool:
    """Elements that every process shares anyway: None, booleans, integers below 257, one string again and again."""
    found = container.elements
    return bool(found) and all(_is_tiny(value) for value in found)


def _is_tiny(value: Value) -> bool:
    if isinstance(value, Typed):
        return value.kind == "bool"
    if not isinstance(value, Const):
        return False
    return value.value is None or isinstance(value.value, bool) or (isinstance(value.value, int) and value.value < 257)


def containers_of(dataset: Dataset) -> Iterator[Container]:
    """The lists and dicts that a Dataset keeps; an attribute that can be either counts as both."""
    for name, bindings in dataset.bound().items():
        yield from _containers(dataset, name, bindings)


def _containers(dataset: Dataset, name: str, bindings: list[AttributeBinding]) -> list[Container]:
    """The containers that an attribute can hold, each at the first binding that shows it."""
    ev = dataset.ev
    growth = grows_in(dataset, name)
    shown: dict[Form, Container] = {}
    replacing: list[AttributeBinding] = []
    first: dict[Form, AttributeBinding] = {}  # where it is first seen to be a container at all, if still an empty one
    lost = lost_bindings(bindings)
    for binding in bindings:
        if binding.kind is Kind.AUGMENTED or binding in lost:
            continue
        values = members.bound(ev, binding, dataset.self_value)
        if is_wrapped(dataset, binding, values):
            continue
        for value in values:
            form = Form.ARRAY if _is_of_array(dataset, binding) else form_of(ev, value)
            if form is Form.SLOTS and _is_added_to(ev, values):
                continue
            kind = kind_of_filled(value)
            if kind is not None:
                first.setdefault(kind, binding)
            if form in (Form.SMALL, Form.OTHER) and kind is not None:
                if growth or grown_as_local(ev, binding) or grown_under_a_key(ev, value):
                    form = kind
                elif isinstance(value, Sequence) and not value.items and grows_later(dataset, name):
                    form = kind
            if form in (Form.LIST, Form.DICT) and form not in shown and not is_told_apart(binding, form):
                grown = bool(growth) or grown_as_local(ev, binding) or not isinstance(value, Typed)
                elements = _elements(ev, value, growth, dataset)
                shown[form] = Container(name, form, first.get(form, binding), value, elements, grown)
            elif form in (Form.ARRAY, Form.SLOTS) or is_object(ev, value, values):
                replacing.append(binding)
                shown = {each: found for each, found in shown.items() if not replaces(ev, binding, found.binding)}
                first = {each: found for each, found in first.items() if not replaces(ev, binding, found)}
    found = [  # the bindings of a class come before those of its bases
        each
        for each in shown.values()
        if not any(one.method is not each.binding.method and replaces(ev, one, each.binding) for one in replacing)
    ]
    if len(found) > 1 and found[0].binding is found[1].binding:
        found = found[:1]  # one binding, of which nobody can say more
    # Emptied: construction has made something better of what was in it.
    if _is_called(dataset, name, ("clear",)):
        return []
    return [_as_it_stays(dataset, each, bindings) for each in found]


def _is_added_to(ev: Evaluator, values: Values) -> bool:
    """Whether one name stands for a list that starts empty and gets more: `labels += [0] * n` makes no slots of it."""
    is_empty = any(isinstance(value, Sequence) and value.items == () for value in values)
    return is_empty and any(form_of(ev, value) is Form.LIST for value in values)


def _as_it_stays(dataset: Dataset, container: Container, bindings: list[AttributeBinding]) -> Container:
    """A container with the elements that it has after what construction surely makes of it: `self.x = make(self.x)`."""
    last = next((each for each in reversed(bindings) if surely_replaces(each, container.binding)), None)
    if last is None or _keeps_elements(last):
        return container
    ev = dataset.ev
    left = [
        _inside(ev, value)
        for value in members.bound(ev, last, dataset.self_value)
        if form_of(ev, value) is container.form
    ]
    return replace(container, elements=merge(*left) or (UNKNOWN,))


def _keeps_elements(binding: AttributeBinding) -> bool:
    """Whether the elements are those that were there before: `self.x = sorted(self.x)`, `self.x = self.x[:9]`."""
    node = binding.value
    while True:
        if isinstance(node, cst.Call) and node.args and dotted(node.func) in _REORDERING:
            node = node.args[0].value
        elif isinstance(node, cst.Subscript) and isinstance(node.slice[0].slice, cst.Slice):
            node = node.value
        else:
            return isinstance(node, cst.Attribute) and node.attr.value == binding.name


_REORDERING = frozenset({"list", "reversed", "set", "sorted", "tuple"})


def _is_called(dataset: Dataset, name: str, methods: tuple[str, ...]) -> bool:
    """Whether construction calls one of some methods of what an attribute holds."""
    return any(
        isinstance(call.func, cst.Attribute)
        and isinstance(call.func.value, cst.Attribute)
        and call.func.value.attr.value == name
        for scope in dataset.construction
        for call in scope.own(cst.Call)
        if last_name(call.func) in methods
    )


def _elements(ev: Evaluator, value: Value, growth: list[cst.BaseExpression], dataset: Dataset) -> Values:
    """What the container holds, as far as it is known; what is appended counts too."""
    found: list[Values] = [_inside(ev, value)] if not (isinstance(value, Sequence) and value.items == ()) else []
    for added in growth:
        scope = _scope_of(added, dataset)
        if scope is not None:
            found.append(ev.values(added, members.method_frame(ev, scope, dataset.self_value)))
    return merge(*found) or (UNKNOWN,)


def _inside(ev: Evaluator, value: Value, depth: int = 0) -> Values:
    """What running over a value gives, where the keys of a dict are what its maker writes: mostly strings is no word.

    `list(self.rows.keys())`, `sorted(self.rows)`, `[key for key in self.rows]` are seen through.
    """
    if isinstance(value, Mapping):
        if isinstance(value.node, cst.DictComp):
            return ev.values(value.node.key, value.frame)
        return tuple(each for each in ev.element(value) if isinstance(each, Const)) or (UNKNOWN,)
    source: cst.BaseExpression | None = None
    if isinstance(value, Made) and value.library == "method.keys":
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
    frame = value.frame if isinstance(value, Made | Sequence) else None
    if source is None or frame is None or depth > _MAX_DEPTH:
        return ev.element(value)
    return merge(*(_inside(ev, each, depth + 1) for each in ev.values(source, frame)))


_MAX_DEPTH = 6


def _scope_of(node: cst.CSTNode, dataset: Dataset) -> Scope | None:
    for scope in dataset.construction:
        tree = scope.module.tree
        if node in tree:
            inner = tree.scope_of(node)
            return inner.function or inner
    return None
