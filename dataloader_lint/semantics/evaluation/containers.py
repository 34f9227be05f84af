"""Elements, items, slices and displays of containers."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.callers import parameters
from dataloader_lint.semantics.classes import records
from dataloader_lint.semantics.classes.iteration import element_of_object
from dataloader_lint.semantics.dicts import sources as dict_sources
from dataloader_lint.semantics.libraries.calls import VALUE_KINDS, row
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.libraries.datasets import SEVERAL_SPLITS
from dataloader_lint.semantics.libraries.short_names import INSPECTING, MAKING_ARRAYS, SAME_ELEMENTS
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name, positional_of
from dataloader_lint.semantics.syntax.names import REST, STAR, dotted
from dataloader_lint.semantics.syntax.tree import Scope, Tree
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    UNKNOWN,
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    ItemOf,
    Iterator,
    Library,
    Mapping,
    Opaque,
    Sequence,
    Value,
    Values,
    merge,
    part,
)

# The parts of a random split are Subsets of the Dataset that is given first.
_SPLIT, _SUBSET = "torch.utils.data.random_split", "torch.utils.data.Subset"
# Gives two parts of each of its arguments, of the same kind.
_HALVES = "sklearn.model_selection.train_test_split"


def follow(ev: Evaluator, found: Values, path: tuple[int, ...]) -> Values:
    """The part of a value that unpacking assigns to the name at `path`."""
    for index in path:
        if index == REST:
            found = merge(*(_rest(ev, value) for value in found))
        else:
            found = merge(*(ev.item(value, ABSENT if index == STAR else index) for value in found))
    return found


def _rest(ev: Evaluator, value: Value) -> Values:
    """The list that `first, *rest = value` binds, where it is about as long as the value."""
    if isinstance(value, Sequence) and value.items is None and value.kind == "list":
        return (value,)
    if isinstance(value, CallResult) and value.library in _LAZY:
        return (Opaque("list"),)
    return ev.item(value, ABSENT)


def display(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    """The value of a list, tuple, set or dict display."""
    if isinstance(node, cst.Dict):
        return (Mapping(node, frame),)
    assert isinstance(node, cst.List | cst.Tuple | cst.Set)
    kind = {cst.List: "list", cst.Tuple: "tuple", cst.Set: "set"}[type(node)]
    if any(isinstance(element, cst.StarredElement) for element in node.elements) or len(node.elements) > 64:
        return (Sequence(kind, node, frame),)
    return (Sequence(kind, node, frame, tuple(ev.values(element.value, frame) for element in node.elements)),)


def element(ev: Evaluator, value: Value) -> Values:
    """What iterating over a value gives."""
    if isinstance(value, Sequence):
        return _element_of_sequence(ev, value)
    if isinstance(value, Mapping):
        return tuple(Const(key) for key in dict_sources.known_keys(ev, value)) or (Opaque("str"),)
    if isinstance(value, Iterator):
        return ev.element(value.of)
    if isinstance(value, Const) and isinstance(value.value, str):
        return (Opaque("str"),)
    if isinstance(value, CallResult) and isinstance(value.by, Class):
        return element_of_object(ev, value, value.by)
    if isinstance(value, CallResult) and value.call is not None and value.frame is not None:
        return _element_of_made(ev, value, value.call, value.frame)
    if isinstance(value, Opaque):
        return _ELEMENTS.get(value.kind, NOTHING_KNOWN)
    if value is UNKNOWN or value is ABSENT:
        return NOTHING_KNOWN
    return part(ItemOf(value))


# What these give is as long as a file or as what they run over.
_LAZY = frozenset(
    {"builtins.enumerate", "builtins.filter", "builtins.map", "builtins.open", "csv.DictReader", "csv.reader"}
)

_ELEMENTS: dict[str, Values] = {
    "str": (Opaque("str"),),
    "array": (Opaque("number"),),
    "tensor": (Opaque("tensor"),),
    "list of str": (Opaque("str"),),
    "list of int": (Opaque("int"),),
    "paths": (Opaque("path"),),
}


def _element_of_sequence(ev: Evaluator, value: Sequence) -> Values:
    node = value.node
    if value.items is not None:
        return merge(*value.items) if value.items else _appended(ev, value)
    if isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp):
        return ev.values(node.elt, value.frame)
    if isinstance(node, cst.FunctionDef):
        return _yielded(ev, value.frame)
    if isinstance(node, cst.Param):
        return parameters.element_of_rest(ev, value.frame)
    if isinstance(node, cst.BinaryOperation):
        sides = merge(ev.values(node.left, value.frame), ev.values(node.right, value.frame))
        is_repeated = isinstance(node.operator, cst.Multiply)
        return merge(*(ev.element(each) for each in sides if isinstance(each, Sequence) or not is_repeated))
    if isinstance(node, cst.Call) and not node.args and isinstance(node.func, cst.Name):  # list()
        return _appended(ev, value)
    source = node.value if isinstance(node, cst.Subscript) else None  # a slice holds what it was cut from
    if isinstance(node, cst.Call) and node.args and not node.args[0].star:  # list(x), sorted(x)
        source = node.args[_listed_position(ev, node, value.frame)].value
    return merge(*(ev.element(each) for each in ev.values(source, value.frame))) if source else NOTHING_KNOWN


def _listed_position(ev: Evaluator, call: cst.Call, frame: Frame) -> int:
    """Which argument of a call the list that it makes is made of."""
    names = [each.name for each in ev.values(call.func, frame) if isinstance(each, Library)]
    position = row(names[0]).lists_argument if len(names) == 1 else 0
    return position if position < len(call.args) else 0


def _appended(ev: Evaluator, value: Sequence) -> Values:
    """What the function that makes an empty list appends to it under the name that it gives it."""
    tree = value.frame.scope.module.tree
    assign = tree.parent(value.node) if value.node in tree else None
    if not isinstance(assign, cst.Assign | cst.AnnAssign):
        return NOTHING_KNOWN
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else assign.target
    name = dotted(target)
    scope = value.frame.scope
    found: list[Values] = []
    owners: set[int] = set()
    for owner, element in _appends(scope).get(name, ()) if name else ():
        owners.add(id(owner))
        found.append(ev.values(element, value.frame))
    is_local = isinstance(target, cst.Name) and isinstance(scope.node, cst.FunctionDef)
    if (
        is_local
        and found
        and all(
            id(each) in owners or isinstance(tree.parent(each), _KEEPING) or _only_reads(tree.parent(each), tree)
            for each in tree.named(scope.node, name)
            if each is not target
        )
    ):
        return merge(*found)
    return merge(*found, NOTHING_KNOWN)


def _appends(scope: Scope) -> dict[str, list[tuple[cst.BaseExpression, cst.BaseExpression]]]:
    """The calls `name.append(element)` of a scope by `name`: what is appended to, and the element."""

    def work_out() -> dict[str, list[tuple[cst.BaseExpression, cst.BaseExpression]]]:
        found: dict[str, list[tuple[cst.BaseExpression, cst.BaseExpression]]] = {}
        for call in scope.own(cst.Call):
            if isinstance(call.func, cst.Attribute) and call.func.attr.value == "append" and len(call.args) == 1:
                found.setdefault(dotted(call.func.value), []).append((call.func.value, call.args[0].value))
        return found

    return scope.module.tree.of_text(("appends", id(scope)), work_out)


def _only_reads(arg: cst.CSTNode | None, tree: Tree) -> bool:
    """True for an argument of a call that leaves the elements of a list what they are."""
    call = tree.parent(arg) if isinstance(arg, cst.Arg) else None
    return isinstance(call, cst.Call) and last_name(call.func) in _READING


_READING = INSPECTING | MAKING_ARRAYS | SAME_ELEMENTS | {"enumerate", "shuffle", "sum", "zip"}
_KEEPING = (cst.Return, cst.Element, cst.For, cst.Subscript)  # where a name stands and the list stays as it is


def _yielded(ev: Evaluator, frame: Frame) -> Values:
    """What a generator function yields."""
    found: list[Values] = []
    for statement in frame.scope.own(cst.Yield):
        if isinstance(statement.value, cst.From):
            found.append(merge(*(ev.element(each) for each in ev.values(statement.value.item, frame))))
        elif statement.value is not None:
            found.append(ev.values(statement.value, frame))
    return merge(*found) or NOTHING_KNOWN


def _element_of_made(ev: Evaluator, value: CallResult, call: cst.Call, frame: Frame) -> Values:
    name = value.library
    if _turns_table(value):
        return (Sequence("tuple", call, frame),)  # a column of a table, one element for each row
    positional = positional_of(call)
    if name == "builtins.enumerate" and positional:
        inner = merge(*(ev.element(each) for each in ev.values(positional[0], frame)))
        return (Sequence("tuple", call, frame, ((Opaque("int"),), inner)),)
    if name in ("builtins.zip", "itertools.product") and positional:
        columns = tuple(merge(*(ev.element(each) for each in ev.values(arg, frame))) for arg in positional)
        return (Sequence("tuple", call, frame, columns),)
    if row(name).yields_argument and positional:
        return merge(*(ev.element(each) for each in ev.values(positional[0], frame)))
    if name == "builtins.filter" and len(positional) == 2:
        return merge(*(ev.element(each) for each in ev.values(positional[1], frame))) or NOTHING_KNOWN
    if name == "builtins.map" and len(positional) == 2:
        return _mapped(ev.values(positional[0], frame))
    if name == "itertools.chain":
        return merge(*(ev.element(each) for arg in positional for each in ev.values(arg, frame))) or NOTHING_KNOWN
    if name == "itertools.chain.from_iterable" and positional:
        lists = (inner for each in ev.values(positional[0], frame) for inner in ev.element(each))
        return merge(*(ev.element(each) for each in lists)) or NOTHING_KNOWN
    if name == "builtins.range":
        return (Opaque("int"),)
    if name in LOADERS:
        return (ItemOf(value),)
    if name == _SPLIT:
        return (CallResult(Library(_SUBSET), call, frame),)
    if name in ("method.items", "method.values", "method.keys") and isinstance(call.func, cst.Attribute):
        owners = ev.values(call.func.value, frame)
        held = merge(*(ev.item(owner, ABSENT) for owner in owners))
        if name == "method.items":
            keys = merge(*(dict_sources.written_keys(ev, owner) or (Opaque("key"),) for owner in owners))
            return (Sequence("tuple", call, frame, (keys, held)),)
        return held if name == "method.values" else merge(*(ev.element(owner) for owner in owners))
    if name in ("glob.glob", "glob.iglob", "os.listdir"):
        return (Opaque("str"),)
    return NOTHING_KNOWN if name else (ItemOf(value),)


def _turns_table(value: CallResult) -> bool:
    """True if it is `zip(*rows)`."""
    call = value.call if value.library == "builtins.zip" else None
    return call is not None and len(call.args) == 1 and call.args[0].star == "*"


def _mapped(functions: Values) -> Values:
    """What `map(int, texts)` gives."""
    kinds = {row(each.name).gives if isinstance(each, Library) else "" for each in functions}
    kind = kinds.pop() if len(kinds) == 1 else ""
    return (Opaque(kind),) if kind in VALUE_KINDS else NOTHING_KNOWN


def item(ev: Evaluator, value: Value, index: object) -> Values:
    """What `value[index]` can be; `index` is ABSENT where it is no constant."""
    if isinstance(value, Sequence):
        if value.items and isinstance(index, int) and not isinstance(index, bool):
            inside = -len(value.items) <= index < len(value.items)
            return value.items[index] if inside else NOTHING_KNOWN
        return ev.element(value)
    if isinstance(value, Mapping):
        return dict_sources.any_value(ev, value)
    if isinstance(value, Opaque):
        return _ELEMENTS.get(value.kind, NOTHING_KNOWN)
    if value is UNKNOWN or value is ABSENT:
        return NOTHING_KNOWN
    if isinstance(value, Const):
        return (Opaque("str"),) if isinstance(value.value, str) else NOTHING_KNOWN
    if isinstance(value, CallResult) and value.library:
        held = _item_of_library(ev, value, index)
    else:
        held = records.element_at(ev, value, index)
    return part(ItemOf(value, None if index is ABSENT else index)) if held is None else held


def _item_of_library(ev: Evaluator, value: CallResult, index: object) -> Values | None:
    """What stands under an index in an object of a library; None where it is just a part of it."""
    name = value.library
    if name == _SPLIT:
        return (CallResult(Library(_SUBSET), value.call, value.frame),)
    if name == _HALVES and isinstance(index, int):
        return _half(ev, value, index)
    if _turns_table(value):
        return ev.element(value)
    if name.endswith(".parse_known_args") and index == 0:
        return (value,)  # the options; the rest of the command line comes after them
    if name in ("h5py.File", "h5py.Group") and isinstance(index, str):  # or a group: it lives on the file's handle
        return (CallResult(Library("h5py.Dataset"), value.call, value.frame),)
    if name in SEVERAL_SPLITS and isinstance(index, str):
        split = keyword_of(value.call, "split") if value.call is not None else None
        return (value,) if split is None else NOTHING_KNOWN  # a split, or a column
    held = records.element_at(ev, value, index)
    if held is not None:
        return held
    if name.startswith("pandas.") and isinstance(index, str):
        return (CallResult(Library("pandas.Series"), value.call, value.frame),)  # a column
    is_parsed = row(name).gives == "json" and index is ABSENT
    is_whole = name in LOADERS or is_parsed or (row(name).gives in _OF_FILES and isinstance(index, str))
    return None if is_whole else NOTHING_KNOWN


# Files of records. A YAML file holds settings, and a setting may be anything.
_OF_FILES = frozenset({"json", "object"})


def _half(ev: Evaluator, split: CallResult, index: int) -> Values:
    """One of the two parts that scikit-learn's `train_test_split` returns."""
    whole = positional_of(split.call) if split.call is not None else []
    if split.frame is None or not 0 <= index < 2 * len(whole):
        return NOTHING_KNOWN
    found = ev.values(whole[index // 2], split.frame)
    return tuple(Sequence("list", each.node, each.frame) if isinstance(each, Sequence) else each for each in found)


def sliced(node: cst.Subscript, found: Values, frame: Frame) -> Values:
    """`x[a:b]`: a shorter one of the same kind."""
    result: list[Value] = []
    for value in found:
        if isinstance(value, Sequence):
            result.append(Sequence(value.kind, node, frame))
        elif isinstance(value, Opaque):
            result.append(value)
        elif isinstance(value, Const) and isinstance(value.value, str):
            result.append(Opaque("str"))
        elif isinstance(value, ItemOf | AttributeOf) and all(_keeps_memory(each.slice) for each in node.slice):
            result.extend(part(ItemOf(value)))
        else:
            result.append(UNKNOWN)
    return merge(tuple(result))


def _keeps_memory(index: cst.BaseSlice) -> bool:
    """True if a slice or index gives a view; indexing a tensor with a mask or positions copies."""
    if isinstance(index, cst.Index):
        return isinstance(index.value, cst.Integer | cst.UnaryOperation | cst.Ellipsis) or (
            isinstance(index.value, cst.Name) and index.value.value == "None"
        )
    return True


def picked(value: Value, index: Values) -> bool:
    """True if `value[index]`, with an index that is not known, may well be a copy: a tensor that a tensor indexes."""
    if not isinstance(value, ItemOf | AttributeOf):
        return False
    if any(isinstance(each, Opaque) and each.kind in ("tensor", "array", "bool") for each in index):
        return True
    # Of a whole batch an unknown index is a key or a position; of a part of it, most likely a tensor that has these.
    is_part = isinstance(value.of, ItemOf | AttributeOf)
    return is_part and not all(isinstance(each, Const | Opaque) for each in index)
