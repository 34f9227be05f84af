"""What construction adds to the containers of a Dataset in loops over many elements."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind
from dataloader_lint.rules.memory._shared.aliases import other_names
from dataloader_lint.rules.memory._shared.constructed import objects_elsewhere
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.heap.repetition import runs_often
from dataloader_lint.semantics.heap.writes import (
    Place,
    Write,
    kept_under,
    names_of_objects,
    places_from,
    scopes_that_see,
    writes_at,
)
from dataloader_lint.semantics.syntax.additions import ADDING_METHODS, adding_assignments
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.origins import origins
from dataloader_lint.semantics.syntax.tree import Node, Scope, function_scope
from dataloader_lint.semantics.values.size_classes import Size, container_kind, is_few, size_of
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    Evaluator,
    Library,
    Partial,
    Values,
    merge,
)


def appended_in(dataset: StoringDataset, name: str) -> list[Write]:
    """What construction adds to `self.name` for each of many things (in loops, or many at once)."""
    return list(_many(dataset.ev, places_from(dataset.ev, _own_places(dataset, name))))


def _own_places(dataset: StoringDataset, name: str) -> list[Place]:
    """The attribute in the functions that make an object: of the object itself, or of its class by name."""
    found: list[Place] = []
    classes_by_name = {each.node.name.value for each in dataset.bases.classes}
    for scope in dataset.construction:
        receiver = classes.receiver_name(scope)
        names = names_of_objects(scope, name)
        found += (Place(scope, own, name) for own in names if own == receiver or own in classes_by_name)
    elsewhere = objects_elsewhere(dataset.ev, dataset.klass, dataset.construction)
    for scope, own in elsewhere:
        found.append(Place(scope, own, name))
        found.extend(_in_helper(scope, own, name))
    return found


def _in_helper(scope: Scope, own: str, name: str) -> Iterator[Place]:
    """The attribute as a helper reaches it that keeps the object: `Scanner(self)`, `self.data.files` in there."""
    home = classes.class_of(scope)
    for kept, bindings in (classes.attribute_bindings(home) if home is not None else {}).items():
        if home is not None and any(each.method is scope and dotted(each.value) == own for each in bindings):
            for method in classes.methods_of(home).values():
                yield Place(method, classes.receiver_name(method), f"{kept}.{name}")


def appended_later(dataset: StoringDataset, name: str) -> bool:
    """True if a method that neither construction nor a worker runs adds to `self.name`: `data.add(page)`."""
    return any(
        isinstance(call.func, cst.Attribute)
        and call.func.attr.value in ("append", "extend")
        and isinstance(call.func.value, cst.Attribute)
        and is_it(call.func.value, classes.receiver_name(method), name)
        and not _is_dataset(dataset.ev, inner, call.args[-1].value)
        for method in _run_by_owners(dataset)
        for inner in method.descend()
        for call in inner.own(cst.Call)
        if call.args
    )


def is_numbered_later(dataset: StoringDataset, name: str) -> bool:
    """True if such a method stores something for each sample: `for i in range(len(self)): self.kept[i] = ...`."""
    return any(
        isinstance(target.target, cst.Subscript)
        and isinstance(target.target.value, cst.Attribute)
        and is_it(target.target.value, classes.receiver_name(method), name)
        and _counts_samples(target.target, method)
        for method in _run_by_owners(dataset)
        for assign in method.own(cst.Assign)
        for target in assign.targets
    )


def _run_by_owners(dataset: StoringDataset) -> Iterator[Scope]:
    """The methods that neither construction nor a worker runs."""
    busy = {id(scope) for scope in (*dataset.construction, *dataset.reads.functions)}
    for klass in dataset.bases.classes:
        yield from (each for each in classes.methods_of(klass.scope).values() if id(each) not in busy)


def _counts_samples(node: cst.Subscript, method: Scope) -> bool:
    """True if the index of a subscript runs over `range(len(self))`."""
    index = node.slice[0].slice
    if not isinstance(index, cst.Index) or not isinstance(index.value, cst.Name):
        return False
    bindings = resolve(index.value, method.module.tree)
    return bool(bindings) and all(
        each.kind is Kind.ELEMENT and _is_length_of(each.value, classes.receiver_name(method)) for each in bindings
    )


def _is_length_of(node: cst.BaseExpression | None, own: str) -> bool:
    """`range(len(self))`, seen through what shows progress."""
    names = []
    while isinstance(node, cst.Call) and node.args:
        names.append(last_name(node.func))
        node = node.args[0].value
    return isinstance(node, cst.Name) and node.value == own and names[-2:] in (["range", "len"], ["trange", "len"])


def added_to(dataset: StoringDataset, name: str, binding: AttributeBinding) -> list[tuple[cst.BaseExpression, Scope]]:
    """What is added to an attribute for each of many things, also under the local name that it had before."""
    return [(write.value, write.scope) for write in _added(dataset, name, binding)]


def _added(dataset: StoringDataset, name: str, binding: AttributeBinding) -> list[Write]:
    starts = [*_own_places(dataset, name), *other_names(dataset.ev, binding, dataset.self_value)]
    return list(_many(dataset.ev, places_from(dataset.ev, starts)))


def adds_files(dataset: StoringDataset, name: str, binding: AttributeBinding) -> bool:
    """True if all that is added to an attribute is what a whole file holds, as an array: few things, and large ones."""
    found = added_to(dataset, name, binding)
    return bool(found) and all(_is_file_content(dataset.ev, added, scope) for added, scope in found)


def records_added(dataset: StoringDataset, name: str, binding: AttributeBinding) -> Values:
    """What an attribute gets in its places, if all of it surely is lists or dicts: `self.rows[i] = {"text": text}`."""
    ev = dataset.ev
    writes = _added(dataset, name, binding)
    found = merge(*(ev.values(each.value, ev.frame_of(function_scope(each.scope))) for each in writes))
    are_records = all(each.is_stored for each in writes) and all(
        container_kind(value) in (Size.LIST, Size.DICT) for value in found
    )
    return found if are_records else ()


def fills_fields(dataset: StoringDataset, name: str, binding: AttributeBinding) -> bool:
    """True if lists grow inside a dict: `self.columns["label"].append(label)`, or one is stored in it."""
    for scope, own, held in filling(dataset, name, binding):
        for call in scope.own(cst.Call):
            if isinstance(call.func, cst.Attribute) and call.func.attr.value in ADDING_METHODS:
                owner = call.func.value
                if isinstance(owner, cst.Call) and isinstance(
                    owner.func, cst.Attribute
                ):  # .setdefault(k, []).append(v)
                    owner = owner.func.value
                elif not isinstance(owner, cst.Subscript):
                    continue
                if is_it(owner, own, held):
                    return True
        for augmented in adding_assignments(scope):
            if isinstance(augmented.target, cst.Subscript) and is_it(augmented.target, own, held):
                return True
        for assign in scope.own(cst.Assign):
            for target in assign.targets:
                if isinstance(target.target, cst.Subscript) and is_it(target.target, own, held):
                    if _may_be_list(dataset.ev, scope, assign.value):
                        return True
    return False


def collects_from(dataset: StoringDataset, name: str, binding: AttributeBinding) -> bool:
    """True if lists in a dict get something for each of many things, whatever the keys: `self.boxes[k].append(box)`."""
    if _makes_objects(dataset, binding):
        return False  # what has such a method may be anything: `self.means[k].update(value)`
    for scope, own, held in filling(dataset, name, binding):
        for call in scope.own(cst.Call):
            if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in ADDING_METHODS:
                continue
            owner: cst.BaseExpression = call.func.value
            if isinstance(owner, cst.Call) and last_name(owner.func) == "setdefault":
                assert isinstance(owner.func, cst.Attribute)
                owner = owner.func.value
            elif not isinstance(owner, cst.Subscript):
                continue
            if is_it(owner, own, held) and runs_often(dataset.ev, scope, call) and not _is_given(scope, call):
                return True
    return False


def _makes_objects(dataset: StoringDataset, binding: AttributeBinding) -> bool:
    """True if a `defaultdict` makes objects of the project for keys that are not there yet."""
    ev = dataset.ev
    for made in attributes.bound(ev, binding, dataset.self_value):
        if isinstance(made, CallResult) and made.library == "collections.defaultdict" and made.call and made.frame:
            factories = ev.values(made.call.args[0].value, made.frame) if made.call.args else ()
            called = [each.callee if isinstance(each, Partial) else each for each in factories]
            if called and all(isinstance(each, Class) for each in called):
                return True
    return False


def _is_given(scope: Scope, node: Node) -> bool:
    """True if the loop around a node goes over a parameter, which may be a table of classes as well as one of rows."""
    tree = scope.module.tree
    loop = next((above for above in tree.ancestors(node) if isinstance(above, cst.For | cst.FunctionDef)), None)
    if not isinstance(loop, cst.For) or not isinstance(loop.iter, cst.Name):
        return False
    return any(each.kind is Kind.PARAMETER for each in resolve(loop.iter, tree))


def filling(dataset: StoringDataset, name: str, binding: AttributeBinding) -> Iterator[tuple[Scope, str, str]]:
    """The functions that fill an attribute, each with the object it is one of there, or none, and its name there."""
    starts = [*_own_places(dataset, name), *other_names(dataset.ev, binding, dataset.self_value)]
    for place in places_from(dataset.ev, starts):
        if not place.method:
            yield from ((scope, place.own, place.name) for scope in scopes_that_see(place))


def _may_be_list(ev: Evaluator, scope: Scope, node: cst.BaseExpression) -> bool:
    found = ev.values(node, ev.frame_of(function_scope(scope)))
    return any(container_kind(value) is Size.LIST or size_of(ev, value) is Size.LIST for value in found)


def _is_file_content(ev: Evaluator, node: cst.BaseExpression, scope: Scope) -> bool:
    frame = ev.frame_of(function_scope(scope))

    def names_of(each: cst.BaseExpression) -> list[str]:
        found = ev.values(each.func, frame) if isinstance(each, cst.Call) else ()
        return [value.name for value in found if isinstance(value, Library)]

    def within(each: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
        if isinstance(each, cst.Call) and each.args and not _ARRAY_MAKERS.isdisjoint(names_of(each)):
            return (each.args[0].value,)
        return (each.value,) if isinstance(each, cst.Subscript) else ()

    made = map(names_of, origins(node, scope.module.tree, within))
    return all(any(name in _ARRAY_READERS or name.endswith(".imread") for name in names) for names in made)


_ARRAY_READERS = frozenset(
    {"numpy.fromfile", "numpy.load", "numpy.loadtxt", "soundfile.read", "torchaudio.load", "torchvision.io.read_image"}
)
_ARRAY_MAKERS = frozenset(
    f"numpy.{name}"
    for name in ("array", "asarray", "ascontiguousarray", "expand_dims", "moveaxis", "squeeze", "transpose")
) | {"torch.from_numpy"}


def grown_elsewhere(dataset: StoringDataset, binding: AttributeBinding) -> bool:
    """True if the value is grown under another name that it has: `items = []`, a loop, `self.items = items`."""
    starts = list(other_names(dataset.ev, binding, dataset.self_value))
    return any(True for _ in _many(dataset.ev, places_from(dataset.ev, starts)))


def is_it(node: cst.CSTNode, own: str, name: str) -> bool:
    """True if an expression is `own.name` (the local `name` where `own` is empty), or something in it."""
    return kept_under(node) == (own, name)


def _many(ev: Evaluator, places: list[Place]) -> Iterator[Write]:
    """The writes at some places that add something for each of many things."""
    for place in places:
        for write in writes_at(place):
            if not isinstance(write.statement, cst.AugAssign) and _is_dataset(ev, write.scope, write.value):
                continue
            if write.is_often or runs_often(ev, write.scope, write.statement):
                yield write
            # One list for each of a few keys grows as much: `self.files[split] = os.listdir(folder)`.
            elif write.is_stored:
                if _is_list(ev, write.scope, write.value):
                    yield write
            elif write.are_several and not is_few(ev, write.value, ev.frame_of(function_scope(write.scope))):
                yield write


def _is_dataset(ev: Evaluator, scope: Scope, node: cst.BaseExpression) -> bool:
    """True if an expression surely gives another Dataset, which hands out many things itself, or now and then None."""
    if not isinstance(node, cst.Call | cst.Name):
        return False
    found = [each for each in ev.values(node, ev.frame_of(function_scope(scope))) if each != Const(None)]
    return bool(found) and all(
        isinstance(value, CallResult) and isinstance(value.by, Class) and bool(dataset_kind(ev, value.by))
        for value in found
    )


def _is_list(ev: Evaluator, scope: Scope, node: cst.BaseExpression) -> bool:
    """True if an expression surely gives a list that follows the data."""
    found = ev.values(node, ev.frame_of(function_scope(scope)))
    return bool(found) and all(size_of(ev, value) is Size.LIST for value in found)
