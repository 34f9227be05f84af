"""What a Dataset keeps: which of its attributes are Python containers that grow with the data, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.datasets.field_uses import FieldUse
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.pipeline.datasets.loaded_objects import is_loaded
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.rules.memory._shared.access_patterns import (
    asks_helper_for_samples,
    is_indexed_by_field,
    is_indexed_by_own_keys,
    is_indexed_by_position,
    is_indexed_by_text,
    is_keyed_by_samples,
    is_list_inside,
    keys_come_from_sample_list,
)
from dataloader_lint.rules.memory._shared.concatenation import holds_parts, is_loaded_array
from dataloader_lint.rules.memory._shared.container_fields import Container, containers_of, is_called
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.rules.memory._shared.element_sizes import COCO_INDEX, bytes_of, holds_ids
from dataloader_lint.rules.memory._shared.label_maps import is_numbered_by_labels, names_classes, numbers_names
from dataloader_lint.rules.memory._shared.mutations import (
    added_to,
    adds_files,
    appended_in,
    collects_from,
    fills_fields,
    grown_elsewhere,
)
from dataloader_lint.rules.memory._shared.per_sample_entries import has_entry_for_each
from dataloader_lint.rules.memory._shared.random_access import holds_opened_files, holds_samples
from dataloader_lint.rules.memory._shared.type_guards import reads_of_size
from dataloader_lint.rules.memory._shared.worker_reachability import is_reached_in_workers
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding, attribute_bindings
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.libraries.calls import KEYED, row
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import Node, Tree, function_scope
from dataloader_lint.semantics.values.size_classes import (
    Size,
    container_kind,
    has_list,
    is_dict_of_lists,
    is_of_pairs,
    is_parsed,
    size_of,
)
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    ItemOf,
    Mapping,
    Opaque,
    Sequence,
    Value,
    Values,
    merge,
)


@dataclass(frozen=True, slots=True, eq=False)
class SampleStorage:
    """A Python container of a Dataset that grows with the data and that workers read for every sample."""

    container: Container
    use: FieldUse
    dataset: StoringDataset

    @property
    def name(self) -> str:
        is_of_helper = self.container.binding.receiver is not None
        return self.container.name.rpartition(".")[2] if is_of_helper else self.container.name

    @property
    def owner(self) -> str:
        """The name of the class that binds it."""
        return self.container.binding.owner

    @property
    def binding(self) -> AttributeBinding:
        """The statement that shows it."""
        return self.container.binding

    @property
    def elements(self) -> Values:
        """What is in it, as far as it is known."""
        return self.container.elements

    @property
    def count(self) -> int | None:
        """How many elements it has if they are written out and nothing adds to them."""
        node = self.binding.value
        if self.container.grows or not isinstance(node, cst.Dict | cst.List | cst.Tuple):
            return None
        return len(node.elements)

    @property
    def bytes_each(self) -> int | None:
        """What one entry takes, the slot in the container included; None if that is not known.

        Of arrays and tensors only the objects count: forked workers share the numbers.
        """
        if _is_index(self.container):
            return COCO_INDEX
        if holds_ids(self.binding.value):
            return bytes_of(self.name, (Opaque("int"),), is_parsed=False)
        return bytes_of(self.name, self.elements, is_parsed(self.container.value))

    @property
    def node(self) -> Node:
        """The statement that binds it, or its place among several that one statement binds."""
        return self.container.binding.target or self.container.binding.node

    @property
    def reading(self) -> str:
        """How workers read it, to follow "a list of str"; empty if they only ask for its length."""
        if self.use.indexed >= IndexDep.PLACE:
            return "indexed per sample"
        if self.use.is_iterated:
            return "iterated over"
        if self.use.is_sampled:
            return "sampled at random"
        if self.use.queried is IndexDep.NONE and self.use.indexed is IndexDep.NONE:
            find = classes.find_method
            bases = self.dataset.bases.classes
            is_complete = any(find(self.dataset.ev, bases, name) for name in ("__getitem__", "__iter__"))
            return "" if is_complete else "read by subclasses"  # it is as long as the Dataset
        return "read per sample"

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where worker code reads it, and the loader whose workers do, as far as one is known."""
        return self.dataset.steps_to(self.use, self.container.binding)

    @property
    def kind(self) -> str:
        """What the container is called: `dict`, `set`, `COCO`."""
        value = self.container.value
        if isinstance(value, CallResult) and value.library and not is_parsed(value) and not is_loaded(value):
            return f"`{value.library.rpartition('.')[2]}`"
        return value.kind if isinstance(value, Sequence) else "dict"

    @property
    def is_index(self) -> bool:
        """True if it is a library's index over all annotations of a data set."""
        return _is_index(self.container)

    @property
    def is_dict_of_lists(self) -> bool:
        """True for a list for each of some names: `{"path": [], "label": []}`."""
        return is_dict_of_lists(self.container.value)

    @property
    def holds_files(self) -> bool:
        """True if its elements are the arrays that whole files hold."""
        return adds_files(self.dataset, self.container.name, self.container.binding)

    @property
    def element_kind(self) -> str:
        """The kind of all its elements where it is known: `str`, `int`, `float`, `bool`, `tensor`, ...; else empty."""
        kinds = {_kind(value) for value in self.container.elements}
        return kinds.pop() if len(kinds) == 1 else ""


def _kind(value: Value) -> str:
    if isinstance(value, Const):
        return type(value.value).__name__
    return value.kind if isinstance(value, Opaque) else ""


def sample_storage(dataset: StoringDataset, size: Size, tree: Tree) -> Iterator[SampleStorage]:
    """The lists or dicts of a Dataset that are sample storage; those that the tree binds among them."""
    grows_with_samples = _is_list_of_samples if size is Size.LIST else _is_dict_of_samples
    reported: set[str] = set()
    for container in containers_of(dataset, tree):
        use = dataset.reads.of(container.name)
        if not is_parsed(container.value):
            use = reads_of_size(use, container.name, container.size)
        if _size_as_read(dataset, container, use) is not size or container.name in reported or _holds_little(container):
            continue
        if _is_lookup_by_place(container) and use.itself is not IndexDep.INDEX and not use.is_length:
            is_asked_for_samples = size is Size.DICT and asks_helper_for_samples(dataset, container.name)
            opens_samples = use.is_sampled and holds_opened_files(dataset, container)
            if not container.grows or not (is_asked_for_samples or opens_samples):
                continue
        if _is_of_another_dataset(dataset, container):
            continue
        if grows_with_samples(dataset, container, use) and (use.is_length or is_reached_in_workers(dataset, use)):
            reported.add(container.name)
            yield SampleStorage(container, use, dataset)


def _is_of_another_dataset(dataset: StoringDataset, container: Container) -> bool:
    """True for `self.dataset.lines`, where what is kept as `dataset` is a Dataset and binds `lines`: it is reported."""
    kept, _, name = container.name.partition(".")
    return bool(name) and any(
        isinstance(value, CallResult)
        and isinstance(value.by, Class)
        and dataset.reach.workers.is_dataset(value.by)
        and any(name in attribute_bindings(each.scope) for each in dataset.ev.bases(value.by).classes)
        for binding in dataset.bound().get(kept, ())
        for value in attributes.bound(dataset.ev, binding, dataset.self_value)
    )


def _size_as_read(dataset: StoringDataset, container: Container, use: FieldUse) -> Size | None:
    """The size class of a container; what a file holds is a dict where it is asked for keys."""
    if container.size is not Size.LIST or not is_parsed(container.value) or is_list_inside(use):
        return container.size
    is_dict = (
        use.is_named
        or is_called(dataset, container.name, ("items", "keys", "values"))
        or is_indexed_by_field(use)
        or is_indexed_by_text(use)
        or (use.indexed is IndexDep.KEY and not use.is_length and keys_come_from_sample_list(dataset, use))
        or is_indexed_by_own_keys(dataset, container.value, use)
        or _is_dict_elsewhere(dataset, container)
    )
    return Size.DICT if is_dict else Size.LIST


def _is_list_of_samples(dataset: StoringDataset, container: Container, use: FieldUse) -> bool:
    """True if a list has an element for each sample, and they are objects of their own."""
    stored = _is_list_read_by_sample(dataset, container, use)
    if stored and use.itself is not IndexDep.INDEX and not use.is_length:
        stored = not holds_parts(dataset, container, use.itself is not IndexDep.NONE)
        stored = stored and not is_numbered_by_labels(dataset, container) and not names_classes(container.name)
    return stored and not _is_two_things(dataset, container)


def _is_list_read_by_sample(dataset: StoringDataset, container: Container, use: FieldUse) -> bool:
    """True if what workers read of a list depends on the sample, so that it may be as long as the Dataset."""
    # What a file holds may be a dict as well, which is asked for keys, or have the list inside.
    grows = container.grows
    if use.indexed is IndexDep.KEY and is_parsed(container.value):
        grows = is_indexed_by_position(dataset, container.name, use)
    indexed = use.indexed if use.itself is use.indexed or _has_lists(dataset, container) else use.itself
    if is_parsed(container.value) and is_list_inside(use):
        indexed = IndexDep.INDEX
    if indexed is IndexDep.INDEX or (indexed is IndexDep.KEY and grows) or use.is_length or use.is_iterated:
        return True
    if use.itself is IndexDep.PLACE and container.grows and _are_data(container):
        return True
    return use.is_sampled and container.grows and holds_samples(dataset, container)


def _is_dict_of_samples(dataset: StoringDataset, container: Container, use: FieldUse) -> bool:
    """True if a dict has an entry for each sample."""
    stored = use.is_length or (
        container.grows and (use.is_iterated or _is_dict_read_by_sample(dataset, container, use))
    )
    return stored and not _is_record(container, dataset)


def _is_dict_read_by_sample(dataset: StoringDataset, container: Container, use: FieldUse) -> bool:
    """True if workers ask a dict for what depends on the sample; most dicts of pairs number names."""
    numbers = numbers_names(dataset, container) or (
        is_of_pairs(container.value)
        and not _is_rearranged(container.value)
        and not is_keyed_by_samples(dataset, container.value, use)
    )
    least = IndexDep.INDEX if numbers or _is_written_out(container, dataset) else IndexDep.KEY
    if use.indexed >= least or use.queried >= (IndexDep.SAMPLE if _is_index(container) else least):
        return True
    if use.itself in _BY_PART or use.queried in _BY_PART:
        if collects_from(dataset, container.name, container.binding) or has_entry_for_each(dataset, container):
            return True
    return (
        use.is_sampled
        and fills_fields(dataset, container.name, container.binding)
        and holds_samples(dataset, container)
    )


_BY_PART = (IndexDep.SAMPLE, IndexDep.PLACE)


def _are_data(container: Container) -> bool:
    """True if all elements are plain data: no Datasets, of which there are few, nor numbers such as their lengths."""
    return bool(container.elements) and all(
        is_loaded_array(value)
        or isinstance(value, Mapping | Sequence)
        or (isinstance(value, Const | Opaque) and _kind(value) not in ("bool", "float", "int"))
        for value in container.elements
    )


def _is_lookup_by_place(container: Container) -> bool:
    """True for tables of a class body or a helper: mostly names, colors or vocabularies."""
    binding = container.binding
    if "." in container.name:
        return True
    is_empty = isinstance(binding.value, cst.List | cst.Dict) and not binding.value.elements
    return binding.method.is_class and binding.value is not None and not is_empty


def _is_rearranged(value: Value) -> bool:
    """True for a dict that is made of the pairs of another one: `dict(sorted(sizes.items()))`."""
    node = value.node if isinstance(value, Mapping) else None
    while isinstance(node, cst.Call) and node.args:
        node = node.args[-1 if last_name(node.func) == "filter" else 0].value
    return isinstance(node, cst.Call) and last_name(node.func) == "items"


def _has_lists(dataset: StoringDataset, container: Container) -> bool:
    """True if the elements of a list are lists; of what else may be in it, arrays of all samples are most likely."""
    found = merge(container.elements, dataset.ev.element(container.value))
    if any(container_kind(each) is Size.LIST or size_of(dataset.ev, each) is Size.LIST for each in found):
        return True
    return fills_fields(dataset, container.name, container.binding)


def _holds_little(container: Container) -> bool:
    """Elements that every process shares anyway: None, booleans, integers below 257, one string again and again."""
    found = container.elements
    return bool(found) and all(_is_tiny(value) for value in found)


def _is_tiny(value: Value) -> bool:
    if isinstance(value, Opaque):
        return value.kind == "bool"
    if not isinstance(value, Const):
        return False
    return value.value is None or isinstance(value.value, bool) or (isinstance(value.value, int) and value.value < 257)


def _is_two_things(dataset: StoringDataset, container: Container) -> bool:
    """True if another class of the hierarchy binds the attribute as well, so that index reads are ambiguous.

    `self.labels` may be classes here, and cached masks in a base.
    """
    if not isinstance(container.value, ItemOf):
        return False
    home = classes.class_of(container.binding.method)
    others = (each.scope for each in dataset.bases.classes if each.scope is not home)
    return any(container.name in attribute_bindings(each) for each in others)


def _is_dict_elsewhere(dataset: StoringDataset, container: Container) -> bool:
    """True if the class or a base of it binds the attribute to an empty dict as well, or to one that is written out."""
    return any(
        container_kind(value) is Size.DICT
        for klass in dataset.bases.classes
        for binding in attribute_bindings(klass.scope).get(container.name, ())
        for value in attributes.bound(dataset.ev, binding, dataset.self_value)
    )


def _is_record(container: Container, dataset: StoringDataset) -> bool:
    """True if a dict has one key for each field of the samples, none for a sample, and holds no visible lists.

    Workers then index its values, `self.columns["label"][index]`, never the dict itself.
    """
    use = dataset.reads.of(container.name)
    value = container.value
    if use.indexed is IndexDep.NONE or not (use.itself is use.queried is IndexDep.NONE) or use.is_iterated:
        return False
    if isinstance(value, CallResult) and row(value.library).gives not in KEYED:
        return False  # a file of which nobody knows what is in it
    if any(isinstance(place.node.value, cst.Name) for place in use.places if isinstance(place.node, cst.Subscript)):
        # `{key: column[index] for key, column in self.columns.items()}`: columns are arrays as often as lists.
        return not _is_appended_to(dataset, container)
    if fills_fields(dataset, container.name, container.binding):
        return False
    if isinstance(value, Mapping) and has_list(dataset.ev, value):
        return False
    return not any(container_kind(each) or size_of(dataset.ev, each) is Size.LIST for each in container.elements)


def _is_appended_to(dataset: StoringDataset, container: Container) -> bool:
    """True if the constructor itself adds to the lists of a dict one by one: `self.columns["text"].append(text)`."""
    return any(
        isinstance(scope.module.tree.parent(added), cst.Arg)
        for added, scope in added_to(dataset, container.name, container.binding)
        if any(function_scope(scope) is each for each in dataset.construction)
    )


def _is_written_out(container: Container, dataset: StoringDataset) -> bool:
    """True if a dict is written out and nothing is added to it, so that a list in it is all that may be long."""
    if not isinstance(container.value, Mapping) or not isinstance(container.value.node, cst.Dict):
        return False
    if any(isinstance(each, cst.StarredDictElement) for each in container.value.node.elements):
        return False  # `{**paths, "none": 0}`
    return not appended_in(dataset, container.name) and not grown_elsewhere(dataset, container.binding)


def _is_index(container: Container) -> bool:
    """True if it is a library's index over all annotations of a data set."""
    return isinstance(container.value, CallResult) and container.value.library.rpartition(".")[2] in ("COCO", "LVIS")
