"""What calls of libraries give, as far as it matters here, and methods of strings, containers and library objects."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts.infer import dict_contents, options, records
from dataloader_lint.facts.infer.extremes import extreme
from dataloader_lint.facts.infer.imported_by_name import IMPORTS_BY_NAME, imported_by_name
from dataloader_lint.facts.infer.values import (
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
    Function,
    ItemOf,
    Iterator,
    Library,
    Mapping,
    Opaque,
    Partial,
    Sequence,
    Value,
    Values,
    constant,
    is_positive,
    merge,
)
from dataloader_lint.facts.libraries.calls import VALUE_KINDS, row
from dataloader_lint.facts.libraries.catalogue import (
    LOADERS,
    MODULES,
    SELF_RETURNING,
)


def of_library(ev: Evaluator, callee: Library, call: cst.Call, frame: Frame) -> Values:
    name = callee.name
    model = row(name)
    first = next((arg.value for arg in call.args if arg.keyword is None and not arg.star), None)
    if model.yields_argument:
        given = first if first is not None else _keyword(call, "iterable")
        return ev.values(given, frame) if given is not None else NOTHING_KNOWN
    if ev.cuda and name in WITH_CUDA:
        return (WITH_CUDA[name],)
    if model.gives in VALUE_KINDS:
        return _typed(ev, name, first, call, frame)
    if name == "builtins.dict" or (name == "collections.OrderedDict" and not call.args):
        return (Mapping(call, frame),)
    if name in _AS_DICTS and call.args:
        return (Mapping(call, frame),)
    if model.gives == "list":
        return (Sequence("list", call, frame),)
    if name in ("builtins.tuple", "builtins.set", "builtins.frozenset"):
        return (Sequence(name.rpartition(".")[2], call, frame),)
    joined = {"builtins.sum": 1, "functools.reduce": 2}.get(name)
    if joined is not None and _are_lists(ev, [arg.value for arg in call.args][joined : joined + 1], frame):
        return (Opaque("list"),)
    if first is not None:
        if name == "builtins.type" and len(call.args) == 1:
            return merge(*(_class_of(each) for each in ev.values(first, frame)))
        if name == "builtins.iter":
            return merge(tuple(Iterator(value) for value in ev.values(first, frame)))
        if name == "builtins.next":
            return merge(*(ev.element(value) for value in ev.values(first, frame)))
        if name == "functools.reduce":
            return merge(*(_reduced(ev, each) for each in ev.values(first, frame)))
        if name == "dataclasses.replace":
            return merge(*(records.replaced(value, call, frame) for value in ev.values(first, frame)))
        if name == "functools.partial":
            return tuple(_partial(value, call, frame) for value in ev.values(first, frame))
        if model.gives_argument:
            last = call.args[-1].value if name == "typing.cast" else first
            # The copy of a dict of keywords is stored into under a name of its own, as that of `dict(x)` is.
            return tuple(Mapping(call, frame) if _is_copied(name, each) else each for each in ev.values(last, frame))
        if name == "builtins.getattr":
            return _getattr(ev, call, frame)
        if name == "builtins.isinstance" and _is_loader_of_other_type(ev, call, frame):
            return (Const(False),)
    if name in ("builtins.min", "builtins.max"):
        return extreme(ev, name, call, frame)
    if name in ("os.environ.get", "os.getenv"):
        return options.of_environment(ev, call, frame)
    if name in ("dataclasses.field", "typer.Option", "typer.Argument", "pydantic.Field"):
        return options.of_field(ev, name, call, frame)
    if name in IMPORTS_BY_NAME and (imported := imported_by_name(ev, name, call, frame)):
        return imported
    return (CallResult(callee, call, frame),)


def _is_copied(name: str, value: Value) -> bool:
    return name.startswith("copy.") and isinstance(value, Mapping) and isinstance(value.node, cst.Dict | cst.Param)


# What these give is a dict whose keys the argument decides.
_AS_DICTS = frozenset({"builtins.dict.fromkeys", "builtins.vars", "collections.ChainMap", "dataclasses.asdict"})


# Types of which no loader is an object.
_NO_LOADERS = frozenset(
    {
        *(f"builtins.{name}" for name in ("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list")),
        *(f"builtins.{name}" for name in ("set", "str", "tuple")),
        *(f"{package}.{name}" for package in ("collections.abc", "typing") for name in ("Mapping", "Sequence")),
        "torch.Tensor",
    }
)


def _is_loader_of_other_type(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """True if `isinstance` is asked of a loader whether it is a container, a number, a string or a tensor."""
    if len(call.args) != 2 or any(arg.keyword or arg.star for arg in call.args):
        return False
    types = call.args[1].value
    names = [element.value for element in types.elements] if isinstance(types, cst.Tuple) else [types]
    if not all(each in _NO_LOADERS for name in names for each in _names(ev.values(name, frame))):
        return False
    found = ev.values(call.args[0].value, frame)
    return bool(found) and all(isinstance(each, CallResult) and each.library in LOADERS for each in found)


def _names(values: Values) -> list[str]:
    return [each.name if isinstance(each, Library) else "" for each in values] or [""]


def _reduced(ev: Evaluator, value: Value) -> Values:
    """What `reduce(function, values)` gives: what the function returns, whatever it is called with."""
    return ev.run(value, ev.frame_of(value.scope)) if isinstance(value, Function) else NOTHING_KNOWN


def _class_of(value: Value) -> Values:
    return (value.by,) if isinstance(value, CallResult) and isinstance(value.by, Class | Library) else NOTHING_KNOWN


def _partial(value: Value, call: cst.Call, frame: Frame) -> Value:
    if isinstance(value, Partial):
        return Partial(value.callee, call, frame, ((value.call, value.frame), *value.before))
    return Partial(value, call, frame)


def _keyword(call: cst.Call, name: str) -> cst.BaseExpression | None:
    return next((arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def _typed(ev: Evaluator, name: str, first: cst.BaseExpression | None, call: cst.Call, frame: Frame) -> Values:
    if row(name).positive:
        return (Opaque("int", positive=True),)
    kind = row(name).gives
    converters = {"builtins.int": int, "builtins.float": float, "builtins.bool": bool, "builtins.str": str}
    if name in converters and first is not None and len(call.args) == 1:
        known = constant(ev.values(first, frame))
        if known is not None:
            try:
                return (Const(converters[name](known.value), known.default),)
            except (TypeError, ValueError, OverflowError):
                return NOTHING_KNOWN
        if name == "builtins.int" and all(is_positive(value) for value in ev.values(first, frame)):
            return (Opaque("int", positive=True),)
    return (Opaque(kind),)


def _getattr(ev: Evaluator, call: cst.Call, frame: Frame) -> Values:
    if len(call.args) < 2:
        return NOTHING_KNOWN
    name = constant(ev.values(call.args[1].value, frame))
    if name is None or not isinstance(name.value, str):
        return NOTHING_KNOWN
    found = merge(*(ev.attribute(value, name.value) for value in ev.values(call.args[0].value, frame)))
    return merge(found, ev.values(call.args[2].value, frame)) if len(call.args) > 2 else found


# What these give where CUDA is available.
WITH_CUDA: dict[str, Value] = {
    "torch.cuda.is_available": Const(True),
    "torch.accelerator.is_available": Const(True),
    "torch.backends.mps.is_available": Const(False),
    "torch.cuda.device_count": Opaque("int", positive=True),
}

# Methods whose result is known from their name and what they are called on.
_STRING_METHODS = frozenset(
    {
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "replace",
        "format",
        "join",
        "title",
        "read_text",
        "removesuffix",
        "removeprefix",
        "zfill",
        "decode",
        "as_posix",
    }
)
# Those that are worked out for a known text.
_RESPELLINGS = frozenset({"lower", "lstrip", "replace", "rstrip", "strip", "upper"})
_LISTS = frozenset(
    {
        "fetchall",
        "getmembers",
        "getnames",
        "infolist",
        "namelist",
        "readlines",
        "splitlines",
        "to_list",
        "to_pylist",
        "tolist",
    }
)
# Lists of all that an index of annotations knows, and of what a pool has made of each of many things.
_LISTS_OF = frozenset({"COCO.getAnnIds", "COCO.getImgIds", "LVIS.get_ann_ids", "LVIS.get_img_ids"}) | {
    f"{pool}.{name}" for pool in ("Pool", "ThreadPool") for name in ("map", "starmap")
}
# Methods of a tensor that return the same memory.
_VIEWS = frozenset(
    {
        "as_subclass",
        "detach",
        "flatten",
        "permute",
        "requires_grad_",
        "reshape",
        "squeeze",
        "unsqueeze",
        "view",
        "view_as",
    }
)
# Methods of a tensor that give a tensor, besides those.
_OF_TENSORS = frozenset(
    {
        "bool",
        "byte",
        "clamp",
        "clone",
        "contiguous",
        "expand",
        "int",
        "long",
        "pin_memory",
        "repeat",
        "share_memory_",
        "short",
        "t",
        "transpose",
    }
)
# Methods of an array that give an array.
_OF_ARRAYS = frozenset(
    {
        "astype",
        "clip",
        "copy",
        "flatten",
        "ravel",
        "repeat",
        "reshape",
        "round",
        "squeeze",
        "swapaxes",
        "transpose",
        "view",
    }
)
# Methods of a picture that give a picture.
_OF_IMAGES = frozenset({"convert", "copy", "crop", "filter", "quantize", "reduce", "resize", "rotate", "transpose"})
# Methods of a list that give a place or a number of times.
_COUNTING = frozenset({"count", "index"})


def of_method(ev: Evaluator, of: Value, name: str, call: cst.Call, frame: Frame) -> Values:
    """`of.name(...)` where `of` is no object of the project."""
    if name in _LISTS:
        return (Sequence("list", call, frame),)
    if name == "_asdict" and not call.args:
        return (Mapping(call, frame),)
    if name == "enter_context" and len(call.args) == 1:  # of a stack, which closes what it is given later on
        return ev.values(call.args[0].value, frame)
    if name == "_replace":
        return records.replaced(of, call, frame)
    if name == "to_dict" and _is_by_records(ev, call, frame):
        return (Opaque("list"),)
    if name == "to_dict" and not call.args and isinstance(of, CallResult) and of.library.startswith("pandas."):
        return (CallResult(Library("pandas.DataFrame.to_dict"), call, frame),)
    # A pool's: nothing else that has such a method is given a list as the second argument.
    if name in ("map", "starmap") and of is UNKNOWN and _are_lists(ev, [arg.value for arg in call.args][1:2], frame):
        return (Opaque("list"),)
    if name in ("split", "rsplit") and _splits_text(ev, of, call, frame):
        return (Opaque("list of str"),)
    if isinstance(of, Opaque | Const) and name in _STRING_METHODS:
        return _text(ev, of, name, call, frame)
    if isinstance(of, Sequence) and of.kind in ("list", "tuple") and name in _COUNTING:
        return (Opaque("int"),)
    if isinstance(of, Opaque) and of.kind == "image" and name in _OF_IMAGES:
        return (of,)
    if name in ("items", "values", "keys") and not call.args:
        return (CallResult(Library(f"method.{name}"), call, frame),)
    if name == "copy" and isinstance(of, Mapping):
        return (Mapping(call, frame),)
    if name in ("copy", "__iter__", "__enter__") and isinstance(of, Sequence | CallResult):
        return (of,)
    if name in ("get", "pop") and call.args and not isinstance(of, CallResult | AttributeOf):
        key = constant(ev.values(call.args[0].value, frame))
        if isinstance(of, Mapping) and key is not None and isinstance(call.func, cst.Attribute):
            found = dict_contents.lookup(ev, call.func.value, key.value, frame)
            fallback = ev.values(call.args[1].value, frame) if len(call.args) > 1 else (NONE,)
            return merge(tuple(v for v in found if v is not ABSENT), fallback if ABSENT in found else ())
        found = ev.item(of, ABSENT if key is None else key.value)
        if not isinstance(of, Mapping) or (name == "pop" and len(call.args) == 1):
            return found
        # A dict need not have the key.
        return merge(found, ev.values(call.args[1].value, frame) if len(call.args) > 1 else (NONE,))
    if name == "pop" and isinstance(of, ItemOf | AttributeOf):
        return ev.item(of, ABSENT)
    if name in _VIEWS and isinstance(of, ItemOf | AttributeOf):
        return (of,)
    if isinstance(of, Opaque) and of.kind == "tensor" and name in _OF_TENSORS | _VIEWS | SELF_RETURNING:
        return (of,)
    if isinstance(of, Opaque) and of.kind == "array" and name in _OF_ARRAYS:
        return (of,)
    if name in ("next", "__next__") and isinstance(of, Iterator):
        return ev.element(of)
    if name == "startswith" and isinstance(of, Const) and isinstance(of.value, str) and len(call.args) == 1:
        prefix = constant(ev.values(call.args[0].value, frame))
        if prefix is not None and isinstance(prefix.value, str):
            return (Const(of.value.startswith(prefix.value), of.default or prefix.default),)
    if isinstance(of, CallResult) and name in SELF_RETURNING and _is_module(ev, of):
        return (of,)
    if isinstance(of, CallResult) and row(of.library).gives == "json" and name == "get" and call.args:
        key = constant(ev.values(call.args[0].value, frame))
        return ev.item(of, ABSENT if key is None else key.value)
    if isinstance(of, CallResult) and of.library:
        if f"{of.library.rpartition('.')[2]}.{name}" in _LISTS_OF:
            return (Opaque("list"),)
        return (CallResult(Library(f"{of.library}.{name}"), call, frame),)
    if isinstance(of, CallResult) and isinstance(of.by, Class):
        for base in ev.bases(of.by).libraries:
            if f"{base.rpartition('.')[2]}.{name}" in _LISTS_OF:
                return (Opaque("list"),)
            return (CallResult(Library(f"{base}.{name}"), call, frame),)
    if isinstance(of, Opaque) and of.kind == "path" and name in ("glob", "rglob", "iterdir"):
        return (LISTED_PATHS,)
    if isinstance(of, Opaque) and of.kind == "path" and name == "open":
        return (CallResult(Library("pathlib.Path.open"), call, frame),)
    if isinstance(of, Opaque) and of.kind == "path":
        return (Opaque("path"),) if name in ("joinpath", "with_suffix", "resolve", "absolute") else NOTHING_KNOWN
    if isinstance(of, Library):
        return (CallResult(Library(f"{of.name}.{name}"), call, frame),)
    return NOTHING_KNOWN


def _text(ev: Evaluator, of: Opaque | Const, name: str, call: cst.Call, frame: Frame) -> Values:
    """What a method of a text gives."""
    given = [constant(ev.values(arg.value, frame)) for arg in call.args]
    texts = [each.value for each in given if each is not None and isinstance(each.value, str)]
    known = isinstance(of, Const) and isinstance(of.value, str) and len(texts) == len(given)
    if not known or name not in _RESPELLINGS or any(arg.keyword or arg.star for arg in call.args):
        return (Opaque("str"),)
    assert isinstance(of, Const)
    try:
        return (Const(getattr(of.value, name)(*texts), of.default),)
    except TypeError:
        return (Opaque("str"),)


def _are_lists(ev: Evaluator, given: list[cst.BaseExpression], frame: Frame) -> bool:
    found = merge(*(ev.values(each, frame) for each in given))
    return bool(found) and all(isinstance(each, Sequence) and each.kind == "list" for each in found)


def _is_by_records(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """`table.to_dict("records")`: a list with a dict for each row."""
    given = _keyword(call, "orient") or next((arg.value for arg in call.args if arg.keyword is None), None)
    known = constant(ev.values(given, frame)) if given is not None else None
    return known is not None and known.value == "records"


def _is_module(ev: Evaluator, value: CallResult) -> bool:
    if isinstance(value.by, Class):
        return any(base in MODULES for base in ev.bases(value.by).libraries)
    return value.library in MODULES


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
