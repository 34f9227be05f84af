"""How workers index a container: by keys like a dict, or by positions like a list. It tells the type of parsed JSON."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.field_uses import FieldUse
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.rules.memory._shared.mutations import added_to
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.libraries.short_names import COPYING, MAKING_ARRAYS
from dataloader_lint.semantics.limits import KEY_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.file_names import field_of, names_file, path_behind
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.syntax.origins import origins
from dataloader_lint.semantics.syntax.tree import Node, Scope, function_scope
from dataloader_lint.semantics.values.known_values import is_whole_number
from dataloader_lint.semantics.values.values import Mapping, Opaque, Sequence, Value, merge


def keys_come_from_sample_list(dataset: StoringDataset, use: FieldUse) -> bool:
    """True if it is asked for what stands at the index in a list as long as the Dataset: `self.boxes[self.names[i]]`.

    Then it has a key for each sample, which what stands in another list beside that one need not be. The keys of JSON
    are strings: what is asked for a number is a list.
    """
    return any(not _holds_numbers(dataset, name) for name in _lists_of_keys(dataset, use))


def is_indexed_by_own_keys(dataset: StoringDataset, value: Value, use: FieldUse) -> bool:
    """True if it is indexed by elements of a list of its own keys: `self.keys = [*self.rows]`.

    For a dict these are its keys; for a list they would not be valid indices.
    """
    return any(_lists_what(dataset, name, value) for names in _lists_behind(use) for name in names)


def is_indexed_by_field(use: FieldUse) -> bool:
    """True if it is indexed by the id of the record at the index: `self.scans[ref["scan_id"]]`.

    Such an id is a key of a dict; a position in a list is seldom called one.
    """
    return any(_is_field(key, scope) for key, scope in _keys_of(use))


def asks_helper_for_samples(dataset: StoringDataset, attribute: str) -> bool:
    """True if a helper, or its attribute, is asked for the name of the sample: `self.store.look(self.ids[index])`.

    That is an element of a list as long as the Dataset which says that it holds ids, keys, names or files, or the id of
    the record at the index. Labels and words are asked for as well, but there are few of those.
    """
    helper, _, inner = attribute.partition(".")
    uses = [dataset.reads.of(name) for name in (helper, attribute)] if inner else []
    for key, scope in (each for use in uses for each in _keys_of(use)):
        names = _list_behind(key, scope)
        if _is_field(key, scope) or (names and all(map(_is_called_for_samples, names))):
            if all(dataset.reads.of(name).is_length for name in names):
                return True
    return False


def _is_called_for_samples(name: str) -> bool:
    word = name.strip("_").removesuffix("s")
    return word in _SAMPLE_NAMES or names_file(word)


_SAMPLE_NAMES = frozenset({"file", "filename", "fname", "id", "key", "name", "path", "uid"})


def is_indexed_by_text(use: FieldUse) -> bool:
    """True if it is indexed by a text built for the sample: a file name, `str(key)`, an f-string."""
    return any(_is_text(key, scope) for key, scope in _keys_of(use))


def has_fields(use: FieldUse) -> bool:
    """True if an element is asked for a field: `self.rows[index]["text"]`, or under a name of its own."""
    return any(_is_asked_for_field(place.node, place.scope) for place in use.places)


def _is_asked_for_field(node: Node, scope: Scope) -> bool:
    tree = scope.module.tree
    above = tree.parent(node)
    if isinstance(above, cst.Subscript):
        return above.value is node and field_of(above) != ""
    if not isinstance(above, cst.Assign) or above.value is not node or len(above.targets) != 1:
        return False
    target = above.targets[0].target
    uses = tree.named(scope.node, target.value) if isinstance(target, cst.Name) else ()
    return any(
        isinstance(outer := tree.parent(use), cst.Subscript)
        and outer.value is use
        and field_of(outer) != ""
        and [each.node for each in resolve(use, tree)] == [above]
        for use in uses
    )


def is_list_inside(use: FieldUse) -> bool:
    """True if the index is used on a list inside a dict, never on the dict: `self.info["images"][i]`."""
    if not use.is_named or use.indexed is not IndexDep.INDEX or not (use.itself is use.queried is IndexDep.NONE):
        return False
    keys = [(_index_of(place.node), place.scope) for place in use.places]
    return not any(key is not None and _is_text(key, scope) for key, scope in keys)  # `self.info["images"][str(i)]`


def _index_of(node: cst.BaseExpression) -> cst.BaseExpression | None:
    part = node.slice[0].slice if isinstance(node, cst.Subscript) else None
    return part.value if isinstance(part, cst.Index) else None


def _keys_of(use: FieldUse) -> Iterator[tuple[cst.BaseExpression, Scope]]:
    """What it is asked for, with the function that asks: `key` in `self.x[key]`, `self.x.get(key)`, `key in self.x`."""
    for place in use.places:
        node = place.node
        if max(place.itself, place.queried) < IndexDep.KEY:
            continue
        key = _index_of(node)
        if key is not None:
            yield key, place.scope
        elif isinstance(node, cst.Call) and node.args:
            yield node.args[0].value, place.scope
        elif isinstance(node, cst.Comparison):
            yield node.left, place.scope


def _is_field(node: cst.BaseExpression, scope: Scope, depth: int = 0) -> bool:
    if isinstance(node, cst.Name):
        if depth > KEY_DEPTH:
            return False
        return any(
            names_file(each.name) if each.path else each.value is not None and _is_field(each.value, scope, depth + 1)
            for each in resolve(node, scope.module.tree)
            if each.kind is Kind.VALUE
        )
    if isinstance(node, cst.Attribute):
        return names_file(node.attr.value)  # of a record: what the index leads to is no attribute of the Dataset
    return isinstance(node, cst.Subscript) and names_file(field_of(node))


def _is_text(node: cst.BaseExpression, scope: Scope) -> bool:
    return any(
        isinstance(each, cst.FormattedString)
        or path_behind(each) is not None
        or (isinstance(each, cst.Call) and last_name(each.func) in _MAKING_TEXTS)
        for each in origins(node, scope.module.tree)
    )


_MAKING_TEXTS = frozenset({"basename", "decode", "format", "fspath", "hexdigest", "join", "lower", "str", "zfill"})


def is_keyed_by_samples(dataset: StoringDataset, value: Value, use: FieldUse) -> bool:
    """True if the keys of the pairs of a dict come from a list that is as long as the Dataset.

    `dict(zip(self.ids, paths))`, `dict((path.stem, i) for i, path in enumerate(self.paths))`.
    """
    call = value.node if isinstance(value, Mapping) else None
    pairs = call.args[0].value if isinstance(call, cst.Call) and call.args else None
    if isinstance(pairs, cst.Call) and last_name(pairs.func) == "zip" and pairs.args:
        keys = _source(pairs.args[0].value)
    elif isinstance(pairs, cst.GeneratorExp | cst.ListComp):
        keys = _source(pairs)
    else:
        return False
    if isinstance(keys, cst.Attribute) and dataset.reads.of(keys.attr.value).is_length:
        return True
    tree = value.frame.scope.module.tree if isinstance(value, Mapping) else dataset.klass.scope.module.tree
    return any(
        last_name(keys) == name
        or any(
            each.value is not None
            and each.method.module.tree is tree
            and tree.spelling(_source(each.value)) == tree.spelling(keys)
            for each in dataset.bound()[name]
        )
        for name in _lists_of_keys(dataset, use)
        if name in dataset.bound()
    )


def _source(node: cst.BaseExpression) -> cst.BaseExpression:
    """The list to whose elements those of an expression correspond: `self.paths` for `[path.stem for path in ...]`."""
    while True:
        if isinstance(node, cst.GeneratorExp | cst.ListComp):
            if node.for_in.inner_for_in is not None:
                return node
            node = node.for_in.iter
        elif isinstance(node, cst.Attribute) and node.attr.value == "values":
            node = node.value
        elif isinstance(node, cst.Call) and node.args and last_name(node.func) in _OF_AS_MANY:
            node = node.args[1 if last_name(node.func) == "map" and len(node.args) > 1 else 0].value
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and last_name(node.func) in COPYING:
            node = node.func.value
        else:
            return node


_OF_AS_MANY = MAKING_ARRAYS | {"enumerate", "list", "map", "sorted", "tqdm", "tuple", "zip"}


def is_indexed_by_position(dataset: StoringDataset, name: str, use: FieldUse) -> bool:
    """True if it is indexed by positions from another list: `self.rows[self.chosen[i]]`."""
    return any(_holds_places(dataset, each, name) for each in _lists_of_keys(dataset, use))


def _lists_of_keys(dataset: StoringDataset, use: FieldUse) -> Iterator[str]:
    """The attributes as long as the Dataset of which one element is what the file is asked for."""
    for names in _lists_behind(use):
        if all(dataset.reads.of(name).is_length for name in names):
            yield from names


def _lists_behind(use: FieldUse) -> Iterator[list[str]]:
    """For each place that asks the file for something, the attributes of which one element is that."""
    for place in use.places:
        key = _index_of(place.node)
        if key is not None:
            yield _list_behind(key, place.scope)


def _list_behind(node: cst.BaseExpression, scope: Scope) -> list[str]:
    behind = [each.value if isinstance(each, cst.Subscript) else None for each in origins(node, scope.module.tree)]
    names = [each.attr.value for each in behind if isinstance(each, cst.Attribute)]
    return names if len(names) == len(behind) else []


def _lists_what(dataset: StoringDataset, name: str, value: Value) -> bool:
    """True if an attribute is bound to a list of what running over a value gives: `list(rows)`, `[*rows]`."""
    ev = dataset.ev
    for binding in dataset.bound().get(name, ()):
        frame = attributes.method_frame(ev, binding.method, dataset.self_value)
        source = _listed(binding.value) if not binding.path else None
        if source is not None and value in ev.values(source, frame):
            return True
    return False


def _listed(node: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """What an expression makes a list of, element by element."""
    if isinstance(node, cst.List) and len(node.elements) == 1:
        return node.elements[0].value if isinstance(node.elements[0], cst.StarredElement) else None
    if not isinstance(node, cst.Call) or not node.args or last_name(node.func) not in ("list", "sorted", "tuple"):
        return None
    source = node.args[0].value
    return _listed(source) or source


def _holds_numbers(dataset: StoringDataset, name: str) -> bool:
    """True if any element of a list, array or tensor that a Dataset keeps is known to be a whole number."""
    ev = dataset.ev
    for binding in dataset.bound().get(name, ()):
        found = attributes.bound(ev, binding, dataset.self_value)
        if any(isinstance(value, Opaque) and value.kind == "tensor" for value in found):
            return True  # of nothing else
        call = binding.value
        if isinstance(call, cst.Call) and call.args and last_name(call.func) in ("array", "asarray"):
            frame = attributes.method_frame(ev, binding.method, dataset.self_value)
            found = merge(found, ev.values(call.args[0].value, frame))
        for value in found:
            if isinstance(value, Sequence) and any(is_whole_number(each) for each in ev.element(value)):
                return True
        for added, scope in added_to(dataset, name, binding):
            frame = attributes.method_frame(ev, function_scope(scope), dataset.self_value)
            if any(is_whole_number(each) for each in ev.values(added, frame)):
                return True
    return False


def _holds_places(dataset: StoringDataset, name: str, of: str) -> bool:
    """True if what a list gets are numbers that count another attribute's elements: `enumerate(self.rows)`."""
    return any(
        _counts(added, scope, of)
        for binding in dataset.bound().get(name, ())
        for added, scope in added_to(dataset, name, binding)
    )


def _counts(node: cst.BaseExpression, scope: Scope, of: str) -> bool:
    for binding in resolve(node, scope.module.tree) if isinstance(node, cst.Name) else ():
        call = binding.value
        if binding.kind is Kind.ELEMENT and binding.path[:1] == (0,) and isinstance(call, cst.Call):
            counted = call.args[0].value if call.args and last_name(call.func) == "enumerate" else None
            if isinstance(counted, cst.Attribute) and counted.attr.value == of:
                return True
    return False
