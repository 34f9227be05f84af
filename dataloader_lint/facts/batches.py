"""Moves of things to a device: what is moved, which loaders' batches it comes from, where to, and whether it blocks.

Everything here is asked of an evaluation that takes CUDA to be available: elsewhere no batch goes to a GPU.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from dataloader_lint.facts import classes, keywords
from dataloader_lint.facts.branches import is_reached
from dataloader_lint.facts.library import SAME_VALUE
from dataloader_lint.facts.loaders import Loader, loader_of
from dataloader_lint.facts.module import ModuleFacts, last_name
from dataloader_lint.facts.names import Binding, Kind, bindings_of, dotted, resolve
from dataloader_lint.facts.parameters import arguments_of_callers
from dataloader_lint.facts.tree import Node, Scope, Tree, function_scope
from dataloader_lint.facts.values import (
    ABSENT,
    NOTHING_KNOWN,
    Attr,
    Class,
    Const,
    Element,
    Evaluator,
    Frame,
    Function,
    Library,
    Made,
    Mapping,
    Method,
    Partial,
    Sequence,
    Typed,
    Value,
    Values,
    constant,
    merge,
)


class Device(Enum):
    """Where a transfer goes, as far as it is known."""

    CPU = "cpu"
    CUDA = "cuda"
    OTHER = "other"  # mps, xpu, meta, ...
    UNKNOWN = "unknown"
    NONE = "none"  # a change of the data type, or nothing that is known to be a device


@dataclass(frozen=True, slots=True)
class Origin:
    """A loader whose batches reach a transfer."""

    loader: Loader
    is_pinned: bool | None  # whether what is moved lies in pinned memory; None where that is not known

    @property
    def name(self) -> str:
        """What the user calls the loader: the name it is bound to, else that of the constructor."""
        tree = self.loader.frame.scope.module.tree
        call = self.loader.call
        above = tree.parent(call) if call in tree else None
        target: cst.CSTNode | None = None
        if isinstance(above, cst.Assign) and len(above.targets) == 1:
            target = above.targets[0].target
        elif isinstance(above, cst.AnnAssign):
            target = above.target
        return shown(tree, target) if isinstance(target, cst.Name | cst.Attribute) else self.loader.name

    @property
    def file(self) -> str:
        """The name of the file in which the loader is made."""
        return _file_name(self.loader.frame)


@dataclass(frozen=True, slots=True, eq=False)
class Transfer:
    """One `x.to(...)` or `x.cuda(...)`, whatever `x` is. What is asked of it is worked out then."""

    call: cst.Call
    frame: Frame
    ev: Evaluator
    may_be_pinned: bool  # whether anybody around speaks of pinned memory, which loaders use only when they are told to

    @property
    def moved(self) -> cst.BaseExpression:
        """The expression that is moved."""
        assert isinstance(self.call.func, cst.Attribute)
        return self.call.func.value

    @property
    def text(self) -> str:
        """The call as written, on one line."""
        return shown(self.frame.scope.module.tree, self.call)

    @property
    def file(self) -> str:
        """The name of the file in which it stands."""
        return _file_name(self.frame)

    @property
    def is_cuda_call(self) -> bool:
        return isinstance(self.call.func, cst.Attribute) and self.call.func.attr.value == "cuda"

    @property
    def may_name_device(self) -> bool:
        """Whether it may be a move to a device, and not a conversion; a cheap look before the evaluation."""
        given = _argument(self.call, "device") or next(iter(_positional(self.call)), None)
        if given is None:
            return self.is_cuda_call or any(arg.star for arg in self.call.args)
        return _TYPE_NAME.search(last_name(given)) is None

    @property
    def is_reached(self) -> bool:
        """Whether it is reached where CUDA is available, as far as the conditions around it are known."""
        return is_reached(self.ev, self.call, self.frame)

    @property
    def is_in_forward(self) -> bool:
        """Whether it stands in the `forward` of a model."""
        scope = self.frame.scope
        node = scope.node
        return (
            isinstance(node, cst.FunctionDef)
            and node.name.value == "forward"
            and scope.parent is not None
            and (isinstance(scope.parent.node, cst.ClassDef))
        )

    @property
    def non_blocking(self) -> Values:
        """What is passed for `non_blocking`: ABSENT where nothing is, unknown where a star may bring it."""
        given = _argument(self.call, "non_blocking")
        if given is None:
            positional = _positional(self.call)
            last = positional[1:2] if self.is_cuda_call else positional[2:3]
            if last and not isinstance(constant(self._values(last[0])), Const):
                return self._values(last[0])
            given = next((each for each in positional[1:] if isinstance(_known(self._values(each)), bool)), None)
        if given is not None:
            return self._values(given)
        return NOTHING_KNOWN if any(arg.star for arg in self.call.args) else (ABSENT,)

    @property
    def is_surely_blocking(self) -> bool:
        """Whether `non_blocking` is not passed at all; whoever passes it on leaves the decision to somebody else."""
        if any(arg.star or (arg.keyword is not None and arg.keyword.value == "non_blocking") for arg in self.call.args):
            return False
        return self.non_blocking == (ABSENT,)

    @property
    def goes_to_gpu(self) -> bool:
        """Whether it is a move to a device, and not surely to one that has no use for pinned memory."""
        return self.device in (Device.CUDA, Device.UNKNOWN)

    @property
    def may_change_type(self) -> bool:
        """Whether the call names a data type besides the device."""
        if self.is_cuda_call:
            return False
        second = _positional(self.call)[1:2]
        is_name = bool(second) and isinstance(_known(self._values(second[0])), str)  # attributes to move, in PyG
        return _argument(self.call, "dtype") is not None or (bool(second) and not is_name)

    @property
    def takes_non_blocking(self) -> bool:
        """Whether `non_blocking` can be added: no positional argument of the call may be it already."""
        more = _positional(self.call)[1:]
        if self.is_cuda_call:
            return not more
        if any(isinstance(_known(self._values(each)), bool) for each in more):
            return False
        if len(more) > 1:
            return all(isinstance(_known(self._values(each)), str) for each in more)  # attributes to move, in PyG
        tree = self.frame.scope.module.tree
        return not any(re.search("block|async", tree.words(each).lower()) for each in more)

    @property
    def source_is_written_after(self) -> bool:
        """Whether what is moved is changed in place further down, so that a copy under way could see the change."""
        tree = self.frame.scope.module.tree
        moved, spelling = self.moved, tree.spelling(self.moved)
        bound = _bindings_below(moved, tree)
        for node in _changed_in_place(tree.scope_of(self.call)):
            if tree.order(node) > tree.order(self.call) and tree.spelling(node) == spelling:
                if any(one is other for one in _bindings_below(node, tree) for other in bound):
                    return True
        return False

    @property
    def device(self) -> Device:
        """Where it goes."""
        given = _argument(self.call, "device") or next(iter(_positional(self.call)), None)
        if self.is_cuda_call:
            return Device.CUDA
        if given is None or any(arg.star for arg in self.call.args[:1]):
            return Device.NONE
        return self._device(given)

    def _device(self, given: cst.BaseExpression) -> Device:
        kinds = {self._kind(value, given) for value in self._values(given)}
        if Device.NONE in kinds or not kinds:
            return Device.NONE
        return kinds.pop() if len(kinds) == 1 else Device.UNKNOWN

    def _kind(self, value: Value, given: cst.BaseExpression) -> Device:
        if isinstance(value, Const):
            return _kind_of_constant(value.value)
        if isinstance(value, Made) and value.library == "torch.device" and value.call is not None:
            inner = _argument(value.call, "type") or next(iter(_positional(value.call)), None)
            if inner is None or value.frame is None:
                return Device.UNKNOWN
            kinds = {
                _kind_of_constant(each.value) if isinstance(each, Const) else Device.UNKNOWN
                for each in self.ev.values(inner, value.frame)
            }
            return kinds.pop() if len(kinds) == 1 else Device.UNKNOWN
        if isinstance(value, Typed):
            return {"int": Device.CUDA, "str": Device.UNKNOWN}.get(value.kind, Device.NONE)
        if isinstance(value, Library):
            return Device.NONE  # torch.float32
        # Nothing is known of it, so its name has to say that it is a device and no data type.
        return Device.UNKNOWN if _is_called_device(self.ev, given, self.frame) else Device.NONE

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The loaders whose batches it moves, all of them; empty where it may move anything else as well."""
        if not _may_be_part(self.moved, self.frame):
            return ()
        found: list[Origin] = []
        for value in self._values(self.moved):
            path, root = _path(value)
            if isinstance(root, Const) and path:
                continue  # no part of None or of a number was ever moved
            loader = _loader(self.ev, root) if path and isinstance(path[0], Element) else None
            if loader is None:
                return ()
            found.append(Origin(loader, _is_pinned(self.ev, loader, path[1:])))
        return tuple(found)

    def _values(self, node: cst.BaseExpression) -> Values:
        return self.ev.values(node, self.frame)


_TYPE_NAME = re.compile(r"dtype|^(?:b?float|double|half|u?int|long|short|bool|complex)(?:\d+)?$", re.IGNORECASE)
_DEVICE_NAME = re.compile(r"device|gpu|cuda|rank|\bdev\b")


def _is_called_device(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int = 0) -> bool:
    """Whether an expression, or what the calls in sight pass for it, is named like a device."""
    tree = frame.scope.module.tree
    text = tree.words(node).lower()
    if _DEVICE_NAME.search(text):
        return "dtype" not in text
    if not isinstance(node, cst.Name) or node not in tree or depth > 3:
        return False
    for binding in resolve(node, tree):
        if binding.kind is Kind.PARAMETER:
            given = arguments_of_callers(ev, binding.scope, binding.name)
        elif binding.kind is Kind.VALUE and binding.value is not None and not binding.path:
            given = [(binding.value, frame)]
        else:
            continue
        if any(_is_called_device(ev, each, where, depth + 1) for each, where in given if each is not node):
            return True
    return False


def transfers_in(ev: Evaluator, module: ModuleFacts, may_be_pinned: bool) -> Iterator[Transfer]:
    """Every move in a module, in document order."""
    found = [*module.calls_named("to"), *module.calls_named("cuda")]
    for call in sorted(found, key=module.tree.order):
        if isinstance(call.func, cst.Attribute):
            frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
            yield Transfer(call, frame, ev, may_be_pinned)


def _changed_in_place(scope: Scope) -> Iterator[cst.BaseExpression]:
    """What is written to by its index, by an augmented assignment or by a method such as `add_`."""
    targets = [one.target for each in scope.within(cst.Assign) for one in each.targets]
    yield from (each.value for each in targets if isinstance(each, cst.Subscript))
    for each in scope.within(cst.AugAssign):
        yield each.target
        if isinstance(each.target, cst.Subscript):
            yield each.target.value
    for call in scope.within(cst.Call):
        if isinstance(call.func, cst.Attribute):
            name = call.func.attr.value
            if name.endswith("_") and not name.startswith("_"):
                yield call.func.value


def _bindings_below(node: cst.BaseExpression, tree: Tree) -> list[Binding]:
    """What the name may be bound to that an expression such as `batch["image"]` or `batch.image` begins with."""
    while isinstance(node, cst.Attribute | cst.Subscript):
        node = node.value
    return resolve(node, tree) if isinstance(node, cst.Name) else []


def _file_name(frame: Frame) -> str:
    folder, name = os.path.split(frame.scope.module.path)
    return f"{os.path.basename(folder)}/{name}" if name == "__init__.py" else name


def shown(tree: Tree, node: cst.CSTNode) -> str:
    """A node as written, on one line, cut where it gets long."""
    text = tree.code(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _argument(call: cst.Call, name: str) -> cst.BaseExpression | None:
    return next((arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def _positional(call: cst.Call) -> list[cst.BaseExpression]:
    return [arg.value for arg in call.args if arg.keyword is None and not arg.star]


def _known(values: Values) -> object:
    known = constant(values)
    return known.value if known is not None else None


def _kind_of_constant(value: object) -> Device:
    if isinstance(value, bool) or value is None:
        return Device.NONE
    if isinstance(value, int):
        return Device.CUDA
    kind = str(value).partition(":")[0]
    return {"cpu": Device.CPU, "cuda": Device.CUDA}.get(kind, Device.OTHER)


# Functions that hand back what they are given, by the last part of their names.
_HANDING_BACK = frozenset(name.rpartition(".")[2] for name in SAME_VALUE)


def _may_be_part(node: cst.CSTNode | None, frame: Frame, depth: int = 0) -> bool:
    """A cheap look before the evaluation: whether an expression can be part of what a loop or `next` gave.

    Models and tensors made on the spot, which is what most moves move, can not.
    """
    while isinstance(node, cst.Subscript):
        node = node.value
    if isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute):  # batch.squeeze(), iterator.next(), autograd.Variable(batch)
            given = node.args[:1] if node.func.attr.value in _HANDING_BACK else ()
            return any(_may_be_part(each, frame, depth) for each in (node.func.value, *(arg.value for arg in given)))
        name = node.func.value if isinstance(node.func, cst.Name) else ""
        return (name not in ("super", "len") and bool(name) and not name[0].isupper()) or any(
            _may_be_part(arg.value, frame, depth) for arg in node.args[:1]
        )
    tree = frame.scope.module.tree
    if node is None or depth > 4 or node not in tree:
        return depth > 4
    if isinstance(node, cst.Attribute):
        method = tree.scope_of(node).function
        klass = classes.class_of(method) if method is not None else None
        if isinstance(node.value, cst.Name) and method is not None and klass is not None:
            if node.value.value == classes.receiver_name(method):
                bound = classes.attribute_bindings(klass).get(node.attr.value, ())
                return any(_binds_part(each.kind, each.value, frame, depth) for each in bound)
        return _may_be_part(node.value, frame, depth)
    if isinstance(node, cst.Name):
        return any(_binds_part(each.kind, each.value, frame, depth) for each in resolve(node, tree))
    if isinstance(node, cst.Tuple | cst.List):
        return any(_may_be_part(element.value, frame, depth) for element in node.elements)
    return isinstance(node, cst.IfExp | cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.Dict | cst.NamedExpr)


def _binds_part(kind: Kind, value: cst.BaseExpression | None, frame: Frame, depth: int) -> bool:
    if kind in (Kind.ELEMENT, Kind.PARAMETER):
        return True
    return kind in (Kind.VALUE, Kind.ENTERED) and _may_be_part(value, frame, depth + 1)


def _path(value: Value) -> tuple[list[Element | Attr], Value]:
    """The steps that lead from a whole to one of its parts, and the whole."""
    path: list[Element | Attr] = []
    while isinstance(value, Element | Attr):
        path.insert(0, value)
        value = value.of
    return path, value


def _loader(ev: Evaluator, value: Value) -> Loader | None:
    """The loader that a value is, if iterating over it gives the batches as torch made them."""
    loader = loader_of(ev, value)
    if loader is None or loader.kind.moves_batches:
        return None
    if isinstance(value, Made) and isinstance(value.by, Class):
        bases = ev.bases(value.by).classes
        if any(classes.find_method(ev, bases, name) is not None for name in ("__iter__", "__next__")):
            return None
    return loader


def _is_pinned(ev: Evaluator, loader: Loader, path: list[Element | Attr]) -> bool | None:
    """Whether a part of a loader's batches is pinned: the loader pins, and the part is of a kind that can be."""
    pins = loader.known("pin_memory")
    if pins is None:
        return None
    if not pins.value:
        return False
    if _was_moved(loader.call, loader.frame) or _known(loader.values("filter_per_worker")) is False:
        return None
    return _can_be_pinned(ev, loader, path)


def _can_be_pinned(ev: Evaluator, loader: Loader, path: list[Element | Attr]) -> bool | None:
    """Tensors, containers of them and objects with a `pin_memory` method are pinned, other objects are passed over."""
    collate = loader.values("collate_fn")
    if loader.kind.drops_collate or all(isinstance(each, Const) and each.value is None for each in collate):
        return True
    found = merge(*(_collated(ev, each) for each in collate))
    for step in path:
        if any(_is_passed_over(ev, value) for value in found):
            return False
        if isinstance(step, Attr):
            found = merge(*(ev.attribute(value, step.name) for value in found))
        else:
            found = merge(*(_item(ev, value, step.index) for value in found))
    if any(_is_passed_over(ev, value) for value in found):
        return False
    if not path or isinstance(path[-1], Attr):
        # A batch that a function of the user's made and that has methods or attributes may be any object.
        return True if all(isinstance(value, Typed) and value.kind == "tensor" for value in found) else None
    return None if any(_is_foreign(value) for value in found) else True


def _item(ev: Evaluator, value: Value, index: object) -> Values:
    if isinstance(value, Mapping) and index is not None:
        return tuple(each for each in keywords.in_value(ev, value, index) if each is not ABSENT) or NOTHING_KNOWN
    found = ev.item(value, ABSENT if index is None else index)
    return merge(found, *_put_into(ev, value, index)) if isinstance(value, Sequence) else found


def _put_into(ev: Evaluator, value: Sequence, index: object) -> Iterator[Values]:
    """What is added to a list by the function that makes it and gives it a name, or stored at the index."""
    tree = value.frame.scope.module.tree
    if value.kind not in ("list", "tuple") or value.node not in tree:
        return
    names = set(_names_of(value.node, value.frame, tree)) - {""}
    for assign in value.frame.scope.within(cst.Assign) if names else ():
        for each in assign.targets:
            at = _place_in(each.target, names)
            if isinstance(at, cst.Integer) and index in (None, at.evaluated_value):
                yield ev.values(assign.value, value.frame)
    for call in value.frame.scope.within(cst.Call) if names else ():
        position = _ADDED.get(last_name(call.func))
        if position is not None and isinstance(call.func, cst.Attribute) and isinstance(call.func.value, cst.Name):
            given = _positional(call)[position : position + 1]
            if call.func.value.value in names and given:
                yield ev.values(given[0], value.frame)


def _place_in(target: cst.BaseExpression, names: set[str]) -> cst.BaseExpression | None:
    """The index of a store into what has one of some names."""
    if not isinstance(target, cst.Subscript) or dotted(target.value) not in names:
        return None
    index = target.slice[0].slice
    return index.value if isinstance(index, cst.Index) and len(target.slice) == 1 else None


def _names_of(node: Node, frame: Frame, tree: Tree) -> Iterator[str]:
    """The names of a list in the function that makes it; for `tuple(xs)`, that of the list."""
    if isinstance(node, cst.Call) and last_name(node.func) in ("list", "tuple") and node.args:
        yield dotted(node.args[0].value)
    assign = tree.parent(node)
    if isinstance(assign, cst.Assign):
        yield from (each.target.value for each in assign.targets if isinstance(each.target, cst.Name))
    elif isinstance(assign, cst.Element):  # xs, ys = [], []
        yield from (
            binding.name
            for several in bindings_of(frame.scope).values()
            for binding in several
            if binding.value is not None and _is_at(binding.value, binding.path, node)
        )


_ADDED = {"append": 0, "insert": 1}


def _is_at(whole: cst.BaseExpression, path: tuple[int, ...], node: Node) -> bool:
    for position in path:
        if not isinstance(whole, cst.Tuple | cst.List) or not 0 <= position < len(whole.elements):
            return False
        whole = whole.elements[position].value
    return whole is node


# Libraries whose functions give tensors, arrays, or objects with a `pin_memory` method.
_PINNABLE = frozenset({"builtins", "numpy", "torch", "torch_geometric", "torchaudio", "torchvision"})


def _is_foreign(value: Value) -> bool:
    """Whether a value comes from a call of a library that may give objects which pinning leaves as they are.

    What has keys is a mapping as a rule, and pinning goes through those.
    """
    if isinstance(value, Element) and isinstance(value.of, Made) and isinstance(value.index, str):
        return False
    root = _path(value)[1]
    return isinstance(root, Made) and bool(root.library) and root.library.partition(".")[0] not in _PINNABLE


def _collated(ev: Evaluator, value: Value) -> Values:
    """What a collate function returns."""
    if isinstance(value, Partial):
        return _collated(ev, value.callee)
    function: Function | None = None
    if isinstance(value, Function):
        function = value
    elif isinstance(value, Method):
        function = value.function
    elif isinstance(value, Made) and isinstance(value.by, Class):
        function = classes.find_method(ev, ev.bases(value.by).classes, "__call__")
    return ev.run(function, ev.frame_of(function.scope)) if function is not None else NOTHING_KNOWN


def _is_passed_over(ev: Evaluator, value: Value) -> bool:
    """Whether pinning leaves an object as it is: one of the project's own classes without a `pin_memory` method."""
    if not isinstance(value, Made) or not isinstance(value.by, Class):
        return False
    bases = ev.bases(value.by)
    is_plain = bases.complete and all(name == "builtins.object" for name in bases.libraries)
    return is_plain and classes.find_method(ev, bases.classes, "pin_memory") is None


def _was_moved(node: cst.CSTNode, frame: Frame, depth: int = 0) -> bool:
    """Whether something in an expression, or in what its names were bound to, went to a device before."""
    tree = frame.scope.module.tree
    if node not in tree:
        return False
    for inner in tree.walk(node):
        if isinstance(inner, cst.Call) and isinstance(inner.func, cst.Attribute):
            name = inner.func.attr.value
            if name in ("to", "cuda") and not _keeps_on_cpu(inner):
                return True
        if isinstance(inner, cst.Name) and depth < 3:
            for binding in resolve(inner, tree):
                if isinstance(binding.node, cst.Param):
                    passed = frame.args.get(binding.name) if frame.args is not None else None
                    if passed is not None and passed.node is not None and passed.frame is not None:
                        if _was_moved(passed.node, passed.frame, depth + 1):
                            return True
                elif binding.value is not None and isinstance(binding.node, cst.Assign | cst.AnnAssign):
                    if _was_moved(binding.value, frame, depth + 1):
                        return True
    return False


def _keeps_on_cpu(call: cst.Call) -> bool:
    """Whether a move names the CPU or a data type."""
    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "cuda":
        return False
    given = _argument(call, "device") or next(iter(_positional(call)), None)
    if isinstance(given, cst.SimpleString):
        return given.raw_value == "cpu"
    return given is None or (
        isinstance(given, cst.Attribute) and isinstance(given.value, cst.Name) and (given.value.value == "torch")
    )
