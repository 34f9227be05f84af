"""Size classes of containers: a list or dict that grows with the data, a small one, an array, empty slots."""

from __future__ import annotations

from enum import Enum

import libcst as cst

from dataloader_lint.semantics.libraries.calls import KEYED, row
from dataloader_lint.semantics.libraries.catalogue import DICT_CLASSES, LIST_CLASSES
from dataloader_lint.semantics.limits import FORM_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    ItemOf,
    Library,
    Mapping,
    Opaque,
    Sequence,
    Value,
    Values,
    merge,
)


class Size(Enum):
    """What an attribute holds."""

    LIST = "list"
    DICT = "dict"
    ARRAY = "array"  # numpy, torch, pandas, pyarrow: no Python object for each element
    SMALL = "small"  # written out, and nothing adds to it
    SLOTS = "slots"  # `[None] * n`, to be filled with something else
    OTHER = "other"


def container_kind(value: Value) -> Size | None:
    """The form of a container that starts empty or written out; None for what is none."""
    if isinstance(value, Sequence) and value.kind not in ("generator", "set", "frozenset"):
        return Size.LIST
    if isinstance(value, CallResult) and value.library in LIST_CLASSES:
        return None if _is_bounded(value) else Size.LIST
    return Size.DICT if isinstance(value, Sequence | Mapping) or _is_dict(value) else None


def kind_of_object(ev: Evaluator, value: Value) -> Size | None:
    """The size class of an object whose class derives from a list or a dict: `class Table(UserDict)`."""
    if not isinstance(value, CallResult) or not isinstance(value.by, Class):
        return None
    libraries = ev.bases(value.by).libraries
    if any(each in LIST_CLASSES for each in libraries):
        return Size.LIST
    return Size.DICT if any(each in DICT_CLASSES for each in libraries) else None


def _is_bounded(value: CallResult) -> bool:
    """`deque(rows, 100)`, `deque(maxlen=100)`."""
    args = value.call.args if value.call is not None else ()
    return len(args) > 1 or any(arg.keyword is not None for arg in args)


def is_parsed(value: Value) -> bool:
    """True if it is what a file of JSON holds, or what stands in it under a name: a list or a dict."""
    while isinstance(value, ItemOf):
        value = value.of
    return isinstance(value, CallResult) and row(value.library).gives == "json"


def size_of(ev: Evaluator, value: Value, depth: int = 0) -> Size:
    """What one value is, as a container. `depth` counts how many containers it has been followed through."""
    if depth > FORM_DEPTH:
        return Size.OTHER
    if isinstance(value, Sequence):
        return _size_of_sequence(ev, value, depth + 1)
    if isinstance(value, Mapping):
        node = value.node
        if isinstance(node, cst.Call) and last_name(node.func) == "fromkeys":
            return _size_of_copied(ev, node, value.frame, Size.DICT, depth)
        is_long = isinstance(node, cst.DictComp) or _has_many_pairs(ev, value, depth) or has_list(ev, value, depth)
        return Size.DICT if is_long or _joins_long(ev, value, depth) else Size.SMALL
    if isinstance(value, Opaque):
        if value.kind in ("list", "list of str", "list of int"):
            return Size.LIST
        return Size.ARRAY if value.kind in ("array", "tensor", "frame") else Size.OTHER
    if isinstance(value, CallResult):
        library = value.library
        if library in LIST_CLASSES:
            return Size.OTHER if _is_bounded(value) else _size_of_copied(ev, value.call, value.frame, Size.LIST, depth)
        if library.endswith(".fromkeys") and row(library).gives in KEYED:
            return _size_of_copied(ev, value.call, value.frame, Size.DICT, depth)
        if (kind := kind_of_object(ev, value)) is not None:
            return _size_of_copied(ev, value.call, value.frame, kind, depth)
        if row(library).gives in KEYED:
            is_small = value.call is not None and len(value.call.args) <= 1 and library.startswith("collections.")
            return Size.SMALL if is_small and not _has_many_pairs(ev, value, depth) else Size.DICT
        if is_parsed(value):
            return Size.LIST
        if library.partition(".")[0] in ("numpy", "torch", "pandas", "polars", "pyarrow", "h5py"):
            return Size.ARRAY
        if library.startswith("scipy.sparse.") or (
            library.startswith("sklearn.") and library.endswith((".fit_transform", ".transform"))
        ):
            return Size.ARRAY
    return Size.LIST if is_parsed(value) else Size.OTHER


def _size_of_copied(ev: Evaluator, call: cst.Call | None, frame: Frame | None, size: Size, depth: int) -> Size:
    """How large a container is that starts with what its first argument holds: `deque(rows)`, `dict.fromkeys(ids)`."""
    given = call.args[0] if call is not None and call.args else None
    if given is None or frame is None or given.keyword is not None:
        return Size.SMALL
    return Size.SMALL if is_few(ev, given.value, frame, depth + 1) else size


def _joins_long(ev: Evaluator, value: Mapping, depth: int) -> bool:
    """True for `{**paths, "none": 0}` and `paths | extra`, where one of the dicts is long."""
    node = value.node
    parts: list[cst.BaseExpression] = []
    if isinstance(node, cst.Dict):
        parts = [each.value for each in node.elements if isinstance(each, cst.StarredDictElement)]
    elif isinstance(node, cst.BinaryOperation):
        parts = [node.left, node.right]
    elif isinstance(node, cst.Call) and not isinstance(node.func, cst.Attribute):
        parts = [arg.value for arg in node.args if arg.keyword is None]  # dict(paths)
    is_long = (Size.DICT in _sizes(ev, _mappings(ev.values(each, value.frame)), depth + 1) for each in parts)
    return any(is_long)


def _mappings(values: Values) -> Values:
    return tuple(each for each in values if isinstance(each, Mapping))


def has_list(ev: Evaluator, value: Mapping, depth: int = 0) -> bool:
    """True if a dict holds lists that grow with the data: `{"text": sorted(texts)}`, `{split: read(split) for ...}`."""
    node = value.node
    held = [each.value for each in node.elements] if isinstance(node, cst.Dict) else []
    held.extend([node.value] if isinstance(node, cst.DictComp) else [])
    return any(Size.LIST in _sizes(ev, ev.values(each, value.frame), depth + 1) for each in held)


def _has_many_pairs(ev: Evaluator, value: Mapping | CallResult, depth: int) -> bool:
    """True if a dict is made of pairs that are not written out: `dict(zip(names, paths))`, `dict(enumerate(rows))`."""
    call = value.node if isinstance(value, Mapping) else value.call
    if not is_of_pairs(value) or not isinstance(call, cst.Call) or value.frame is None:
        return False
    pairs = ev.values(call.args[0].value, value.frame)
    return bool(pairs) and all(_are_many(ev, each, depth) for each in pairs)


def is_of_pairs(value: Value) -> bool:
    """True if a dict is what a call of `dict` or `OrderedDict` makes of one thing that it is given."""
    call = value.node if isinstance(value, Mapping) else None
    if isinstance(value, CallResult) and value.library == "collections.OrderedDict":
        call = value.call
    return isinstance(call, cst.Call) and len(call.args) == 1 and call.args[0].keyword is None and not call.args[0].star


def is_dict_of_lists(value: Value) -> bool:
    """True if a dict is written out with strings as keys and a list for each: `{"path": [], "label": []}`."""
    node = value.node if isinstance(value, Mapping) else None
    if not isinstance(node, cst.Dict) or not node.elements:
        return False
    return all(
        isinstance(each, cst.DictElement)
        and isinstance(each.key, cst.SimpleString)
        and isinstance(each.value, cst.List | cst.ListComp)
        for each in node.elements
    )


def _are_many(ev: Evaluator, pairs: Value, depth: int) -> bool:
    if isinstance(pairs, Sequence) and isinstance(pairs.node, cst.ListComp | cst.GeneratorExp):
        return not is_few(ev, pairs.node.for_in.iter, pairs.frame, depth)
    if isinstance(pairs, Sequence):
        return size_of(ev, pairs, depth + 1) is Size.LIST
    if isinstance(pairs, CallResult) and pairs.library in ("builtins.filter", "builtins.map"):
        args = pairs.call.args if pairs.call is not None and pairs.frame is not None else ()
        return bool(args) and not is_few(ev, args[-1].value, pairs.frame, depth + 1)  # type: ignore[arg-type]
    return (
        isinstance(pairs, CallResult)
        and pairs.library in ("builtins.enumerate", "builtins.zip", "csv.reader")
        and not _is_small(ev, pairs, depth)
    )


def _is_dict(value: Value) -> bool:
    return (isinstance(value, CallResult) and row(value.library).gives in KEYED) or (
        isinstance(value, Sequence) and value.kind in ("set", "frozenset")
    )


def _size_of_sequence(ev: Evaluator, value: Sequence, depth: int) -> Size:
    node, frame = value.node, value.frame
    if value.kind == "generator" or isinstance(node, cst.Param):
        return Size.OTHER
    size = Size.DICT if value.kind in ("set", "frozenset") else Size.LIST
    if isinstance(node, cst.List | cst.Tuple | cst.Set | cst.Subscript) and value.items is not None:
        return Size.SMALL
    if isinstance(node, cst.Call) and value.items:
        return Size.SMALL  # a named tuple
    if isinstance(node, cst.BinaryOperation):
        sides = merge(ev.values(node.left, frame), ev.values(node.right, frame))
        sizes = _sizes(ev, sides, depth)
        if isinstance(node.operator, cst.Multiply):  # `files * repeats`: as many as there are files, and more
            return size if Size.LIST in sizes else Size.SLOTS
        return size if Size.LIST in sizes or Size.OTHER in sizes or any(map(_is_empty, sides)) else Size.SMALL
    if isinstance(node, cst.ListComp | cst.SetComp):
        source = _sources(ev, value)
        if dotted(node.elt) == "None" or _sizes(ev, source, depth) == {Size.SLOTS}:
            return Size.SLOTS
        few = bool(source) and all(_is_small(ev, each, depth) for each in source)
        return Size.SMALL if few and node.for_in.inner_for_in is None else size
    if isinstance(node, cst.Call):
        return Size.SMALL if _made_of_few(ev, node, frame, depth) else size
    if isinstance(node, cst.Subscript):  # a slice: what it is cut from decides
        if _is_short_slice(node):
            return Size.SMALL
        return size if Size.LIST in _sizes(ev, ev.values(node.value, frame), depth) else Size.OTHER
    return size


def _is_short_slice(node: cst.Subscript) -> bool:
    """`files[:10]`, `files[5:10]`."""
    cut = node.slice[0].slice if len(node.slice) == 1 else None
    if not isinstance(cut, cst.Slice) or not isinstance(cut.upper, cst.Integer):
        return False
    is_from_start = cut.lower is None or isinstance(cut.lower, cst.Integer)
    return is_from_start and cut.upper.evaluated_value < _FEW


def _sizes(ev: Evaluator, values: Values, depth: int) -> set[Size]:
    return {size_of(ev, value, depth) for value in values}


def _sources(ev: Evaluator, comprehension: Sequence) -> Values:
    """What a comprehension runs over, seen through others that pick from the same: `self.xs = [x for x in self.xs]`."""
    found: list[Values] = []
    todo, seen = [comprehension], {id(comprehension.node)}
    for each in todo:
        assert isinstance(each.node, cst.ListComp | cst.SetComp)
        for value in _iterated(ev, each.node.for_in.iter, each.frame):
            node = value.node if isinstance(value, Sequence) else None
            if not isinstance(value, Sequence) or not isinstance(node, cst.ListComp | cst.SetComp):
                found.append((value,))
            elif node.for_in.inner_for_in is not None:
                found.append((value,))
            elif id(node) not in seen:
                seen.add(id(node))
                todo.append(value)
    return merge(*found)


def _iterated(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> Values:
    """What a loop runs over, seen through `enumerate`."""
    found = ev.values(node, frame)
    if len(found) == 1 and isinstance(found[0], CallResult) and found[0].library == "builtins.enumerate":
        call, inner = found[0].call, found[0].frame
        if call is not None and inner is not None and call.args:
            return ev.values(call.args[0].value, inner)
    return found


def is_few(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int = 0) -> bool:
    """True if an expression gives the elements of a literal, so that there are few of them."""
    found = ev.values(node, frame)
    return bool(found) and all(_is_small(ev, value, depth) for value in found)


def _is_small(ev: Evaluator, value: Value, depth: int) -> bool:
    if isinstance(value, Sequence | Mapping):
        return size_of(ev, value, depth) is Size.SMALL and not _is_empty(value)
    if isinstance(value, CallResult) and value.library == "builtins.range" and value.call is not None and value.frame:
        return _is_short_range(ev, value.call, value.frame)
    if (
        isinstance(value, CallResult)
        and value.library in ("builtins.enumerate", "builtins.zip")
        and value.call is not None
    ):
        if value.frame is None or depth > FORM_DEPTH:
            return False
        iterated = [arg for arg in value.call.args if arg.keyword is None]  # not `start=1`, `strict=True`
        if value.library == "builtins.enumerate":
            iterated = iterated[:1]
        return any(_gives_few(ev, each, value.frame, depth + 1) for each in iterated)
    if isinstance(value, CallResult) and value.library in ("method.items", "method.keys", "method.values"):
        func = value.call.func if value.call is not None else None
        return isinstance(func, cst.Attribute) and is_few(ev, func.value, value.frame, depth + 1)  # type: ignore[arg-type]
    return isinstance(value, Const)


def _gives_few(ev: Evaluator, arg: cst.Arg, frame: Frame, depth: int) -> bool:
    """True if an argument of `zip` has few elements; in `zip(*(names, labels))` whether one of the columns has."""
    given = ev.values(arg.value, frame) if arg.star == "*" else ()
    columns = [each.items for each in given if isinstance(each, Sequence) and each.items]
    if not columns or len(columns) < len(given):
        return is_few(ev, arg.value, frame, depth)
    return all(any(all(_is_small(ev, each, depth) for each in column) for column in rows) for rows in columns)


_FEW = 400  # more than a circle has degrees, or a year days


def _is_short_range(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """True if a `range` has bounds that are known and close to each other."""
    bounds: list[int] = []
    for arg in call.args:
        found = ev.values(arg.value, frame)
        known = found[0].value if len(found) == 1 and isinstance(found[0], Const) else None
        if not isinstance(known, int):
            return False
        bounds.append(known)
    return 0 < len(bounds) <= 3 and bounds[2:] != [0] and len(range(*bounds)) < _FEW


def _is_empty(value: Value) -> bool:
    """True for a container that starts empty, `[]` or `set()`; its final size is unknown."""
    if not isinstance(value, Sequence | Mapping):
        return False
    if isinstance(value, Sequence) and value.kind in ("tuple", "frozenset"):
        return value.items == ()  # nothing can be put into it
    if isinstance(value.node, cst.Call):
        return not value.node.args and last_name(value.node.func) in _EMPTY
    if isinstance(value, Sequence):
        return value.items == ()
    return isinstance(value.node, cst.Dict) and not value.node.elements


_EMPTY = frozenset({"OrderedDict", "defaultdict", "deque", "dict", "frozenset", "list", "set", "tuple"})


def _made_of_few(ev: Evaluator, call: cst.Call, frame: Frame, depth: int) -> bool:
    """`list((1, 2))`, `sorted({"a", "b"})`, `list()`."""
    if not call.args:
        return not isinstance(call.func, cst.Attribute)
    names = [value.name for value in ev.values(call.func, frame) if isinstance(value, Library)]
    if not any(row(name).gives == "list" or name.startswith("builtins.") for name in names):
        return False
    if any(name in ("glob.glob", "os.listdir", "re.findall", "re.split", "linecache.getlines") for name in names):
        return False
    position = max(row(name).lists_argument for name in names)
    if position and is_few(ev, call.args[0].value, frame, depth):
        return True  # `heapq.nlargest(10, files)`
    return is_few(ev, call.args[min(position, len(call.args) - 1)].value, frame, depth)
