"""What a Dataset keeps: which of its attributes are Python containers that grow with the data, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from dataloader_lint.facts import classes, members
from dataloader_lint.facts.classes import AttributeBinding
from dataloader_lint.facts.library import DICT_MAKERS, LIST_MAKERS
from dataloader_lint.facts.module import last_name
from dataloader_lint.facts.names import Kind, bindings_of
from dataloader_lint.facts.reads import Level, Use
from dataloader_lint.facts.tree import Node, Scope, function_scope
from dataloader_lint.facts.values import (
    UNKNOWN,
    Const,
    Evaluator,
    Frame,
    Library,
    Made,
    Mapping,
    Sequence,
    Typed,
    Value,
    Values,
    merge,
)

if TYPE_CHECKING:
    from dataloader_lint.facts.datasets import Dataset


class Form(Enum):
    """What an attribute holds."""

    LIST = "list"
    DICT = "dict"
    ARRAY = "array"  # numpy, torch, pandas, pyarrow: no Python object for each element
    SMALL = "small"  # written out, and nothing adds to it
    SLOTS = "slots"  # `[None] * n`, to be filled with something else
    OTHER = "other"


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
        """The statement that binds it."""
        return self.container.binding.node

    @property
    def reading(self) -> str:
        """What workers do with it, to follow "that workers"."""
        if self.use.indexed is Level.INDEX or self.use.indexed is Level.KEY:
            return "index for every sample"
        return "read for every sample"

    @property
    def kind(self) -> str:
        """What the container is called: `dict`, `set`, `COCO`."""
        value = self.container.value
        if isinstance(value, Made) and value.library:
            return f"`{value.library.rpartition('.')[2]}`"
        return value.kind if isinstance(value, Sequence) else "dict"

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
        use = dataset.reads.of(container.name)
        if container.form is not form or _holds_little(container):
            continue
        if form is Form.LIST:
            stored = use.indexed is Level.INDEX or use.is_length or (use.indexed is Level.KEY and container.grows)
        else:
            asked = use.indexed >= Level.KEY or use.queried >= (Level.SAMPLE if _is_index(container) else Level.KEY)
            stored = use.is_length or (asked and container.grows)
        if stored:
            yield SampleStorage(container, use)


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
    first: dict[Form, AttributeBinding] = {}  # where it is first seen to be a container at all, if still an empty one
    for binding in bindings:
        if binding.kind is Kind.AUGMENTED:
            continue
        for value in members.bound(ev, binding, dataset.self_value):
            form = form_of(ev, value)
            kind = _kind_of_filled(value)
            if kind is not None:
                first.setdefault(kind, binding)
            if form in (Form.SMALL, Form.OTHER) and kind is not None and (growth or _grown_as_local(ev, binding)):
                form = kind
            if form in (Form.LIST, Form.DICT) and form not in shown:
                grown = bool(growth) or _grown_as_local(ev, binding) or not isinstance(value, Typed)
                elements = _elements(ev, value, growth, dataset)
                shown[form] = Container(name, form, first.get(form, binding), value, elements, grown)
            elif form in (Form.ARRAY, Form.SLOTS):
                shown = {each: found for each, found in shown.items() if not _replaces(binding, found.binding)}
    found = list(shown.values())
    if len(found) > 1 and found[0].binding is found[1].binding:
        found = found[:1]  # one binding, of which nobody can say more
    return [] if _is_emptied(dataset, name) else found


def _is_emptied(dataset: Dataset, name: str) -> bool:
    """Whether construction throws the content away again, having made something better of it."""
    return any(
        isinstance(call.func, cst.Attribute)
        and isinstance(call.func.value, cst.Attribute)
        and call.func.value.attr.value == name
        for scope in dataset.construction
        for call in scope.own(cst.Call)
        if last_name(call.func) == "clear"
    )


def _kind_of_filled(value: Value) -> Form | None:
    """The form of a container that starts empty or written out; None for what is none."""
    if isinstance(value, Sequence) and value.kind not in ("generator", "set", "frozenset"):
        return Form.LIST
    return Form.DICT if isinstance(value, Sequence | Mapping) or _is_dict(value) else None


MAX_DEPTH = 6


def form_of(ev: Evaluator, value: Value, depth: int = 0) -> Form:
    """What one value is, as a container. `depth` counts how many containers it has been followed through."""
    if depth > MAX_DEPTH:
        return Form.OTHER
    if isinstance(value, Sequence):
        return _form_of_sequence(ev, value, depth + 1)
    if isinstance(value, Mapping):
        node = value.node
        if isinstance(node, cst.DictComp):
            return Form.DICT
        return Form.SMALL
    if isinstance(value, Typed):
        if value.kind in ("list", "list of str", "list of int"):
            return Form.LIST
        return Form.ARRAY if value.kind in ("array", "tensor", "frame") else Form.OTHER
    if isinstance(value, Made):
        library = value.library
        if library in DICT_MAKERS:
            empty = value.call is not None and len(value.call.args) <= 1 and library.startswith("collections.")
            return Form.SMALL if empty else Form.DICT
        if library in ("json.load", "json.loads"):
            return Form.LIST
        if library.partition(".")[0] in ("numpy", "torch", "pandas", "pyarrow", "h5py"):
            return Form.ARRAY
    return Form.OTHER


def _is_dict(value: Value) -> bool:
    return (isinstance(value, Made) and value.library in DICT_MAKERS) or (
        isinstance(value, Sequence) and value.kind in ("set", "frozenset")
    )


def _form_of_sequence(ev: Evaluator, value: Sequence, depth: int) -> Form:
    node, frame = value.node, value.frame
    if value.kind == "generator" or isinstance(node, cst.Param):
        return Form.OTHER
    form = Form.DICT if value.kind in ("set", "frozenset") else Form.LIST
    if isinstance(node, cst.List | cst.Tuple | cst.Set | cst.Subscript) and value.items is not None:
        return Form.SMALL
    if isinstance(node, cst.BinaryOperation):
        if isinstance(node.operator, cst.Multiply):
            return Form.SLOTS
        forms = _forms(ev, merge(ev.values(node.left, frame), ev.values(node.right, frame)), depth)
        return form if Form.LIST in forms or Form.OTHER in forms else Form.SMALL
    if isinstance(node, cst.ListComp | cst.SetComp):
        source = [each for each in _iterated(ev, node.for_in.iter, frame) if getattr(each, "node", None) is not node]
        if _forms(ev, tuple(source), depth) == {Form.SLOTS}:
            return Form.SLOTS
        few = node.for_in.inner_for_in is None and _is_few(ev, node.for_in.iter, frame, depth)
        return Form.SMALL if few else form
    if isinstance(node, cst.Call):
        return Form.SMALL if _made_of_few(ev, node, frame, depth) else form
    if isinstance(node, cst.Subscript):  # a slice: what it is cut from decides
        return form if Form.LIST in _forms(ev, ev.values(node.value, frame), depth) else Form.OTHER
    return form


def _forms(ev: Evaluator, values: Values, depth: int) -> set[Form]:
    return {form_of(ev, value, depth) for value in values}


def _iterated(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> Values:
    """What a loop runs over, seen through `enumerate`."""
    found = ev.values(node, frame)
    if len(found) == 1 and isinstance(found[0], Made) and found[0].library == "builtins.enumerate":
        call, inner = found[0].call, found[0].frame
        if call is not None and inner is not None and call.args:
            return ev.values(call.args[0].value, inner)
    return found


def _is_few(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int = 0) -> bool:
    """Whether an expression gives things that are written out, so that there are few of them."""
    found = ev.values(node, frame)
    return bool(found) and all(_is_small(ev, value, depth) for value in found)


def _is_small(ev: Evaluator, value: Value, depth: int) -> bool:
    if isinstance(value, Sequence | Mapping):
        return form_of(ev, value, depth) is Form.SMALL and not _is_empty(value)
    if isinstance(value, Made) and value.library == "builtins.range" and value.call is not None and value.frame:
        sizes = [ev.values(arg.value, value.frame) for arg in value.call.args]
        return all(
            len(size) == 1 and isinstance(size[0], Const) and isinstance(size[0].value, int) and size[0].value < 257
            for size in sizes
        )
    if isinstance(value, Made) and value.library in ("builtins.enumerate", "builtins.zip") and value.call is not None:
        return value.frame is not None and any(_is_few(ev, arg.value, value.frame, depth) for arg in value.call.args)
    return isinstance(value, Const)


def _is_empty(value: Sequence | Mapping) -> bool:
    if isinstance(value, Sequence):
        return value.items == ()
    return isinstance(value.node, cst.Dict) and not value.node.elements


def _made_of_few(ev: Evaluator, call: cst.Call, frame: Frame, depth: int) -> bool:
    """`list((1, 2))`, `sorted({"a", "b"})`, `list()`."""
    if not call.args:
        return not isinstance(call.func, cst.Attribute)
    names = [value.name for value in ev.values(call.func, frame) if isinstance(value, Library)]
    if not any(name in LIST_MAKERS or name.startswith("builtins.") for name in names):
        return False
    if any(name in ("glob.glob", "os.listdir", "re.findall", "re.split", "linecache.getlines") for name in names):
        return False
    return _is_few(ev, call.args[0].value, frame, depth)


def _elements(ev: Evaluator, value: Value, growth: list[cst.BaseExpression], dataset: Dataset) -> Values:
    """What the container holds, as far as it is known; what is appended counts too."""
    found: list[Values] = [ev.element(value)] if not (isinstance(value, Sequence) and value.items == ()) else []
    for added in growth:
        scope = _scope_of(added, dataset)
        if scope is not None:
            found.append(ev.values(added, members.method_frame(ev, scope, dataset.self_value)))
    return merge(*found) or (UNKNOWN,)


def _scope_of(node: cst.CSTNode, dataset: Dataset) -> Scope | None:
    for scope in dataset.construction:
        tree = scope.module.tree
        if node in tree:
            inner = tree.scope_of(node)
            return inner.function or inner
    return None


def _replaces(later: AttributeBinding, earlier: AttributeBinding) -> bool:
    """Whether a binding surely comes after another one: in an outer or the same block, further down."""
    if later.method is not earlier.method:
        return False
    tree = later.method.module.tree
    if tree.order(later.node) < tree.order(earlier.node):
        return False
    conditions = {id(node) for node in tree.ancestors(earlier.node) if isinstance(node, cst.If | cst.Try | cst.Else)}
    return all(
        id(node) in conditions for node in tree.ancestors(later.node) if isinstance(node, cst.If | cst.Try | cst.Else)
    )


_ADDERS = frozenset({"append", "extend", "add", "insert", "appendleft", "update", "setdefault"})


def grows_in(dataset: Dataset, name: str) -> list[cst.BaseExpression]:
    """What construction adds to `self.name` for each of many things (in loops, or many at once)."""
    found: list[cst.BaseExpression] = []
    for scope in dataset.construction:
        own = classes.receiver_name(scope)
        for inner in scope.descend():
            found.extend(_additions(dataset.ev, inner, own, name))
    return found


def _grown_as_local(ev: Evaluator, binding: AttributeBinding) -> bool:
    """Whether the value is grown under a local name before it is kept: `items = []`, a loop, `self.items = items`."""
    for scope, name in _local_names(ev, binding):
        if any(True for _ in _additions(ev, scope, "", name)):
            return True
    return False


def _local_names(ev: Evaluator, binding: AttributeBinding) -> Iterator[tuple[Scope, str]]:
    """The local names under which the value of a binding was filled: here, or in the function that returns it."""
    if isinstance(binding.value, cst.Name):
        yield binding.method, binding.value.value
    receiver = ev.frame_of(binding.method).receiver
    for made in members.bound(ev, binding, receiver) if isinstance(receiver, Made) else ():
        if isinstance(made, Sequence | Mapping):
            scope = made.frame.scope
            tree = scope.module.tree
            if made.node not in tree:
                continue
            home = tree.scope_of(made.node)
            if isinstance(made.node, cst.Subscript) and isinstance(made.node.value, cst.Name):
                yield home, made.node.value.value  # a slice of what was filled
            for name, found in bindings_of(home).items():
                if any(_written(each.value, each.path) is made.node for each in found):
                    yield home, name


def _written(value: cst.BaseExpression | None, path: tuple[int, ...]) -> cst.BaseExpression | None:
    """The expression that an unpacking gives a name, where both sides are written out: `a, b = [], {}`."""
    for index in path:
        if not isinstance(value, cst.Tuple | cst.List) or not 0 <= index < len(value.elements):
            return None
        value = value.elements[index].value
    return value


def _additions(ev: Evaluator, scope: Scope, own: str, name: str) -> Iterator[cst.BaseExpression]:
    """What is added to `own.name` (or to the local `name` where `own` is empty) for each of many things."""

    def is_it(node: cst.CSTNode) -> bool:
        while isinstance(node, cst.Subscript):
            node = node.value
        if own:
            return (
                isinstance(node, cst.Attribute)
                and node.attr.value == name
                and isinstance(node.value, cst.Name)
                and node.value.value == own
            )
        return isinstance(node, cst.Name) and node.value == name

    for call in scope.own(cst.Call):
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in _ADDERS or not call.args:
            continue
        owner: cst.BaseExpression = call.func.value
        if isinstance(owner, cst.Call) and isinstance(owner.func, cst.Attribute):  # x.setdefault(k, []).append(v)
            owner = owner.func.value
        several = call.func.attr.value in ("extend", "update")
        if is_it(owner) and _is_many(ev, scope, call, several, call.args[-1].value):
            yield call.args[-1].value
    for assign in scope.own(cst.Assign):
        for target in assign.targets:
            node = target.target
            if isinstance(node, cst.Subscript) and is_it(node):
                # One list for each of a few keys grows as much: `self.files[split] = os.listdir(folder)`.
                if _in_long_loop(ev, scope, assign) or _is_list(ev, scope, assign.value):
                    yield assign.value
    for augmented in scope.own(cst.AugAssign):
        if is_it(augmented.target) and _is_many(ev, scope, augmented, True, augmented.value):
            yield augmented.value


def _is_many(ev: Evaluator, scope: Scope, node: Node, several: bool, added: cst.BaseExpression) -> bool:
    """Whether an addition is made often, or adds many at once."""
    if _in_long_loop(ev, scope, node):
        return True
    return several and not _is_few(ev, added, ev.frame_of(function_scope(scope)))


def _is_list(ev: Evaluator, scope: Scope, node: cst.BaseExpression) -> bool:
    """Whether an expression surely gives a list that follows the data."""
    found = ev.values(node, ev.frame_of(function_scope(scope)))
    return bool(found) and all(form_of(ev, value) is Form.LIST for value in found)


def _in_long_loop(ev: Evaluator, scope: Scope, node: Node) -> bool:
    """Whether a node runs again and again: in a loop over more than a few things, or in a method called from one."""
    tree = scope.module.tree
    home = scope.function
    for above in tree.ancestors(node):
        if isinstance(above, cst.While):
            return True
        if isinstance(above, cst.For) and not _is_few(ev, above.iter, ev.frame_of(function_scope(scope))):
            return True
        if home is not None and above is home.node:
            break
    if home is None or not isinstance(home.node, cst.FunctionDef) or home.parent is None:
        return False
    return any(
        isinstance(above, cst.For)
        for call in scope.module.calls_named(home.node.name.value)
        for above in tree.ancestors(call)
    )
