"""What methods of strings, containers, parts of batches and library objects give."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from dataloader_lint.semantics.classes import records
from dataloader_lint.semantics.dicts import contents as dict_contents
from dataloader_lint.semantics.evaluation.imported_by_name import loaded_from
from dataloader_lint.semantics.evaluation.loader_calls import loader_of
from dataloader_lint.semantics.libraries.calls import method_row, row
from dataloader_lint.semantics.libraries.catalogue import MODULES, SELF_RETURNING
from dataloader_lint.semantics.limits import TEXT_LENGTH
from dataloader_lint.semantics.syntax.expressions import keyword_of
from dataloader_lint.semantics.values import operators
from dataloader_lint.semantics.values.values import (
    ABSENT,
    LISTED_PATHS,
    NONE,
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
    constant,
    merge,
)

# What a method gives, or None where it is not the one that is meant.
_Answer = Callable[[Evaluator, Value, str, cst.Call, Frame], Values | None]


def of_method(ev: Evaluator, of: Value, name: str, call: cst.Call, frame: Frame) -> Values:
    """What `of.name(...)` gives, where `of` is no object of the project."""
    if method_row("any", name).gives == "list":
        return (Sequence("list", call, frame),)
    for answer in (_BY_NAME.get(name), _BY_TYPE.get(type(of))):
        found = answer(ev, of, name, call, frame) if answer is not None else None
        if found is not None:
            return found
    return NOTHING_KNOWN


# Methods that mean the same on most objects that have them.


def _as_dict(_ev: Evaluator, _of: Value, _name: str, call: cst.Call, frame: Frame) -> Values | None:
    return None if call.args else (Mapping(call, frame),)


def _entered(ev: Evaluator, _of: Value, _name: str, call: cst.Call, frame: Frame) -> Values | None:
    """`stack.enter_context(x)`, which closes what it is given later on."""
    return ev.values(call.args[0].value, frame) if len(call.args) == 1 else None


def _replaced(_ev: Evaluator, of: Value, _name: str, call: cst.Call, frame: Frame) -> Values:
    return records.replaced(of, call, frame)


def _loaded_module(ev: Evaluator, of: Value, _name: str, _call: cst.Call, _frame: Frame) -> Values | None:
    """`SourceFileLoader(name, path).load_module()`."""
    return loaded_from(ev, (of,)) or None


def _of_table(ev: Evaluator, of: Value, _name: str, call: cst.Call, frame: Frame) -> Values | None:
    """`table.to_dict()`, and `table.to_dict("records")`, a list with a dict for each row."""
    given = keyword_of(call, "orient") or next((arg.value for arg in call.args if arg.keyword is None), None)
    known = constant(ev.values(given, frame)) if given is not None else None
    if known is not None and known.value == "records":
        return (Opaque("list"),)
    if not call.args and isinstance(of, CallResult) and of.library.startswith("pandas."):
        return (CallResult(Library("pandas.DataFrame.to_dict"), call, frame),)
    return None


def _of_pool(ev: Evaluator, of: Value, _name: str, call: cst.Call, frame: Frame) -> Values | None:
    """`pool.map(function, lists)`: nothing else that has such a method is given a list as the second argument."""
    given = [arg.value for arg in call.args][1:2]
    return (Opaque("list"),) if of is UNKNOWN and are_lists(ev, given, frame) else None


def _split(ev: Evaluator, of: Value, _name: str, call: cst.Call, frame: Frame) -> Values | None:
    if isinstance(of, Const) and isinstance(of.value, str) and len(of.value) <= TEXT_LENGTH and len(call.args) < 2:
        separator = constant(ev.values(call.args[0].value, frame)) if call.args else NONE
        if separator is not None and (
            separator.value is None or (isinstance(separator.value, str) and separator.value)
        ):
            parts = of.value.split(separator.value)
            return (Sequence("list", call, frame, tuple((Const(each, of.default),) for each in parts)),)
    return (Opaque("list of str"),) if _splits_text(ev, of, call, frame) else None


def _splits_text(ev: Evaluator, of: Value, call: cst.Call, frame: Frame) -> bool:
    if isinstance(of, Opaque):
        return of.kind == "str"
    if isinstance(of, Const):
        return isinstance(of.value, str)
    if isinstance(of, AttributeOf) and of.name == "str":
        return False  # `table["text"].str.split()` gives a column
    if not call.args:
        return True  # tensors need a size to be split
    separator = constant(ev.values(call.args[0].value, frame))
    return separator is not None and isinstance(separator.value, str)


def _dict_view(_ev: Evaluator, _of: Value, name: str, call: cst.Call, frame: Frame) -> Values | None:
    return None if call.args else (CallResult(Library(f"method.{name}"), call, frame),)


def _itself(_ev: Evaluator, of: Value, name: str, call: cst.Call, frame: Frame) -> Values | None:
    if name == "copy" and isinstance(of, Mapping):
        return (Mapping(call, frame),)  # stored into under a name of its own
    return (of,) if isinstance(of, Sequence | CallResult) else None


def _taken(ev: Evaluator, of: Value, name: str, call: cst.Call, frame: Frame) -> Values | None:
    """What `get` or `pop` takes out of a container."""
    if isinstance(of, CallResult) and not (name == "get" and row(of.library).gives == "json"):
        return None
    if isinstance(of, AttributeOf) or not call.args:
        return ev.item(of, ABSENT) if name == "pop" and isinstance(of, ItemOf | AttributeOf) else None
    known = constant(ev.values(call.args[0].value, frame))
    key = ABSENT if known is None else known.value
    if not isinstance(of, Mapping):
        return ev.item(of, key)
    if known is not None and isinstance(call.func, cst.Attribute):
        found = dict_contents.lookup(ev, call.func.value, key, frame)
        return merge(tuple(v for v in found if v is not ABSENT), _fallback(ev, call, frame) if ABSENT in found else ())
    if name == "pop" and len(call.args) == 1:
        return ev.item(of, key)
    return merge(ev.item(of, key), _fallback(ev, call, frame))  # a dict need not have the key


def _fallback(ev: Evaluator, call: cst.Call, frame: Frame) -> Values:
    return ev.values(call.args[1].value, frame) if len(call.args) > 1 else (NONE,)


def _next(ev: Evaluator, of: Value, _name: str, _call: cst.Call, _frame: Frame) -> Values | None:
    return ev.element(of) if isinstance(of, Iterator) else None


_BY_NAME: dict[str, _Answer] = {
    "_asdict": _as_dict,
    "enter_context": _entered,
    "load_module": _loaded_module,
    "_replace": _replaced,
    "to_dict": _of_table,
    **dict.fromkeys(("map", "starmap"), _of_pool),
    **dict.fromkeys(("split", "rsplit"), _split),
    **dict.fromkeys(("items", "keys", "values"), _dict_view),
    **dict.fromkeys(("copy", "__iter__", "__enter__"), _itself),
    **dict.fromkeys(("get", "pop"), _taken),
    **dict.fromkeys(("next", "__next__"), _next),
}


# Methods of one type of value.


def _of_plain_value(ev: Evaluator, of: Value, name: str, call: cst.Call, frame: Frame) -> Values | None:
    assert isinstance(of, Opaque | Const)
    if method_row("str", name).gives:
        return _text(ev, of, name, call, frame)
    if isinstance(of, Const):
        return _starts_with(ev, of, name, call, frame)
    model = method_row(of.kind, name)
    if model.gives == "paths":
        return (LISTED_PATHS,)
    if model.opens:
        return (CallResult(Library("pathlib.Path.open"), call, frame),)
    return (Opaque(model.gives),) if model.gives else None


def _text(ev: Evaluator, of: Opaque | Const, name: str, call: cst.Call, frame: Frame) -> Values:
    """What a method of a text gives."""
    given = [constant(ev.values(arg.value, frame)) for arg in call.args]
    texts = [each.value for each in given if each is not None and isinstance(each.value, str)]
    known = isinstance(of, Const) and isinstance(of.value, str) and len(texts) == len(given)
    if name == "format" and isinstance(of, Const):
        return (operators.text_after(of.value),)
    if not known or name not in _RESPELLINGS or any(arg.keyword or arg.star for arg in call.args):
        return (Opaque("str"),)
    assert isinstance(of, Const) and isinstance(of.value, str)
    if any(len(each) > TEXT_LENGTH for each in (of.value, *texts)):
        return (Opaque("str"),)
    try:
        return (Const(getattr(of.value, name)(*texts), of.default),)
    except TypeError:
        return (Opaque("str"),)


# Methods that are worked out for a known text.
_RESPELLINGS = frozenset({"lower", "lstrip", "replace", "rstrip", "strip", "upper"})


def _starts_with(ev: Evaluator, of: Const, name: str, call: cst.Call, frame: Frame) -> Values | None:
    if name != "startswith" or not isinstance(of.value, str) or len(call.args) != 1:
        return None
    prefix = constant(ev.values(call.args[0].value, frame))
    if prefix is None or not isinstance(prefix.value, str):
        return None
    return (Const(of.value.startswith(prefix.value), of.default or prefix.default),)


def _of_container(_ev: Evaluator, of: Value, name: str, _call: cst.Call, _frame: Frame) -> Values | None:
    assert isinstance(of, Sequence)
    kind = method_row(of.kind, name).gives
    return (Opaque(kind),) if kind else None


def _of_part(ev: Evaluator, of: Value, name: str, call: cst.Call, frame: Frame) -> Values | None:
    """A view of a part of a batch is in the same memory; a cast of it may be, which `transfers/dtypes.py` decides."""
    model = method_row("tensor", name)
    if model.gives_argument:
        return (of,)
    if not (model.dtype or name in ("contiguous", "to", "type")):
        return None
    root: Value = of
    while isinstance(root, ItemOf | AttributeOf):
        root = root.of
    return (CallResult(Library(f"torch.Tensor.{name}"), call, frame),) if loader_of(ev, root) is not None else None


def _of_object(ev: Evaluator, of: Value, name: str, call: cst.Call, frame: Frame) -> Values | None:
    """What a method of an object of a library's class gives, or of a class of the project that derives from one."""
    assert isinstance(of, CallResult)
    libraries = ev.bases(of.by).libraries if isinstance(of.by, Class) else (of.library,)
    if name in SELF_RETURNING and any(library in MODULES for library in libraries):
        return (of,)
    if not libraries or not libraries[0]:
        return None
    kind = method_row(libraries[0].rpartition(".")[2], name).gives
    if kind in ("array", "list"):
        return (Opaque(kind),)
    return (CallResult(Library(f"{libraries[0]}.{name}"), call, frame),)


def _of_library(_ev: Evaluator, of: Value, name: str, call: cst.Call, frame: Frame) -> Values:
    assert isinstance(of, Library)
    return (CallResult(Library(f"{of.name}.{name}"), call, frame),)


_BY_TYPE: dict[type, _Answer] = {
    Opaque: _of_plain_value,
    Const: _of_plain_value,
    Sequence: _of_container,
    ItemOf: _of_part,
    AttributeOf: _of_part,
    CallResult: _of_object,
    Library: _of_library,
}


def are_lists(ev: Evaluator, given: list[cst.BaseExpression], frame: Frame) -> bool:
    """True if all of some expressions, of which there is one at least, are known to be lists."""
    found = merge(*(ev.values(each, frame) for each in given))
    return bool(found) and all(isinstance(each, Sequence) and each.kind == "list" for each in found)
