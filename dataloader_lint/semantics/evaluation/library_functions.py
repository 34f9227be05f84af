"""What calls of functions and classes of libraries give, as far as it matters here."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from dataloader_lint.semantics.classes import records
from dataloader_lint.semantics.evaluation.imported_by_name import (
    IMPORTS_BY_NAME,
    LOADS_BY_PATH,
    imported_by_name,
    loaded_by_path,
)
from dataloader_lint.semantics.evaluation.library_methods import are_lists
from dataloader_lint.semantics.libraries.calls import VALUE_KINDS, row
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.syntax.expressions import keyword_of, positional_of
from dataloader_lint.semantics.values import options
from dataloader_lint.semantics.values.known_values import extreme, is_positive
from dataloader_lint.semantics.values.values import (
    NOTHING_KNOWN,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    Iterator,
    Library,
    Mapping,
    Opaque,
    Partial,
    Sequence,
    Value,
    Values,
    constant,
    merge,
)

# What a call gives, or None where the call does not say.
_Answer = Callable[[Evaluator, str, cst.Call, Frame], Values | None]


def of_library(ev: Evaluator, callee: Library, call: cst.Call, frame: Frame) -> Values:
    """What a call of a function or class of a library gives."""
    name = callee.name
    if ev.cuda and name in WITH_CUDA:
        return (WITH_CUDA[name],)
    for answer in (_of_row, _FUNCTIONS.get(name)):
        found = answer(ev, name, call, frame) if answer is not None else None
        if found is not None:
            return found
    return (CallResult(callee, call, frame),)


def _of_row(ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> Values | None:
    """What the row of a function says of what it gives."""
    model = row(name)
    if model.yields_argument:
        given = _first(call) or keyword_of(call, "iterable")
        return ev.values(given, frame) if given is not None else NOTHING_KNOWN
    if model.gives in VALUE_KINDS:
        return _typed(ev, name, call, frame)
    if model.gives == "list":
        return (Sequence("list", call, frame),)
    if model.gives_argument and _first(call) is not None:
        given = call.args[-1].value if name == "typing.cast" else _first(call)
        assert given is not None
        # The copy of a dict of keywords is stored into under a name of its own, as that of `dict(x)` is.
        return tuple(Mapping(call, frame) if _is_copied(name, each) else each for each in ev.values(given, frame))
    return None


def _first(call: cst.Call) -> cst.BaseExpression | None:
    return next(iter(positional_of(call)), None)


def _is_copied(name: str, value: Value) -> bool:
    return name.startswith("copy.") and isinstance(value, Mapping) and isinstance(value.node, cst.Dict | cst.Param)


def _typed(ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> Values:
    """A plain value of the kind that the row names; worked out where a known constant is converted."""
    if row(name).positive:
        return (Opaque("int", positive=True),)
    converter = _CONVERTERS.get(name)
    first = _first(call)
    if converter is not None and first is not None and len(call.args) == 1:
        known = constant(ev.values(first, frame))
        if known is not None:
            try:
                return (Const(converter(known.value), known.default),)
            except (TypeError, ValueError, OverflowError):
                return NOTHING_KNOWN
        if name == "builtins.int" and all(is_positive(value) for value in ev.values(first, frame)):
            return (Opaque("int", positive=True),)
    return (Opaque(row(name).gives),)


_CONVERTERS: dict[str, Callable[..., object]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.bool": bool,
    "builtins.str": str,
}


# Functions whose result no column of a row can say.


def _given(answer: Callable[[Evaluator, Value, cst.Call, Frame], Values]) -> _Answer:
    """The results of a function applied to each value that the first argument can be."""

    def of_call(ev: Evaluator, _name: str, call: cst.Call, frame: Frame) -> Values | None:
        first = _first(call)
        if first is None:
            return None
        return merge(*(answer(ev, each, call, frame) for each in ev.values(first, frame)))

    return of_call


def _dict(_ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> Values | None:
    """A dict of what is passed; nothing is known of the order of an OrderedDict, so it has to be empty."""
    if name == "collections.OrderedDict":
        return None if call.args else (Mapping(call, frame),)
    return (Mapping(call, frame),) if call.args or name == "builtins.dict" else None


def _collection(_ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> Values:
    return (Sequence(name.rpartition(".")[2], call, frame),)


def _sum(ev: Evaluator, _name: str, call: cst.Call, frame: Frame) -> Values | None:
    """`sum(lists, [])`."""
    return (Opaque("list"),) if are_lists(ev, [arg.value for arg in call.args][1:2], frame) else None


def _reduce(ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> Values | None:
    """`reduce(function, values)` gives what the function returns, whatever it is called with."""
    if are_lists(ev, [arg.value for arg in call.args][2:3], frame):
        return (Opaque("list"),)
    return _returned(ev, name, call, frame)


@_given
def _returned(ev: Evaluator, value: Value, _call: cst.Call, _frame: Frame) -> Values:
    return ev.run(value, ev.frame_of(value.scope)) if isinstance(value, Function) else NOTHING_KNOWN


def _type(ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> Values | None:
    return _class_of(ev, name, call, frame) if len(call.args) == 1 else None


@_given
def _class_of(_ev: Evaluator, value: Value, _call: cst.Call, _frame: Frame) -> Values:
    return (value.by,) if isinstance(value, CallResult) and isinstance(value.by, Class | Library) else NOTHING_KNOWN


@_given
def _iterator(_ev: Evaluator, value: Value, _call: cst.Call, _frame: Frame) -> Values:
    return (value if isinstance(value, Iterator) else Iterator(value),)


@_given
def _next(ev: Evaluator, value: Value, _call: cst.Call, _frame: Frame) -> Values:
    return ev.element(value)


@_given
def _replaced(_ev: Evaluator, value: Value, call: cst.Call, frame: Frame) -> Values:
    return records.replaced(value, call, frame)


@_given
def _partial(_ev: Evaluator, value: Value, call: cst.Call, frame: Frame) -> Values:
    if isinstance(value, Partial):
        return (Partial(value.callee, call, frame, ((value.call, value.frame), *value.before)),)
    return (Partial(value, call, frame),)


def _getattr(ev: Evaluator, _name: str, call: cst.Call, frame: Frame) -> Values | None:
    first = _first(call)
    if first is None or len(call.args) < 2:
        return None if first is None else NOTHING_KNOWN
    name = constant(ev.values(call.args[1].value, frame))
    if name is None or not isinstance(name.value, str):
        return NOTHING_KNOWN
    found = merge(*(ev.attribute(value, name.value) for value in ev.values(call.args[0].value, frame)))
    return found if len(call.args) < 3 else merge(found, ev.values(call.args[2].value, frame))


def _isinstance(ev: Evaluator, _name: str, call: cst.Call, frame: Frame) -> Values | None:
    """False where a loader is asked whether it is a container, a number, a string or a tensor."""
    if len(call.args) != 2 or any(arg.keyword or arg.star for arg in call.args):
        return None
    types = call.args[1].value
    names = [element.value for element in types.elements] if isinstance(types, cst.Tuple) else [types]
    if not all(_is_no_loader(ev.values(name, frame)) for name in names):
        return None
    found = ev.values(call.args[0].value, frame)
    are_loaders = bool(found) and all(isinstance(each, CallResult) and each.library in LOADERS for each in found)
    return (Const(False),) if are_loaders else None


def _is_no_loader(types: Values) -> bool:
    return bool(types) and all(isinstance(each, Library) and each.name in _NO_LOADERS for each in types)


# Types of which no loader is an object.
_NO_LOADERS = frozenset(
    {
        *(f"builtins.{name}" for name in ("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list")),
        *(f"builtins.{name}" for name in ("set", "str", "tuple")),
        *(f"{package}.{name}" for package in ("collections.abc", "typing") for name in ("Mapping", "Sequence")),
        "torch.Tensor",
    }
)


def _environment(ev: Evaluator, _name: str, call: cst.Call, frame: Frame) -> Values:
    return options.of_environment(ev, call, frame)


def _imported(ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> Values | None:
    return imported_by_name(ev, name, call, frame) or None


def _loaded(ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> Values | None:
    return loaded_by_path(ev, name, call, frame) or None


_DICTS = ("builtins.dict", "builtins.dict.fromkeys", "builtins.vars", "collections.ChainMap", "dataclasses.asdict")
_FIELDS = ("dataclasses.field", "typer.Option", "typer.Argument", "pydantic.Field")
_FUNCTIONS: dict[str, _Answer] = {
    **dict.fromkeys((*_DICTS, "collections.OrderedDict"), _dict),
    **dict.fromkeys(("builtins.tuple", "builtins.set", "builtins.frozenset"), _collection),
    **dict.fromkeys(("builtins.min", "builtins.max"), extreme),
    **dict.fromkeys(("os.environ.get", "os.getenv"), _environment),
    **dict.fromkeys(_FIELDS, options.of_field),
    **dict.fromkeys(IMPORTS_BY_NAME, _imported),
    **dict.fromkeys(LOADS_BY_PATH, _loaded),
    "builtins.getattr": _getattr,
    "builtins.isinstance": _isinstance,
    "builtins.iter": _iterator,
    "builtins.next": _next,
    "builtins.sum": _sum,
    "builtins.type": _type,
    "dataclasses.replace": _replaced,
    "functools.partial": _partial,
    "functools.reduce": _reduce,
}


# What these give where CUDA is available.
WITH_CUDA: dict[str, Value] = {
    "torch.cuda.is_available": Const(True),
    "torch.accelerator.is_available": Const(True),
    "torch.backends.mps.is_available": Const(False),
    "torch.cuda.device_count": Opaque("int", positive=True),
}
