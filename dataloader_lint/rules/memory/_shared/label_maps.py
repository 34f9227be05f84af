"""Label maps (class to index, index to class): their size is bounded by the number of classes."""

from __future__ import annotations

import re
from dataclasses import replace

import libcst as cst

from dataloader_lint.pipeline.datasets.field_uses import AccessSite
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.rules.memory._shared.container_fields import Container
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.rules.memory._shared.mutations import added_to, adds_files
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.libraries.short_names import MAKING_ARRAYS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.file_names import names_file
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.origins import only_value, origins
from dataloader_lint.semantics.syntax.tree import Scope, Tree
from dataloader_lint.semantics.values.size_classes import Size, container_kind, size_of
from dataloader_lint.semantics.values.values import Mapping


def is_numbered_by_labels(dataset: StoringDataset, container: Container) -> bool:
    """True if workers index a list of plain values only by labels, which many samples share."""
    if any(container_kind(each) or size_of(dataset.ev, each) is Size.LIST for each in container.elements):
        return False
    if adds_files(dataset, container.name, container.binding):
        return False  # the arrays of whole files, from each of which many samples are cut
    if _is_of_distinct(container.binding.value, container.binding.method):
        return True  # `sorted(set(labels))`
    places = [place for place in dataset.reads.of(container.name).places if place.itself is not IndexDep.NONE]
    return bool(places) and all(_is_asked_for_label(dataset, place) for place in places)


def names_classes(name: str) -> bool:
    """True if an attribute is called like the names of classes, of which there are few."""
    return _CLASSES.fullmatch(name.lower()) is not None


_CLASSES = re.compile(r"_*(?:(?:class|cat|category|label)_?names|classes|categories|vocab(?:ulary)?|id(?:x_to_|2)\w+)")


def _is_of_distinct(node: cst.BaseExpression | None, scope: Scope) -> bool:
    """True if a list has each of many things once: the names of classes, whatever the samples have to say of them."""
    return any(
        isinstance(each, cst.SetComp) or (isinstance(each, cst.Call) and last_name(each.func) in _DISTINCT)
        for each in origins(node, scope.module.tree, _listed)
    )


def _listed(node: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
    name = last_name(node.func) if isinstance(node, cst.Call) else ""
    if not isinstance(node, cst.Call) or name not in ("list", "sorted", "tolist", "tuple"):
        return ()
    if name == "tolist":
        return (node.func.value,) if isinstance(node.func, cst.Attribute) else ()
    return tuple(arg.value for arg in node.args[:1])


_DISTINCT = frozenset({"frozenset", "set", "unique"})


def _is_asked_for_label(dataset: StoringDataset, place: AccessSite) -> bool:
    node = place.node.slice[0].slice if isinstance(place.node, cst.Subscript) else None
    index = node.value if isinstance(node, cst.Index) else None
    if isinstance(index, cst.Name):
        index = only_value(index, place.scope.module.tree)
    found = _result_of_method(dataset, index) if isinstance(index, cst.Call) else [index]
    return bool(found) and all(
        isinstance(each, cst.Subscript)
        and isinstance(each.value, cst.Attribute)
        and _repeats(dataset, each.value.attr.value)
        for each in found
    )


def _result_of_method(dataset: StoringDataset, call: cst.Call) -> list[cst.BaseExpression | None]:
    """What a method of the Dataset returns: `return self.labels[index]`."""
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    method = classes.find_method(dataset.ev, dataset.bases.classes, name)
    return [each.value for each in method.scope.own(cst.Return)] if method is not None else []


def _repeats(dataset: StoringDataset, name: str) -> bool:
    """True if the same few values are added to an attribute again and again."""
    bindings = map(_before_array, dataset.bound().get(name, ()))
    added = [each for binding in bindings for each in added_to(dataset, name, binding)]
    return bool(added) and all(_is_repeated(node, scope) for node, scope in added)


def _before_array(binding: AttributeBinding) -> AttributeBinding:
    """A binding as if it kept the list under a local name from which it makes an array: `np.array(labels)`."""
    node = binding.value
    while isinstance(node, cst.Call):
        name = last_name(node.func)
        if name in _OF_ARRAYS and isinstance(node.func, cst.Attribute):
            node = node.func.value
        elif name in MAKING_ARRAYS and node.args:
            node = node.args[0].value
        else:
            return binding
    return replace(binding, value=node) if isinstance(node, cst.Name) else binding


_OF_ARRAYS = frozenset({"astype", "int", "long", "to"})


def _is_repeated(node: cst.BaseExpression, scope: Scope) -> bool:
    """`[label] * n`, `[label for _ in files]`; a `label` of the loop around the one that adds it."""
    tree = scope.module.tree
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        return any(isinstance(side, cst.List) and len(side.elements) == 1 for side in (node.left, node.right))
    if isinstance(node, cst.ListComp) and isinstance(node.elt, cst.Name):
        return all(not isinstance(binding.node, cst.CompFor) for binding in resolve(node.elt, tree))
    if not isinstance(node, cst.Name):
        return False
    inner = next((above for above in tree.ancestors(node) if isinstance(above, cst.For)), None)
    bindings = resolve(node, tree)
    return bool(bindings) and all(each.kind is Kind.ELEMENT and each.node is not inner for each in bindings)


def numbers_names(dataset: StoringDataset, container: Container) -> bool:
    """True if a dict numbers the names of something, or names their numbers, but those of the samples.

    `{name: i for i, name in enumerate(names)}`, `{i: name for i, name in enumerate(names)}`, the same as a loop, or a
    number for each name that is not in it yet.
    """
    made = container.value.node if isinstance(container.value, Mapping) else None
    if isinstance(made, cst.Dict) and not made.elements:
        added = added_to(dataset, container.name, container.binding)
        return bool(added) and all(
            _is_next_number(node, scope) or _is_counter(dataset, node, scope) for node, scope in added
        )
    names = _numbered(made) if isinstance(made, cst.DictComp) else None
    return names is not None and not (isinstance(names, cst.Attribute) and dataset.reads.of(names.attr.value).is_length)


def _numbered(made: cst.DictComp) -> cst.BaseExpression | None:
    """The names that a comprehension iterates over, where it gives a number to each."""
    loop = made.for_in
    if not isinstance(loop.iter, cst.Call) or not loop.iter.args:
        return None
    counted = loop.iter.args[-1].value
    targets = loop.target.elements if isinstance(loop.target, cst.Tuple) else ()
    if last_name(loop.iter.func) == "range" and isinstance(loop.target, cst.Name):
        # `{names[i]: i for i in range(len(names))}`
        for named, numbering in ((made.key, made.value), (made.value, made.key)):
            if isinstance(named, cst.Subscript) and dotted(numbering) == loop.target.value:
                index = named.slice[0].slice
                if isinstance(index, cst.Index) and dotted(index.value) == loop.target.value:
                    return named.value
        return None
    if last_name(loop.iter.func) == "enumerate":
        number = 0
    elif last_name(loop.iter.func) == "zip" and isinstance(counted, cst.Call) and last_name(counted.func) == "range":
        number = len(loop.iter.args) - 1  # `zip(names, range(len(names)))`
    else:
        return None
    is_number = number < len(targets) and isinstance(made.value, cst.Name)
    written = (dotted(made.value), dotted(made.key))
    return loop.iter.args[0].value if is_number and dotted(targets[number].value) in written else None


def _stored_by_name(node: cst.BaseExpression, tree: Tree) -> tuple[cst.Subscript, cst.Name] | None:
    """`numbers[name]` and `name` of `numbers[name] = node`; None for other places, and for names of files."""
    statement = tree.parent(node)
    target = statement.targets[0].target if isinstance(statement, cst.Assign) else None
    index = target.slice[0].slice if isinstance(target, cst.Subscript) else None
    name = index.value if isinstance(index, cst.Index) else None
    if not isinstance(target, cst.Subscript) or not isinstance(name, cst.Name) or names_file(name.value):
        return None
    return target, name


def _is_counter(dataset: StoringDataset, node: cst.BaseExpression, scope: Scope) -> bool:
    """`for i, name in enumerate(names): numbers[name] = i`, but for names of files or those of the samples."""
    tree = scope.module.tree
    stored = _stored_by_name(node, tree)
    loop = next((above for above in tree.ancestors(node) if isinstance(above, cst.For)), None)
    if stored is None or loop is None or not isinstance(node, cst.Name):
        return False
    name = stored[1]
    if not isinstance(loop.iter, cst.Call) or last_name(loop.iter.func) != "enumerate" or not loop.iter.args:
        return False
    counted = loop.iter.args[0].value
    if isinstance(counted, cst.Attribute) and dataset.reads.of(counted.attr.value).is_length:
        return False
    targets = loop.target.elements if isinstance(loop.target, cst.Tuple) else ()
    return [dotted(each.value) for each in targets] == [node.value, name.value]


def _is_next_number(node: cst.BaseExpression, scope: Scope) -> bool:
    """`for name in names: if name not in numbers: numbers[name] = count`, or `numbers[name] = len(numbers)`.

    Each file has a name of its own, so names of files do not count.
    """
    tree = scope.module.tree
    stored = _stored_by_name(node, tree)
    if stored is None:
        return False
    target, name = stored
    if any(each.kind is not Kind.ELEMENT for each in resolve(name, tree)):
        return False
    if isinstance(node, cst.Call):
        if last_name(node.func) != "len" or not node.args or dotted(node.args[0].value) != dotted(target.value):
            return False
    elif not isinstance(node, cst.Name) or all(each.kind is not Kind.AUGMENTED for each in resolve(node, tree)):
        return False
    test = next((above.test for above in tree.ancestors(target) if isinstance(above, cst.If)), None)
    if not isinstance(test, cst.Comparison) or not isinstance(test.comparisons[0].operator, cst.NotIn):
        return False
    return dotted(test.left) == name.value and dotted(test.comparisons[0].comparator) == dotted(target.value)
