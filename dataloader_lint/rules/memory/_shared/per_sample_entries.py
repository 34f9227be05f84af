"""Dicts keyed by file or record that workers look up by a field of the sample.

`name, part = self.index[i]`, `self.files[name]`: a part of the sample may be its class, and dicts that number or name
classes do not grow with the data. What holds the files themselves, or is what the index was made from, does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.field_uses import FieldUse
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.rules.memory._shared.container_fields import Container
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.rules.memory._shared.mutations import added_to, filling, is_it
from dataloader_lint.semantics.libraries.short_names import GLOBBING, YIELDING_ELEMENTS
from dataloader_lint.semantics.limits import ENTRY_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import Node, Scope, function_scope
from dataloader_lint.semantics.values.known_values import is_whole_number
from dataloader_lint.semantics.values.size_classes import Size, is_parsed, size_of
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Evaluator,
    ItemOf,
    Mapping,
    Opaque,
    Sequence,
    Unknown,
    Value,
)

_SAME_FILES = YIELDING_ELEMENTS | {"map"}
# A pattern that only files meet: it ends with a suffix.
_FOR_FILES = re.compile(r"""\.[\w*?\[\]]+["']*$""")


def has_entry_for_each(dataset: StoringDataset, container: Container) -> bool:
    """True if a dict has an entry for each file or record, as far as the constructor shows it."""
    made = container.value.node if isinstance(container.value, Mapping | Sequence) else None
    if isinstance(
        made, cst.DictComp | cst.SetComp
    ):  # `{image["id"]: image for image in self.images}`, of as many as there are
        return any(_is_samples(dataset, each) for each in _iterated(made.for_in.iter))
    places = list(filling(dataset, container.name, container.binding))
    has_arrays = any(_hands_out_samples(dataset.ev, each) for each in container.elements)
    if any(_is_all_in_index(dataset, *place, has_arrays) for place in places):
        return True
    stores = [each for place in places for each in _stores(*place)]
    if any(_is_of_file(assign, key, scope) or _holds_files(assign.value, scope) for assign, key, scope in stores):
        return True
    records = bool(stores) and all(_is_record(dataset.ev, assign, scope) for assign, _, scope in stores)
    return records and any(_makes_index(dataset, *place) for place in places)


def has_entry_for_each_pair(dataset: StoringDataset, container: Container, use: FieldUse) -> bool:
    """True if a dict is filled in a loop over the samples, under several parts of each, and asked for as many.

    `for head, relation, tail in triples: self.tails[head, relation] = tail`: there are few classes, and about as many
    pairs as samples.
    """
    if not any(isinstance(place.node, cst.Subscript) and _is_of_several(place.node) for place in use.places):
        return False
    places = filling(dataset, container.name, container.binding)
    return any(
        _is_of_several(target.target)
        and isinstance(loop := _loop_around(assign, scope), cst.For)
        and _is_over_samples(dataset, container, loop.iter)
        for scope, own, name in places
        for assign in scope.own(cst.Assign)
        for target in assign.targets
        if isinstance(target.target, cst.Subscript) and _is_itself(target.target.value, own, name)
    )


def _is_of_several(node: cst.BaseExpression) -> bool:
    """True if a subscript asks for several things together: `self.count[(head, relation)]`."""
    if not isinstance(node, cst.Subscript):
        return False
    parts = [each.slice.value for each in node.slice if isinstance(each.slice, cst.Index)]
    if len(parts) == 1 and isinstance(parts[0], cst.Tuple):
        parts = [element.value for element in parts[0].elements]
    return sum(isinstance(part, cst.Name | cst.Attribute | cst.Subscript) for part in parts) > 1


def _loop_around(node: Node, scope: Scope) -> Node | None:
    return next((above for above in scope.module.tree.ancestors(node) if isinstance(above, cst.For | cst.While)), None)


def _is_over_samples(dataset: StoringDataset, container: Container, node: cst.BaseExpression) -> bool:
    """True if a loop iterates over what the index is looked up in, be it passed to the function with the loop."""
    frame = container.value.frame if isinstance(container.value, Mapping) else None
    given = frame.args.get(node.value) if isinstance(node, cst.Name) and frame is not None and frame.args else None
    if given is not None and given.node is not None:
        node = given.node
    if not isinstance(node, cst.Name):
        return _is_samples(dataset, node)
    return any(
        isinstance(binding.value, cst.Name)
        and binding.value.value == node.value
        and _is_dynamic(dataset.reads.of(name))
        for name, bindings in dataset.bound().items()
        for binding in bindings
        if not binding.path
    )


def has_files_of_each(dataset: StoringDataset, container: Container) -> bool:
    """True if each element of a list is the list of a folder's files."""
    value = container.value
    if isinstance(value, Sequence) and isinstance(value.node, cst.ListComp):
        return _holds_files(value.node.elt, value.frame.scope)
    added = added_to(dataset, container.name, container.binding)
    return bool(added) and all(_holds_files(each, scope) for each, scope in added)


def is_numbered_by_samples(dataset: StoringDataset, container: Container) -> bool:
    """True if the samples are tuples of numbers, one of which says to which element of a list they belong.

    `for number, video in enumerate(self.videos): ... self.clips.append((number, start))`. All that they say of a file
    is then in the list; a sample that names its file itself may well number a class.
    """
    if not _holds_texts(container):
        return False
    for scope, own, name in filling(dataset, container.name, container.binding):
        for loop in scope.own(cst.For):
            counter = counter_of(loop, own, name)
            for sample in _samples_added(dataset, loop, scope) if counter else ():
                if any(dotted(part.value) == counter for part in sample.elements):
                    if _is_of_numbers(dataset.ev, sample, scope):
                        return True
    return False


def _holds_texts(container: Container) -> bool:
    """True if the elements of a list are texts, lists, dicts, or sorted or read: no Datasets or arrays.

    Of the elements of a list that a call gives often nothing more is known.
    """
    if is_parsed(container.value):
        return True
    made = container.value.node if isinstance(container.value, Sequence) else None
    is_read = isinstance(made, cst.Call) and last_name(made.func) not in ("list", "tuple")
    return bool(container.elements) and all(
        isinstance(each, Sequence | Mapping)
        or (isinstance(each, Opaque) and each.kind in ("str", "path"))
        or (isinstance(each, Unknown) and is_read)
        for each in container.elements
    )


def counter_of(loop: cst.For, own: str, name: str) -> str:
    """The name that counts the elements of an attribute in a loop over `enumerate(self.x)` or `range(len(self.x))`."""
    around: set[str] = set()
    node: cst.BaseExpression = loop.iter
    target: cst.BaseExpression = loop.target
    while isinstance(node, cst.Call) and node.args and last_name(node.func) in _COUNTING:
        around.add(last_name(node.func))
        node = node.args[-1 if last_name(node.func) == "range" else 0].value
    if not _is_itself(node, own, name):
        return ""
    if "enumerate" in around and isinstance(target, cst.Tuple):
        target = target.elements[0].value
    elif "len" not in around:
        return ""
    return dotted(target)


_COUNTING = frozenset({"enumerate", "len", "range", "tqdm", "trange"})


def _samples_added(dataset: StoringDataset, loop: cst.For, scope: Scope) -> Iterator[cst.Tuple | cst.List]:
    """The tuples that a loop adds to what the index is looked up in."""
    tree = scope.module.tree
    for call in tree.find(loop.body, cst.Call):
        if isinstance(call.func, cst.Attribute) and len(call.args) == 1 and _is_samples(dataset, call.func.value):
            if call.func.attr.value == "append" and isinstance(call.args[0].value, cst.Tuple | cst.List):
                yield call.args[0].value
            elif call.func.attr.value == "extend":
                yield from _of_each(call.args[0].value, scope)
    for augmented in tree.find(loop.body, cst.AugAssign):
        if _is_samples(dataset, augmented.target):
            yield from _of_each(augmented.value, scope)
    for assign in tree.find(loop.body, cst.Assign):
        target = assign.targets[0].target
        if isinstance(target, cst.Subscript) and _is_samples(dataset, target.value):
            if isinstance(assign.value, cst.Tuple | cst.List):
                yield assign.value


def _of_each(added: cst.BaseExpression | None, scope: Scope) -> Iterator[cst.Tuple | cst.List]:
    """The tuple of each thing in `[(number, part) for part in range(parts)]`, also under a name of its own."""
    if isinstance(added, cst.Name):
        bindings = resolve(added, scope.module.tree)
        added = bindings[0].value if len(bindings) == 1 and bindings[0].kind is Kind.VALUE else None
    if isinstance(added, cst.ListComp | cst.GeneratorExp) and isinstance(added.elt, cst.Tuple | cst.List):
        yield added.elt


def _is_of_numbers(ev: Evaluator, node: cst.Tuple | cst.List, scope: Scope) -> bool:
    frame = ev.frame_of(function_scope(scope))
    found = [ev.values(element.value, frame) for element in node.elements]
    return len(found) > 1 and all(each and all(map(is_whole_number, each)) for each in found)


def _is_itself(node: cst.BaseExpression, own: str, name: str) -> bool:
    return not isinstance(node, cst.Subscript) and is_it(node, own, name)


def _stores(scope: Scope, own: str, name: str) -> Iterator[tuple[cst.Assign, cst.BaseExpression, Scope]]:
    """`self.files[key] = value`, with the key."""
    for assign in scope.own(cst.Assign):
        for target in assign.targets:
            node = target.target
            if isinstance(node, cst.Subscript) and _is_itself(node.value, own, name):
                if isinstance(node.slice[0].slice, cst.Index):
                    yield assign, node.slice[0].slice.value, scope


def _is_of_file(store: cst.Assign, key: cst.BaseExpression, scope: Scope) -> bool:
    """True if a store is made for each of many files, under a key that comes from the file."""
    tree = scope.module.tree
    for above in tree.ancestors(store):
        if above is scope.node:
            break
        if isinstance(above, cst.For) and _are_files(above.iter, scope) and _comes_from(key, above, scope):
            return True
    return False


def _are_files(node: cst.BaseExpression, scope: Scope, depth: int = 0) -> bool:
    """True if a loop iterates over files: those of `os.walk`, or of a pattern that no folder is expected to meet."""
    if depth > ENTRY_DEPTH:
        return False
    if isinstance(node, cst.Name):
        bindings = resolve(node, scope.module.tree)
        return bool(bindings) and all(
            (each.kind is Kind.ELEMENT and each.path == (2,) and _is_walk(each.value))
            or (
                each.kind is Kind.VALUE
                and not each.path
                and each.value is not None
                and _are_there(each.value, scope, depth)
            )
            for each in bindings
        )
    return _are_there(node, scope, depth)


def _are_there(node: cst.BaseExpression | None, scope: Scope, depth: int) -> bool:
    if not isinstance(node, cst.Call):
        return isinstance(node, cst.Name) and _are_files(node, scope, depth + 1)
    name = last_name(node.func)
    if name in _SAME_FILES and node.args:
        return _are_files(node.args[-1 if name == "map" else 0].value, scope, depth + 1)
    if name not in GLOBBING or not node.args:
        return False
    return _FOR_FILES.search(scope.module.tree.words(node.args[0].value)) is not None


def _is_walk(node: cst.BaseExpression | None) -> bool:
    while isinstance(node, cst.Call) and last_name(node.func) in _SAME_FILES and node.args:
        node = node.args[0].value
    return isinstance(node, cst.Call) and last_name(node.func) == "walk"


def _comes_from(node: cst.BaseExpression, loop: cst.For, scope: Scope, depth: int = 0) -> bool:
    """True if an expression is made from what a loop gives its names."""
    tree = scope.module.tree
    for name in tree.find(node, cst.Name):
        for binding in resolve(name, tree) if depth < ENTRY_DEPTH else ():
            if binding.node is loop:
                return True
            if binding.kind is Kind.VALUE and binding.value is not None and binding.scope is scope:
                if _comes_from(binding.value, loop, scope, depth + 1):
                    return True
    return False


def _holds_files(node: cst.BaseExpression | None, scope: Scope, seen: frozenset[int] = frozenset()) -> bool:
    """True if what is stored is the list of a folder's files, or some of them: `sorted(os.listdir(folder))[::2]`."""
    if isinstance(node, cst.Name):
        bindings = resolve(node, scope.module.tree)
        inside = seen | {id(each) for each in bindings}
        new = [each for each in bindings if id(each) not in seen]  # the others made what they were made from
        return bool(bindings) and all(
            each.kind is Kind.VALUE and not each.path and _holds_files(each.value, scope, inside) for each in new
        )
    if isinstance(node, cst.ListComp):
        return _holds_files(node.for_in.iter, scope, seen)
    if isinstance(node, cst.Subscript) and isinstance(node.slice[0].slice, cst.Slice):
        return _holds_files(node.value, scope, seen)
    if not isinstance(node, cst.Call):
        return False
    name = last_name(node.func)
    if name in _SAME_FILES and node.args:
        return _holds_files(node.args[0].value, scope, seen)
    return name in GLOBBING or name == "listdir"


def _is_record(ev: Evaluator, store: cst.Assign, scope: Scope) -> bool:
    found = ev.values(store.value, ev.frame_of(function_scope(scope)))
    return bool(found) and all(_is_of_parts(each) for each in found)


def _is_of_parts(value: Value) -> bool:
    """A list, a dict, or a record from a file of JSON, and no number or name."""
    return isinstance(value, Sequence | Mapping) or (isinstance(value, ItemOf) and is_parsed(value))


def _makes_index(dataset: StoringDataset, scope: Scope, own: str, name: str) -> bool:
    """True if what a loop over the dict adds for each key is asked for the index: `self.index.append((key, part))`."""
    tree = scope.module.tree
    for loop in scope.own(cst.For):
        if not any(_is_itself(each, own, name) for each in _iterated(loop.iter)):
            continue
        for call in tree.find(loop.body, cst.Call):
            if isinstance(call.func, cst.Attribute) and call.func.attr.value == "append" and call.args:
                kept = call.func.value
                if _is_samples(dataset, kept) and _comes_from(call.args[0].value, loop, scope):
                    return True
    return False


def _hands_out_samples(ev: Evaluator, value: Value) -> bool:
    """True if it is an array or an object that holds many samples itself, of which a dict has but a few."""
    return size_of(ev, value) is Size.ARRAY or (isinstance(value, CallResult) and isinstance(value.by, Class))


def _is_all_in_index(dataset: StoringDataset, scope: Scope, own: str, name: str, only_keys: bool) -> bool:
    """True if what is asked for the index has one entry for each thing in the dict, or for each part of one.

    `self.index = [(key, part) for key, parts in self.rows.items() for part in parts]`, where parts are worth counting.
    """
    for assign in scope.own(cst.Assign):
        made = assign.value
        if not isinstance(made, cst.ListComp) or not _is_samples(dataset, assign.targets[0].target):
            continue
        loop, inner = made.for_in, made.for_in.inner_for_in
        if any(_is_itself(each, own, name) for each in _iterated(loop.iter)):
            taken = {each.value for each in scope.module.tree.find(loop.target, cst.Name)}
            if inner is None:
                return True
            if not only_keys and inner.inner_for_in is None and _is_part(inner.iter, taken, own, name):
                return True
    return False


def _is_part(node: cst.BaseExpression, taken: set[str], own: str, name: str) -> bool:
    """True if it is what a loop over a dict takes from it, or looks up in it: no number made of that."""
    if isinstance(node, cst.Call) and last_name(node.func) in _SAME_FILES and node.args:
        return _is_part(node.args[0].value, taken, own, name)
    while isinstance(node, cst.Call | cst.Attribute):
        node = node.func if isinstance(node, cst.Call) else node.value
        if not isinstance(node, cst.Attribute | cst.Name | cst.Subscript):
            return False
    if isinstance(node, cst.Subscript):
        return is_it(node, own, name) or dotted(node.value) in taken
    return isinstance(node, cst.Name) and node.value in taken


def _is_samples(dataset: StoringDataset, node: cst.BaseExpression) -> bool:
    """True if it is what the index is looked up in: as long as the Dataset, or asked for the index itself."""
    return isinstance(node, cst.Attribute) and _is_dynamic(dataset.reads.of(node.attr.value))


def _is_dynamic(use: FieldUse) -> bool:
    return use.is_length or use.itself is IndexDep.INDEX


def _iterated(node: Node) -> Iterator[cst.BaseExpression]:
    """What a loop iterates over, seen through `sorted(...)`, `.keys()` and the like."""
    while isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in ("items", "keys") and not node.args:
            yield node.func.value
        if not node.args:
            return
        node = node.args[0].value
    if isinstance(node, cst.BaseExpression):
        yield node
