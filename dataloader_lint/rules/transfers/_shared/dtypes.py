"""Data types of the parts of a loader's batches, as far as the Dataset or the collate function shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.calls import method_row, row
from dataloader_lint.semantics.libraries.datasets import OF_CLASSES, OF_TENSORS, SELECTING
from dataloader_lint.semantics.limits import DTYPE_DEPTH, TENSOR_DEPTH
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name, parameters, positional_of
from dataloader_lint.semantics.syntax.names import Binding, Kind, resolve, written_out
from dataloader_lint.semantics.values.values import (
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    ItemOf,
    Library,
    Opaque,
    Sequence,
    Value,
)

UNKNOWN_TYPE = ""
Types = frozenset[str]  # names such as `float32`; UNKNOWN_TYPE among them means "or another"

_UNKNOWN: Types = frozenset({UNKNOWN_TYPE})
_TRANSFORMS = "torchvision.transforms."
# What the default collate_fn makes of Python's numbers.
_OF_NUMBERS = {"bool": "bool", "float": "float64", "int": "int64"}
_SPELLINGS = {"double": "float64", "float": "float32", "half": "float16", "int": "int32", "long": "int64"}


def target_type(ev: Evaluator, cast: CallResult) -> str:
    """The type that `x.float()`, `x.to(torch.float32)` or `x.type(torch.FloatTensor)` converts to, if it is known."""
    if cast.call is None or cast.frame is None:
        return UNKNOWN_TYPE
    name = last_name(cast.call.func)
    given = keyword_of(cast.call, "dtype") or next(iter(positional_of(cast.call)), None)
    return _named(ev, given, cast.frame) if name in ("to", "type") else method_row("tensor", name).dtype


def types_of_part(ev: Evaluator, loader: Loader, path: list[ItemOf | AttributeOf]) -> Types:
    """The types that a part of a loader's batches may have."""
    steps = [step.index if isinstance(step, ItemOf) else step.name for step in path]
    if loader.kind.drops_collate:
        return _UNKNOWN
    found: set[str] = set()
    for collate in loader.values("collate_fn"):
        if isinstance(collate, Const) and collate.value is None:
            for dataset in loader.values("dataset"):
                found |= _of_samples(ev, dataset, steps, 0)
        elif isinstance(collate, Function):
            found |= _Types(ev, None).returned(ev.frame_of(collate.scope), steps, 0)
        else:
            found.add(UNKNOWN_TYPE)
    return frozenset(found) or _UNKNOWN


def _of_samples(ev: Evaluator, dataset: Value, steps: list[object], depth: int) -> Types:
    """The types of a part of the samples of a Dataset, once the default collate_fn has made tensors of them."""
    if not isinstance(dataset, CallResult) or dataset.call is None or dataset.frame is None or depth > TENSOR_DEPTH:
        return _UNKNOWN
    inside = _Types(ev, dataset)
    if isinstance(dataset.by, Class):
        getter = classes.find_method(ev, ev.bases(dataset.by).classes, "__getitem__")
        if getter is None:
            return _UNKNOWN
        return inside.returned(ev.method_frame(getter.scope, dataset), steps, 0)
    given = positional_of(dataset.call)
    if dataset.library in SELECTING and given:
        inner = (_of_samples(ev, each, steps, depth + 1) for each in ev.values(given[0], dataset.frame))
        return frozenset().union(*inner) or _UNKNOWN
    place = steps[0] if steps else None
    if not isinstance(place, int):
        return _UNKNOWN
    if dataset.library in OF_TENSORS and -len(given) <= place < len(given):
        return inside.of(given[place], dataset.frame, [], 0)
    if place == 0 and dataset.library.startswith("torchvision.datasets."):
        return inside.transformed()
    if place == 1 and dataset.library in OF_CLASSES and keyword_of(dataset.call, "target_transform") is None:
        return frozenset({"int64"})
    return _UNKNOWN


def _named(ev: Evaluator, node: cst.BaseExpression | None, frame: Frame) -> str:
    """The type that an expression names: `torch.float32`, `np.int64`, `"float32"`, `torch.FloatTensor`, `float`."""
    values = ev.values(node, frame) if node is not None else ()
    if len(values) != 1:
        return UNKNOWN_TYPE
    if isinstance(values[0], Const) and isinstance(values[0].value, str):
        name = values[0].value
        return row(name).dtype or name.rpartition(".")[2]
    if not isinstance(values[0], Library):
        return UNKNOWN_TYPE
    package, _, name = values[0].name.rpartition(".")
    if package == "builtins":
        return _OF_NUMBERS.get(name, UNKNOWN_TYPE)
    if row(values[0].name).dtype:
        return row(values[0].name).dtype
    return _SPELLINGS.get(name, name) if package == "torch" else name


class _Types:
    """Finds the types of expressions, for the samples of one Dataset or for what a collate function returns."""

    def __init__(self, ev: Evaluator, dataset: CallResult | None) -> None:
        self.ev = ev
        self.dataset = dataset
        self._known: dict[tuple[int, int, tuple[object, ...]], Types] = {}

    def of_all(self, nodes: Iterable[cst.BaseExpression], frame: Frame, steps: list[object], depth: int) -> Types:
        found = [self.of(node, frame, steps, depth) for node in nodes]
        return frozenset().union(*found) or _UNKNOWN

    def of(self, node: cst.BaseExpression, frame: Frame, steps: list[object], depth: int) -> Types:
        """The types of the part of an expression that some steps lead to."""
        key = (id(node), id(frame), tuple(steps))
        if key not in self._known:
            self._known[key] = _UNKNOWN  # `x = x.clone()` in a loop asks for itself
            self._known[key] = self._found(node, frame, steps, depth)
        return self._known[key]

    def _found(self, node: cst.BaseExpression, frame: Frame, steps: list[object], depth: int) -> Types:
        if depth > DTYPE_DEPTH:
            return _UNKNOWN
        inner = _written(node, steps)
        if inner is not None:
            return self.of(inner, frame, steps[1:], depth + 1)
        if isinstance(node, cst.Name) and node in frame.scope.module.tree:
            found = [self._binding(each, frame, steps, depth + 1) for each in resolve(node, frame.scope.module.tree)]
            if found:
                return frozenset().union(*found)
        if isinstance(node, cst.IfExp):
            return self.of_all((node.body, node.orelse), frame, steps, depth + 1)
        if isinstance(node, cst.Subscript) and not steps:
            found_in = self.of(node.value, frame, [], depth + 1)
            return found_in if UNKNOWN_TYPE not in found_in else self._of_value(node, frame)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.right, cst.BaseNumber):
            left = self.of(node.left, frame, steps, depth + 1)
            return left if all(name.startswith("float") for name in left) else _UNKNOWN
        if isinstance(node, cst.Call):
            found_in = self._call(node, frame, steps, depth + 1)
            if UNKNOWN_TYPE not in found_in:
                return found_in
        return self._of_value(node, frame) if not steps else _UNKNOWN

    def returned(self, frame: Frame, steps: list[object], depth: int) -> Types:
        """The types of a part of what a function returns."""
        if isinstance(frame.scope.node, cst.Lambda):
            return self.of(frame.scope.node.body, frame, steps, depth)
        values = [each.value for each in frame.scope.own(cst.Return) if each.value is not None]
        return self.of_all(values, frame, steps, depth)

    def transformed(self) -> Types:
        """The types of what the transform that the Dataset is given makes of an image."""
        if self.dataset is None or self.dataset.call is None or self.dataset.frame is None:
            return _UNKNOWN
        named = keyword_of(self.dataset.call, "transform")
        for given in (named,) if named is not None else positional_of(self.dataset.call):
            values = self.ev.values(given, self.dataset.frame)
            if named is not None or (values and all(_is_transform(value) for value in values)):
                return frozenset().union(*(self._made_by(value) for value in values)) or _UNKNOWN
        return _UNKNOWN

    def _made_by(self, transform: Value) -> Types:
        steps = _steps_of(self.ev, transform)
        found = UNKNOWN_TYPE
        for step in steps:
            if not isinstance(step, CallResult) or not _is_transform(step):
                return _UNKNOWN
            name = step.library.rpartition(".")[2]
            if name in ("ConvertImageDtype", "ToDtype"):
                given = positional_of(step.call)[:1] if step.call is not None else []
                found = _named(self.ev, given[0], step.frame) if given and step.frame is not None else UNKNOWN_TYPE
            elif name in ("Lambda", "RandomApply", "RandomChoice"):
                found = UNKNOWN_TYPE
            else:
                found = row(step.library).dtype or found
        return frozenset({found})

    def _binding(self, binding: Binding, frame: Frame, steps: list[object], depth: int) -> Types:
        if binding.kind is Kind.PARAMETER and binding.scope is frame.scope:
            given = frame.args.get(binding.name) if frame.args is not None else None
            if given is not None and given.node is not None and given.frame is not None:
                return self.of(given.node, given.frame, steps, depth)
            return frozenset({"int64"}) if _is_index(binding) and not steps and self.dataset else _UNKNOWN
        if binding.kind is not Kind.VALUE or binding.value is None:
            return _UNKNOWN
        value, left = written_out(binding.value, binding.path)
        if isinstance(value, cst.Dict) or (isinstance(value, cst.Call) and last_name(value.func) == "dict"):
            stored = [
                assign.value
                for assign in binding.scope.own(cst.Assign)
                if any(_stores_under(each.target, binding.name, steps) for each in assign.targets)
            ]
            if stored:
                return self.of_all(stored, frame, steps[1:], depth)
        return self.of(value, frame, [*left, *steps], depth)

    def _of_value(self, node: cst.BaseExpression, frame: Frame) -> Types:
        """The types that the default collate_fn gives to Python's numbers."""
        found: set[str] = set()
        for value in self.ev.values(node, frame) if self.dataset is not None else ():
            kind = value.kind if isinstance(value, Opaque) else ""
            found.add(_OF_NUMBERS.get(type(value.value).__name__ if isinstance(value, Const) else kind, UNKNOWN_TYPE))
        return frozenset(found) or _UNKNOWN

    def _call(self, node: cst.Call, frame: Frame, steps: list[object], depth: int) -> Types:
        found: set[str] = set()
        for callee in self.ev.values(node.func, frame):
            if isinstance(callee, Library):
                found |= self._library(callee.name, node, frame, depth)
            elif inner := self.ev.entered(callee, node, frame):
                found |= self.returned(inner, steps, depth)
            elif _is_transform(callee):
                found |= self._made_by(callee) if self._are_images(node, frame) else _UNKNOWN
            else:
                found |= self._method(node, frame, depth)
        return frozenset(found) or _UNKNOWN

    def _library(self, name: str, node: cst.Call, frame: Frame, depth: int) -> Types:
        given = keyword_of(node, "dtype")
        if given is not None:
            return frozenset({_named(self.ev, given, frame)})
        if row(name).dtype:
            return frozenset({row(name).dtype})
        first = next(iter(positional_of(node)), None)
        if first is None:
            return _UNKNOWN
        if row(name).joins and isinstance(first, cst.List | cst.Tuple):
            return self.of_all((element.value for element in first.elements), frame, [], depth)
        if name in ("torch.tensor", "torch.as_tensor"):
            found = self._of_value(first, frame)
            return frozenset("float32" if each == "float64" else each for each in found)
        is_same = name in ("torch.from_numpy", "numpy.asarray", "numpy.ascontiguousarray")
        return self.of(first, frame, [], depth) if is_same else _UNKNOWN

    def _method(self, node: cst.Call, frame: Frame, depth: int) -> Types:
        """The type that a method of a tensor or an array gives, whatever made it."""
        if not isinstance(node.func, cst.Attribute):
            return _UNKNOWN
        name, given = node.func.attr.value, next(iter(positional_of(node)), None)
        if name == "transform" and self._are_images(node, frame):  # stored by a base class of the library
            return self.transformed()
        if name in ("astype", "to", "type"):
            return frozenset({_named(self.ev, keyword_of(node, "dtype") or given, frame)})
        model = method_row("tensor", name)
        if model.dtype:
            return frozenset({model.dtype})
        is_same = model.gives == "tensor" or method_row("array", name).gives == "array"
        return self.of(node.func.value, frame, [], depth) if is_same else _UNKNOWN

    def _are_images(self, node: cst.Call, frame: Frame) -> bool:
        """True unless a transform is given an array: of one of float64, ToTensor makes a tensor of float64."""
        first = next(iter(positional_of(node)), None)
        if first is None or isinstance(first, cst.BinaryOperation):
            return False
        bound = resolve(first, frame.scope.module.tree) if isinstance(first, cst.Name) else []
        if any(isinstance(each.value, cst.BinaryOperation) or each.kind is Kind.AUGMENTED for each in bound):
            return False
        return not any(isinstance(value, Opaque) and value.kind == "array" for value in self.ev.values(first, frame))


def _written(node: cst.BaseExpression, steps: list[object]) -> cst.BaseExpression | None:
    """The part of a display that the first step leads to."""
    if not steps:
        return None
    if isinstance(node, cst.Tuple | cst.List) and isinstance(steps[0], int):
        if any(isinstance(each, cst.StarredElement) for each in node.elements):
            return None
        return node.elements[steps[0]].value if -len(node.elements) <= steps[0] < len(node.elements) else None
    if isinstance(node, cst.Dict):
        for element in node.elements:
            if isinstance(element, cst.DictElement) and isinstance(element.key, cst.SimpleString):
                if element.key.evaluated_value == steps[0]:
                    return element.value
    if isinstance(node, cst.Call) and last_name(node.func) == "dict" and isinstance(steps[0], str):
        return keyword_of(node, steps[0])
    return None


def _is_transform(value: Value | None) -> bool:
    return isinstance(value, CallResult) and value.library.startswith(_TRANSFORMS)


def _steps_of(ev: Evaluator, transform: Value) -> Iterator[Value | None]:
    """The transforms that a Compose applies, in order; a transform alone is one; None for what is unknown."""
    if not isinstance(transform, CallResult) or transform.call is None or transform.frame is None:
        yield None
        return
    if transform.library.rpartition(".")[2] != "Compose":
        yield transform
        return
    for given in positional_of(transform.call)[:1]:
        for value in ev.values(given, transform.frame):
            items = value.items if isinstance(value, Sequence) else None
            for item in items or ((None,),):
                yield item[0] if len(item) == 1 else None


def _stores_under(target: cst.BaseExpression, name: str, steps: list[object]) -> bool:
    """True for `name["key"]`, where `key` is the first step."""
    if not steps or not isinstance(target, cst.Subscript) or len(target.slice) != 1:
        return False
    index = target.slice[0].slice
    key = index.value if isinstance(index, cst.Index) else None
    is_key = isinstance(key, cst.SimpleString) and key.evaluated_value == steps[0]
    return is_key and isinstance(target.value, cst.Name) and target.value.value == name


def _is_index(binding: Binding) -> bool:
    """True for the index of `__getitem__`."""
    node = binding.scope.node
    if not isinstance(node, cst.FunctionDef) or node.name.value != "__getitem__":
        return False
    return [each.name.value for each in parameters(node)][1:2] == [binding.name]
