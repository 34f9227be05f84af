"""What calls give: functions of the project, classes, and the library calls that matter here. Parameters too."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts import classes, hints, keywords, options
from dataloader_lint.facts.branches import is_reached
from dataloader_lint.facts.library import (
    LIST_MAKERS,
    MODULES,
    PASS_THROUGH,
    POSITIVE_RESULTS,
    SAME_VALUE,
    SELF_RETURNING,
    TYPED_RESULTS,
)
from dataloader_lint.facts.names import Binding, Kind, resolve
from dataloader_lint.facts.tree import Scope, function_scope
from dataloader_lint.facts.values import (
    ABSENT,
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Attr,
    Class,
    Const,
    Element,
    Evaluator,
    Frame,
    Function,
    Iterator,
    Library,
    Made,
    Mapping,
    Method,
    Partial,
    Passed,
    Sequence,
    Typed,
    Value,
    Values,
    constant,
    is_positive,
    merge,
)


def result(ev: Evaluator, callee: Value, call: cst.Call, frame: Frame) -> Values:
    """What `callee(...)` gives, for the call as written in `frame`."""
    if isinstance(callee, Library):
        return _library(ev, callee, call, frame)
    if isinstance(callee, Class):
        return (Made(callee, call, frame),)
    if isinstance(callee, Function):
        return ev.run(callee, ev.enter(callee, call, frame, None))
    if isinstance(callee, Method):
        return ev.run(callee.function, ev.enter(callee.function, call, frame, callee.receiver))
    if isinstance(callee, Partial):
        return _of_partial(ev, callee, call, frame)
    if isinstance(callee, Made) and isinstance(callee.by, Class):
        function = classes.find_method(ev, ev.bases(callee.by).classes, "__call__")
        if function is not None:
            return ev.run(function, ev.enter(function, call, frame, callee))
    if isinstance(callee, Attr):
        return _method(ev, callee.of, callee.name, call, frame)
    if isinstance(call.func, cst.Attribute):
        return _method(ev, UNKNOWN, call.func.attr.value, call, frame)
    return NOTHING_KNOWN


def _of_partial(ev: Evaluator, partial: Partial, call: cst.Call, frame: Frame) -> Values:
    before = ((partial.call, partial.frame), *partial.before)
    made = ev.call(partial.callee, call, frame)
    return tuple(
        Made(value.by, value.call, value.frame, before) if isinstance(value, Made) and value.call is call else value
        for value in made
    )


def enter(function: Function, call: cst.Call, frame: Frame, receiver: Value | None) -> Frame:
    """The frame that a call opens in a function of the project."""
    node = function.node
    skip = 1 if receiver is not None and isinstance(node, cst.FunctionDef) and not classes.is_static(node) else 0
    params = [*node.params.posonly_params, *node.params.params][skip:]
    args: dict[str, Passed] = {}
    position = 0
    for arg in call.args:
        if arg.star == "**":
            args["**"] = Passed(arg.value, frame)
        elif arg.star == "*":
            # How many arguments this stands for is not known: all parameters from here on can be anything.
            for param in params[position:]:
                args[param.name.value] = Passed(None, None)
            position = len(params)
        elif arg.keyword is not None:
            args[arg.keyword.value] = Passed(arg.value, frame)
        elif position < len(params):
            args[params[position].name.value] = Passed(arg.value, frame)
            position += 1
    return Frame(function.scope, args, receiver, function.outer, frame.depth + 1)


def function_result(ev: Evaluator, function: Function, frame: Frame) -> Values:
    """What a function returns in the given frame; a generator gives a sequence of what it yields."""
    node = function.node
    if isinstance(node, cst.Lambda):
        return ev.values(node.body, frame)
    if any(True for _ in function.scope.own(cst.Yield)):
        return (Sequence("generator", node, frame),)
    found: list[Values] = []
    for statement in function.scope.own(cst.Return):
        if is_reached(ev, statement, frame):
            found.append(ev.values(statement.value, frame) if statement.value is not None else (NONE,))
    merged = merge(*found) if found else (NONE,)
    if UNKNOWN in merged and node.returns is not None:
        declared = hints.values_of(ev, node.returns.annotation, function.outer)
        return merge(tuple(value for value in merged if value is not UNKNOWN), declared)
    return merged


def parameter(ev: Evaluator, binding: Binding, frame: Frame) -> Values:
    """What a parameter is: what this call passes, else what all calls in sight pass, else its declared default."""
    scope = binding.scope
    if frame.scope is not scope:
        frame = ev.frame_of(scope)
    param = binding.node
    assert isinstance(param, cst.Param)
    if binding.name == classes.receiver_name(scope) and classes.class_of(scope) is not None:
        return _receiver(ev, scope, frame)
    if frame.args is not None:
        found = passed(ev, param, frame)
    else:
        found = _from_callers(ev, scope, param)
        if not found:
            found = declared_default(ev, scope, param)
    if UNKNOWN in found and param.annotation is not None:
        declared = hints.values_of(ev, param.annotation.annotation, _outside(ev, scope, frame))
        return merge(tuple(value for value in found if value is not UNKNOWN), declared)
    return found


def _receiver(ev: Evaluator, scope: Scope, frame: Frame) -> Values:
    klass = classes.class_of(scope)
    assert klass is not None and isinstance(scope.node, cst.FunctionDef)
    if "classmethod" in classes.decorator_names(scope.node):
        if isinstance(frame.receiver, Class):
            return (frame.receiver,)
        return (Class(klass, ev.frame_of(klass)),)
    return (frame.receiver,) if frame.receiver is not None else NOTHING_KNOWN


def _outside(ev: Evaluator, scope: Scope, frame: Frame) -> Frame:
    """Defaults and annotations are read where the function is defined."""
    if frame.outer is not None:
        return frame.outer
    return ev.frame_of(scope.parent) if scope.parent is not None else frame


def passed(ev: Evaluator, param: cst.Param, frame: Frame) -> Values:
    """A parameter's value in a frame whose call is known; its own default where the call leaves it out."""
    assert frame.args is not None
    if param.star == "**":
        return (Mapping(param, frame),)
    if param.star == "*":
        return (Sequence("tuple", param, frame),)
    from_option = options.of_decorators(ev, frame.scope, param)
    if from_option:  # click calls the function: what is given here is the command line at most
        return from_option
    given = frame.args.get(param.name.value)
    if given is not None:
        if given.value is not None:
            return (given.value,)
        if given.node is None or given.frame is None:
            return NOTHING_KNOWN
        return ev.values(given.node, given.frame)
    default = (
        ev.values(param.default, _outside(ev, frame.scope, frame)) if param.default is not None else NOTHING_KNOWN
    )
    rest = frame.args.get("**")
    if rest is not None and rest.node is not None and rest.frame is not None:
        found = keywords.lookup(ev, rest.node, param.name.value, rest.frame)
        if ABSENT not in found:
            return found
        return merge(tuple(value for value in found if value is not ABSENT), default)
    return default


def _from_callers(ev: Evaluator, scope: Scope, param: cst.Param) -> Values:
    if param.star:
        return ()
    found: list[Values] = []
    if isinstance(scope.node, cst.Lambda):
        return _mapped_over(ev, scope)
    for call, frame, callees in ev.callers(scope):
        for callee in callees:
            entered_frame = _entered_by(ev, scope, callee, call, frame)
            if entered_frame is None or (frame.scope is scope and _hands_on_part(param, entered_frame)):
                continue
            found.append(passed(ev, param, entered_frame))
    return merge(*found)


def arguments_of_callers(ev: Evaluator, scope: Scope, name: str) -> list[tuple[cst.BaseExpression, Frame]]:
    """What the calls in sight pass for a parameter, as written."""
    found = []
    for call, frame, callees in ev.callers(scope):
        for callee in callees:
            entered_frame = _entered_by(ev, scope, callee, call, frame)
            given = entered_frame.args.get(name) if entered_frame is not None and entered_frame.args else None
            if given is not None and given.node is not None and given.frame is not None:
                found.append((given.node, given.frame))
    return found


def _hands_on_part(param: cst.Param, entered_frame: Frame) -> bool:
    """Whether a function that calls itself passes on the parameter, or a part of it that a loop gives."""
    assert entered_frame.args is not None
    given = entered_frame.args.get(param.name.value)
    if given is None or not isinstance(given.node, cst.Name):
        return False
    for binding in resolve(given.node, entered_frame.scope.module.tree):
        source: cst.CSTNode | None = binding.value
        while not isinstance(source, cst.Name):
            if isinstance(source, cst.Call) and isinstance(source.func, cst.Attribute):  # x.items(), x.values()
                source = source.func.value
            elif isinstance(source, cst.Call) and len(source.args) == 1:  # enumerate(x)
                source = source.args[0].value
            else:
                break
        is_whole = binding.kind is Kind.PARAMETER and binding.node is param
        is_part = binding.kind is Kind.ELEMENT and isinstance(source, cst.Name) and source.value == param.name.value
        if not is_whole and not is_part:
            return False
    return True


def _mapped_over(ev: Evaluator, scope: Scope) -> Values:
    """What `map(lambda x: ..., values)` passes to the lambda."""
    tree = scope.module.tree
    arg = tree.parent(scope.node)
    call = tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if isinstance(call, cst.Call) and len(call.args) == 2 and call.args[0] is arg and isinstance(call.func, cst.Name):
        frame = ev.frame_of(function_scope(tree.scope_of(call)))
        if ev.values(call.func, frame) == (Library("builtins.map"),):
            return merge(*(ev.element(value) for value in ev.values(call.args[1].value, frame)))
    return ()


def _entered_by(ev: Evaluator, scope: Scope, callee: Value, call: cst.Call, frame: Frame) -> Frame | None:
    if isinstance(callee, Function) and callee.scope is scope:
        return ev.enter(callee, call, frame, None)
    if isinstance(callee, Method) and callee.function.scope is scope:
        return ev.enter(callee.function, call, frame, callee.receiver)
    if isinstance(callee, Class):  # a construction: the call's arguments are those of __init__
        klass = classes.class_of(scope)
        if klass is not None:
            return ev.enter(Function(scope, ev.frame_of(klass)), call, frame, Made(callee, call, frame))
    return None


def declared_default(ev: Evaluator, scope: Scope, param: cst.Param) -> Values:
    """The default of a parameter that no call in sight passes; command-line decorators count as well."""
    from_option = options.of_decorators(ev, scope, param)
    if from_option:
        return from_option
    if param.star == "*":
        return (Sequence("tuple", param, ev.frame_of(scope)),)
    if param.default is None:
        return NOTHING_KNOWN
    found = ev.values(param.default, _outside(ev, scope, ev.frame_of(scope)))
    label = f"the default of parameter `{param.name.value}`"
    return tuple(Const(v.value, v.default or label) if isinstance(v, Const) else v for v in found)


def entered(value: Value) -> Values:
    """What `with value as name` gives."""
    if isinstance(value, Sequence) and value.kind == "generator":
        return NOTHING_KNOWN
    return (value,)


def _library(ev: Evaluator, callee: Library, call: cst.Call, frame: Frame) -> Values:
    name = callee.name
    first = next((arg.value for arg in call.args if arg.keyword is None and not arg.star), None)
    if name in PASS_THROUGH:
        given = first if first is not None else _keyword(call, "iterable")
        return ev.values(given, frame) if given is not None else NOTHING_KNOWN
    if ev.cuda and name in WITH_CUDA:
        return (WITH_CUDA[name],)
    if name in TYPED_RESULTS or name in POSITIVE_RESULTS:
        return _typed(ev, name, first, call, frame)
    if name == "builtins.dict" or (name == "collections.OrderedDict" and not call.args):
        return (Mapping(call, frame),)
    if name in LIST_MAKERS:
        return (Sequence("list", call, frame),)
    if name in ("builtins.tuple", "builtins.set", "builtins.frozenset"):
        return (Sequence(name.rpartition(".")[2], call, frame),)
    if first is not None:
        if name == "builtins.iter":
            return merge(tuple(Iterator(value) for value in ev.values(first, frame)))
        if name == "builtins.next":
            return merge(*(ev.element(value) for value in ev.values(first, frame)))
        if name == "functools.partial":
            return tuple(_partial(value, call, frame) for value in ev.values(first, frame))
        if name in SAME_VALUE:
            last = call.args[-1].value if name == "typing.cast" else first
            return ev.values(last, frame)
        if name == "builtins.getattr":
            return _getattr(ev, call, frame)
    if name in ("builtins.min", "builtins.max"):
        return _extreme(ev, name, call, frame)
    if name in ("os.environ.get", "os.getenv"):
        return options.of_environment(ev, call, frame)
    if name in ("dataclasses.field", "typer.Option", "typer.Argument", "pydantic.Field"):
        return options.of_field(ev, name, call, frame)
    return (Made(callee, call, frame),)


def _partial(value: Value, call: cst.Call, frame: Frame) -> Value:
    if isinstance(value, Partial):
        return Partial(value.callee, call, frame, ((value.call, value.frame), *value.before))
    return Partial(value, call, frame)


def _keyword(call: cst.Call, name: str) -> cst.BaseExpression | None:
    return next((arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def _typed(ev: Evaluator, name: str, first: cst.BaseExpression | None, call: cst.Call, frame: Frame) -> Values:
    if name in POSITIVE_RESULTS:
        return (Typed("int", positive=True),)
    kind = TYPED_RESULTS[name]
    converters = {"builtins.int": int, "builtins.float": float, "builtins.bool": bool, "builtins.str": str}
    if name in converters and first is not None and len(call.args) == 1:
        known = constant(ev.values(first, frame))
        if known is not None:
            try:
                return (Const(converters[name](known.value), known.default),)
            except (TypeError, ValueError, OverflowError):
                return NOTHING_KNOWN
        if name == "builtins.int" and all(is_positive(value) for value in ev.values(first, frame)):
            return (Typed("int", positive=True),)
    return (Typed(kind),)


def _getattr(ev: Evaluator, call: cst.Call, frame: Frame) -> Values:
    if len(call.args) < 2:
        return NOTHING_KNOWN
    name = constant(ev.values(call.args[1].value, frame))
    if name is None or not isinstance(name.value, str):
        return NOTHING_KNOWN
    found = merge(*(ev.attribute(value, name.value) for value in ev.values(call.args[0].value, frame)))
    return merge(found, ev.values(call.args[2].value, frame)) if len(call.args) > 2 else found


def _extreme(ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> Values:
    given = [ev.values(arg.value, frame) for arg in call.args if arg.keyword is None and not arg.star]
    known = [constant(values) for values in given]
    if len(given) < 2 or len(given) != len(call.args):
        if len(given) == 1:  # the smallest of a list that is written out
            return _extreme_of_list(ev, name, given[0])
        return NOTHING_KNOWN
    numbers = [value.value for value in known if value is not None and isinstance(value.value, int | float)]
    if len(numbers) == len(given):
        pick = min(numbers) if name == "builtins.min" else max(numbers)
        return (Const(pick, next((value.default for value in known if value is not None and value.default), "")),)
    sides = [all(is_positive(value) for value in values) for values in given]
    if (any if name == "builtins.max" else all)(sides):
        return (Typed("int", positive=True),)
    if name == "builtins.min" and any(number <= 0 for number in numbers):
        return (Typed("int"),)
    return NOTHING_KNOWN


def _extreme_of_list(ev: Evaluator, name: str, values: Values) -> Values:
    if len(values) != 1 or not isinstance(values[0], Sequence) or values[0].items is None:
        return NOTHING_KNOWN
    sides = [all(is_positive(value) for value in item) for item in values[0].items]
    if sides and (any if name == "builtins.max" else all)(sides):
        return (Typed("int", positive=True),)
    return NOTHING_KNOWN


# What these give where CUDA is available.
WITH_CUDA: dict[str, Value] = {
    "torch.cuda.is_available": Const(True),
    "torch.accelerator.is_available": Const(True),
    "torch.backends.mps.is_available": Const(False),
    "torch.cuda.device_count": Typed("int", positive=True),
}

# Methods whose result is known from their name and what they are called on.
_STRING_METHODS = frozenset(
    {"strip", "lstrip", "rstrip", "lower", "upper", "replace", "format", "join", "title", "read_text", "removesuffix",
     "removeprefix", "zfill", "decode", "as_posix"}
)
_LISTS = frozenset({"readlines", "splitlines", "tolist", "to_list"})
# Methods of a tensor that hand out the same memory.
_VIEWS = frozenset({"detach", "flatten", "requires_grad_", "reshape", "squeeze", "unsqueeze", "view"})


def _method(ev: Evaluator, of: Value, name: str, call: cst.Call, frame: Frame) -> Values:
    """`of.name(...)` where `of` is no object of the project."""
    if name in _LISTS:
        return (Sequence("list", call, frame),)
    if name in ("split", "rsplit") and _splits_text(ev, of, call, frame):
        return (Typed("list of str"),)
    if isinstance(of, Typed | Const) and name in _STRING_METHODS:
        return (Typed("str"),)
    if name in ("items", "values", "keys") and not call.args:
        return (Made(Library(f"method.{name}"), call, frame),)
    if name == "copy" and isinstance(of, Mapping):
        return (Mapping(call, frame),)
    if name in ("copy", "__iter__", "__enter__") and isinstance(of, Sequence | Made):
        return (of,)
    if name in ("get", "pop") and call.args and not isinstance(of, Made | Attr):
        key = constant(ev.values(call.args[0].value, frame))
        if isinstance(of, Mapping) and key is not None and isinstance(call.func, cst.Attribute):
            found = keywords.lookup(ev, call.func.value, key.value, frame)
            fallback = ev.values(call.args[1].value, frame) if len(call.args) > 1 else (NONE,)
            return merge(tuple(v for v in found if v is not ABSENT), fallback if ABSENT in found else ())
        return ev.item(of, ABSENT if key is None else key.value)
    if name == "pop" and isinstance(of, Element | Attr):
        return ev.item(of, ABSENT)
    if name in _VIEWS and isinstance(of, Element | Attr):
        return (of,)
    if name in ("next", "__next__") and isinstance(of, Iterator):
        return ev.element(of)
    if name == "startswith" and isinstance(of, Const) and isinstance(of.value, str) and len(call.args) == 1:
        prefix = constant(ev.values(call.args[0].value, frame))
        if prefix is not None and isinstance(prefix.value, str):
            return (Const(of.value.startswith(prefix.value), of.default or prefix.default),)
    if isinstance(of, Made) and name in SELF_RETURNING and _is_module(ev, of):
        return (of,)
    if isinstance(of, Made) and of.library:
        return (Made(Library(f"{of.library}.{name}"), call, frame),)
    if isinstance(of, Made) and isinstance(of.by, Class):
        for base in ev.bases(of.by).libraries:
            return (Made(Library(f"{base}.{name}"), call, frame),)
    if isinstance(of, Typed) and of.kind == "path" and name in ("glob", "rglob", "iterdir"):
        return (Iterator(Typed("paths")),)
    if isinstance(of, Typed) and of.kind == "path":
        return (Typed("path"),) if name in ("joinpath", "with_suffix", "resolve", "absolute") else NOTHING_KNOWN
    if isinstance(of, Library):
        return (Made(Library(f"{of.name}.{name}"), call, frame),)
    return NOTHING_KNOWN


def _is_module(ev: Evaluator, value: Made) -> bool:
    if isinstance(value.by, Class):
        return any(base in MODULES for base in ev.bases(value.by).libraries)
    return value.library in MODULES


def _splits_text(ev: Evaluator, of: Value, call: cst.Call, frame: Frame) -> bool:
    if isinstance(of, Typed):
        return of.kind == "str"
    if isinstance(of, Const):
        return isinstance(of.value, str)
    if not call.args:
        return True  # tensors need a size to be split
    separator = constant(ev.values(call.args[0].value, frame))
    return separator is not None and isinstance(separator.value, str)
