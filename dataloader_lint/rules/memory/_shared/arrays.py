"""Arrays and tables that a Dataset keeps as sample storage: those full of Python objects, and those read from files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.datasets.field_uses import FieldUse
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.rules.memory._shared import text_columns
from dataloader_lint.rules.memory._shared.access_patterns import has_fields
from dataloader_lint.rules.memory._shared.array_contents import TABLE_METHODS, is_numeric, makes_containers, parses
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.rules.memory._shared.element_sizes import bytes_of
from dataloader_lint.rules.memory._shared.table_columns import column_of, parsed_column
from dataloader_lint.semantics.callers.parameters import entered_by
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.dicts.contents import lookup
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.limits import ARRAY_DEPTH
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve, written_part
from dataloader_lint.semantics.syntax.origins import origins
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.size_classes import is_parsed
from dataloader_lint.semantics.values.values import (
    ABSENT,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Library,
    Mapping,
    Opaque,
    Sequence,
    Value,
    Values,
    merge,
)

_ARRAYS = frozenset(
    f"numpy.{name}" for name in ("array", "asarray", "asanyarray", "empty", "fromiter", "full", "zeros")
)
_SAME_KIND = frozenset({"copy", "flatten", "ravel", "reset_index", "reshape", "squeeze", "transpose"})


@dataclass(frozen=True, slots=True, eq=False)
class KeptArray:
    """An array of a Dataset that workers read for every sample.

    `objects` says what Python objects are in it (`object`, `dict`, `Path`, `instance`, `pickled`, `table`, `column`);
    empty for plain numbers or bytes, which `source` (`file`, `memmap`) says the origin of.
    """

    name: str
    binding: AttributeBinding
    call: cst.Call  # what makes it
    frame: Frame
    use: FieldUse
    objects: str = ""
    source: str = ""
    elements: Values = ()

    @property
    def node(self) -> Node:
        return self.binding.node

    @property
    def owner(self) -> str:
        """The name of the class that binds it."""
        return self.binding.owner

    @property
    def count(self) -> int | None:
        """How many elements it has: that is never written out."""
        return None

    @property
    def bytes_each(self) -> int | None:
        """What one element takes, its slot included; None if that is not known."""
        kind = "path" if self.objects == "Path" else "str" if self.objects.startswith("texts") else ""
        return bytes_of(self.name, (Opaque(kind),) if kind else self.elements, self.objects == "dict")

    @property
    def maker(self) -> str:
        """What made it, as written."""
        return dotted(self.call.func) or last_name(self.call.func)

    @property
    def dtype(self) -> cst.Arg | None:
        """The argument that asks for objects."""
        return next((arg for arg in self.call.args if arg.keyword is not None and arg.keyword.value == "dtype"), None)

    @property
    def element_kind(self) -> str:
        """`str`, `int` or `float` where all elements are known to be that; else empty."""
        kinds = {
            type(each.value).__name__ if isinstance(each, Const) else getattr(each, "kind", "")
            for each in self.elements
        }
        kind = kinds.pop() if len(kinds) == 1 else ""
        return kind if kind in ("str", "int", "float") else ""


def arrays_of(dataset: StoringDataset) -> Iterator[KeptArray]:
    """The arrays that are sample storage, each at the first binding that shows it."""
    tree = dataset.klass.scope.module.tree
    for name, bindings in dataset.bound().items():
        use = dataset.reads.of(name)
        if use.indexed < IndexDep.KEY and use.queried < IndexDep.KEY and not use.is_length:
            continue
        if not any(binding.node in tree for binding in bindings):
            continue
        for binding in bindings:
            found = next(_kept(dataset, binding, use), None)
            if found is not None and found.source and (binding.method.function in dataset.reads.functions):
                continue  # opened in the worker
            if found is not None:
                if binding.node in tree and not (found.objects == "pickled" and is_numeric(dataset, name)):
                    yield found
                break


def _kept(dataset: StoringDataset, binding: AttributeBinding, use: FieldUse) -> Iterator[KeptArray]:
    ev = dataset.ev
    if binding.value is None or binding.kind is not Kind.VALUE:
        return
    start = written_part(binding.value, binding.path)
    if start is None:
        return
    home = attributes.method_frame(ev, binding.method, dataset.self_value)
    yield from _found(dataset, binding, use, start, home)
    for passed, frame in _passed(ev, start, binding.method):
        yield from _found(dataset, binding, use, passed, frame)


def _passed(ev: Evaluator, node: cst.BaseExpression, method: Scope) -> Iterator[tuple[cst.BaseExpression, Frame]]:
    """What visible calls pass where an expression is a parameter, perhaps with a copy made of it: `table.copy()`."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _SAME_KIND:
        node = node.func.value
    if not isinstance(node, cst.Name):
        return
    if any(each.kind is not Kind.PARAMETER for each in resolve(node, method.module.tree)):
        return
    for call, frame, callees in ev.callers(method):
        for callee in callees:
            entered = entered_by(ev, method, callee, call, frame)
            given = (entered.args or {}).get(node.value) if entered is not None else None
            if given is not None and given.node is not None and given.frame is not None:
                yield given.node, given.frame


def _found(
    dataset: StoringDataset, binding: AttributeBinding, use: FieldUse, start: cst.BaseExpression, home: Frame
) -> Iterator[KeptArray]:
    """The arrays that an expression gives, as the attribute that is bound to it."""
    ev, is_table = dataset.ev, False
    for call, frame in _origins(ev, start, home, 0):
        for name in _libraries(ev, call, frame):
            is_table = is_table or name.startswith("pandas.")
            objects, elements = _objects(ev, name, call, frame)
            if not objects and row(name).from_elements and _keyword(call, "dtype") is None and has_fields(use):
                parsed = _elements(ev, call, frame)  # a text of JSON may be a number, but that has no fields
                objects = "dict" if parsed and all(map(is_parsed, parsed)) else ""
            if objects:
                yield KeptArray(binding.name, binding, call, frame, use, objects, "", elements)
            elif row(name).loads_array and not _is_archive(ev, call, frame):
                source = "memmap" if _may_be_mapped(ev, call, frame) else row(name).loads_array
                yield KeptArray(binding.name, binding, call, frame, use, "", source)
    own = classes.receiver_name(binding.method)
    parsed_here = parsed_column(ev, start, home, f"{own}.{binding.name}", is_table)
    if parsed_here is not None:
        parser, kind = parsed_here
        yield KeptArray(binding.name, binding, parser, home, use, kind)
    yield from _texts(dataset, binding, start, home, use)


def _texts(
    dataset: StoringDataset, binding: AttributeBinding, start: cst.BaseExpression, home: Frame, use: FieldUse
) -> Iterator[KeptArray]:
    """A table with a column of Python strings, or such a column."""
    column = column_of(start)
    for call, frame in _origins(dataset.ev, column or start, home, 0):
        if text_columns.READERS.isdisjoint(_libraries(dataset.ev, call, frame)):
            continue
        if text_columns.are_objects(dataset.ev.project, frame.scope.module):
            if text_columns.is_read_as_text(dataset, binding.name):
                yield KeptArray(binding.name, binding, call, frame, use, "texts of column" if column else "texts")


def _libraries(ev: Evaluator, call: cst.Call, frame: Frame) -> list[str]:
    names = [each.name for each in ev.values(call.func, frame) if isinstance(each, Library)]
    if (
        not names
        and isinstance(call.func, cst.Attribute)
        and call.func.attr.value in {"astype", "split", *TABLE_METHODS}
    ):
        return [f"method.{call.func.attr.value}"]
    return names


def _origins(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int) -> Iterator[tuple[cst.Call, Frame]]:
    """The calls that make what an expression gives, seen through names, functions of the project, and copies."""
    made = origins(node, frame.scope.module.tree, _same_array) if depth <= ARRAY_DEPTH else ()
    for call in made:
        if isinstance(call, cst.Call):
            entered = [inner for callee in ev.values(call.func, frame) if (inner := ev.entered(callee, call, frame))]
            for inner in entered[:1]:
                for statement in inner.scope.own(cst.Return):
                    if statement.value is not None:
                        yield from _origins(ev, statement.value, inner, depth + 1)
            if not entered:
                yield call, frame


def _same_array(node: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
    if isinstance(node, cst.Subscript):
        return () if any(_is_text(each.slice) for each in node.slice) else (node.value,)
    if isinstance(node, cst.Attribute):
        return (node.value,) if node.attr.value == "values" else ()  # the array in a table or a column
    method = node.func if isinstance(node, cst.Call) else None
    return (method.value,) if isinstance(method, cst.Attribute) and method.attr.value in _SAME_KIND else ()


def _is_text(index: cst.BaseSlice) -> bool:
    return isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString)


def _objects(ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> tuple[str, Values]:
    """What Python objects an array is full of, if any, and its elements as far as they are known."""
    if name in _ARRAYS:
        elements = _elements(ev, call, frame) if row(name).from_elements else ()
        if _asks_for_objects(ev, call, frame):
            return ("" if _are_tiny(elements) else "object"), elements
        if _keyword(call, "dtype") is None and elements:
            if all(isinstance(each, Mapping) for each in elements):
                return "dict", elements
            if all(_is_path(each) for each in elements):
                return "Path", elements
            if all(_is_instance(ev, each) for each in elements):
                return "instance", elements
        return "", ()
    if name == "numpy.load":
        allowed = _keyword(call, "allow_pickle", 2)
        found = ev.values(allowed, frame) if allowed is not None else _unpacked(ev, call, "allow_pickle", frame)
        is_allowed = bool(found) and all(isinstance(each, Const) and each.value is True for each in found)
        # numpy refuses to map Python objects: what is mapped holds numbers, whatever else is allowed.
        is_pickled = is_allowed and not _may_be_mapped(ev, call, frame) and not _is_archive(ev, call, frame)
        return ("pickled" if is_pickled else ""), ()
    if name == "method.astype":
        return ("object" if call.args and _names_object(ev, call.args[0].value, frame) else ""), ()
    if name.startswith("method."):
        return ("column" if makes_containers(call) else ""), ()
    if name.startswith("pandas.") and name.rpartition(".")[2].startswith(("read_", "DataFrame", "Series")):
        kind = "column" if name == "pandas.Series" else "table"
        if _asks_for_objects(ev, call, frame):
            return kind, ()
        if name in ("pandas.Series", "pandas.DataFrame.from_records") and _holds_containers(_elements(ev, call, frame)):
            return kind, ()
        converters = _keyword(call, "converters")
        return (kind if converters is not None and parses(converters) else ""), ()
    return "", ()


def _holds_containers(elements: Values) -> bool:
    return bool(elements) and all(isinstance(each, Mapping | Sequence) for each in elements)


def _elements(ev: Evaluator, call: cst.Call, frame: Frame) -> Values:
    if not call.args or call.args[0].star:
        return ()
    given = call.args[0].value
    inner = given.args[0].value if isinstance(given, cst.Call) and len(given.args) > 0 else given
    if any(_lists_folder(ev, each, frame) for each in (given, inner)):
        return (Opaque("path"),)
    return merge(*(ev.element(each) for each in ev.values(given, frame)))


def _lists_folder(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True if an expression is what `Path.glob` and the like give."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    owners = ev.values(node.func.value, frame)
    return node.func.attr.value in ("glob", "iterdir", "rglob") and bool(owners) and all(map(_is_path, owners))


def _is_path(value: Value) -> bool:
    return (isinstance(value, Opaque) and value.kind == "path") or (
        isinstance(value, CallResult) and value.library.startswith("pathlib.")
    )


def _is_instance(ev: Evaluator, value: Value) -> bool:
    """True for an object of a class of the project that numpy cannot take apart."""
    if not isinstance(value, CallResult) or not isinstance(value.by, Class):
        return False
    bases = ev.bases(value.by)
    is_plain = bases.complete and all(each in _PLAIN for each in bases.libraries)
    return is_plain and all(classes.find_method(ev, bases.classes, name) is None for name in _TAKEN_APART)


_PLAIN = frozenset({"abc.ABC", "builtins.object", "typing.Generic"})
_TAKEN_APART = ("__array__", "__array_interface__", "__getitem__", "__len__", "__iter__", "__float__", "__index__")


def _are_tiny(elements: Values) -> bool:
    return bool(elements) and all(
        isinstance(each, Const) and (each.value is None or isinstance(each.value, bool)) for each in elements
    )


def _may_be_mapped(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """True if `numpy.load` maps the file into memory, or an option can make it do so: then the file is fit for it."""
    mode = _keyword(call, "mmap_mode", 1)
    found = ev.values(mode, frame) if mode is not None else _unpacked(ev, call, "mmap_mode", frame)
    return not all(isinstance(each, Const) and each.value is None and not each.default for each in found)


def _unpacked(ev: Evaluator, call: cst.Call, name: str, frame: Frame) -> Values:
    """What `**options` in a call may pass under a name; empty where they surely pass nothing."""
    found = merge(*(lookup(ev, arg.value, name, frame) for arg in call.args if arg.star == "**"))
    return tuple(each for each in found if each is not ABSENT)


def _keyword(call: cst.Call, name: str, position: int | None = None) -> cst.BaseExpression | None:
    """The argument of a name, or else the one that is written at a position."""
    named = keyword_of(call, name)
    if named is not None or position is None or len(call.args) <= position:
        return named
    before = call.args[: position + 1]
    return before[-1].value if all(arg.keyword is None and not arg.star for arg in before) else None


def _asks_for_objects(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    dtype = _keyword(call, "dtype")
    return dtype is not None and _names_object(ev, dtype, frame)


def _names_object(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    found = ev.values(node, frame)
    return bool(found) and all(
        (isinstance(each, Library) and each.name in ("builtins.object", "numpy.object_", "numpy.object"))
        or (isinstance(each, Const) and each.value in ("object", "O"))
        for each in found
    )


def _is_archive(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """True if a file is known to be an `.npz`, which is read member by member."""
    first = call.args[0].value if call.args else None
    text = frame.scope.module.tree.words(first) if first is not None else ""
    found = ev.values(first, frame) if first is not None else ()
    return ".npz" in text or any(isinstance(each, Const) and str(each.value).endswith(".npz") for each in found)
