"""Defaults that a program declares for its user: argparse, click, typer, dataclass fields, environment variables."""

from __future__ import annotations

import re

import libcst as cst

from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.attribute_stores import stores_to
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, Tree
from dataloader_lint.semantics.values.values import (
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    CallResult,
    Const,
    Evaluator,
    Frame,
    Function,
    Library,
    Opaque,
    Value,
    Values,
    constant,
    merge,
)

_ASKS_FOR_GPU = re.compile(r"(?:use_|enable_|with_)?(?:cuda|gpu|accel|accelerator)", re.IGNORECASE)
_ASKS_FOR_NONE = re.compile(
    r"(?:no|disable|without)_?(?:cuda|gpu|accel|accelerator)|(?:use_)?cpu(?:_only)?", re.IGNORECASE
)


def asks_for_gpu(node: cst.BaseExpression) -> bool:
    """True for an option by which users ask for a GPU, judged by its name: `args.cuda`, `not args.no_cuda`."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return _ASKS_FOR_NONE.fullmatch(last_name(node.expression)) is not None
    return isinstance(node, cst.Name | cst.Attribute) and _ASKS_FOR_GPU.fullmatch(last_name(node)) is not None


def _labelled(values: Values, label: str) -> Values:
    return tuple(Const(value.value, label) if isinstance(value, Const) else value for value in values)


def _flags(call: cst.Call) -> list[str]:
    """The option strings of `add_argument` or `click.option`."""
    found = []
    for arg in call.args:
        if arg.keyword is None and isinstance(arg.value, cst.SimpleString):
            text = arg.value.evaluated_value
            if isinstance(text, str):
                found.append(text)
    return found


def _destination(call: cst.Call, flags: list[str]) -> str:
    """The attribute that argparse stores the option under."""
    dest = keyword_of(call, "dest")
    if isinstance(dest, cst.SimpleString) and isinstance(dest.evaluated_value, str):
        return dest.evaluated_value
    long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    return long.lstrip("-").replace("-", "_")


def is_default_of(label: str, name: str) -> bool:
    """True if a default's label is that of the option that argparse stores under a name."""
    shown = label.removeprefix("the default of `").removesuffix("`")
    return shown != label and shown.lstrip("-").replace("-", "_") == name


def is_namespace(value: Value) -> bool:
    """True if it is what a parser of options gives."""
    return isinstance(value, CallResult) and value.library.rpartition(".")[2] in _NAMESPACES and value.frame is not None


_NAMESPACES = ("parse_args", "parse_known_args", "parse_args_and_config")


def of_namespace(ev: Evaluator, parsed: CallResult, name: str) -> Values:
    """What `args.name` is by default, from the `add_argument` calls of the modules that make and run the parser."""
    assert parsed.call is not None and parsed.frame is not None
    modules = {parsed.frame.scope.module.path: parsed.frame.scope.module}
    if isinstance(parsed.call.func, cst.Attribute):
        for parser in ev.values(parsed.call.func.value, parsed.frame):
            if isinstance(parser, CallResult) and parser.frame is not None:
                modules.setdefault(parser.frame.scope.module.path, parser.frame.scope.module)
    found = merge(*(_declared(ev, module, name) for module in modules.values())) or NOTHING_KNOWN
    is_none = [isinstance(each, Const) and each.value is None for each in found]
    if any(is_none) and _is_filled_in(ev, parsed.call, parsed.frame, name):
        return merge(tuple(each for each, none in zip(found, is_none, strict=True) if not none), NOTHING_KNOWN)
    return found


def _is_filled_in(ev: Evaluator, parsing: cst.Call, frame: Frame, name: str) -> bool:
    """True if a function that is passed the parsed options may set one: `set_defaults(args)` below `args = ...`.

    There None often means what the program finds out: `args.batch = 128 if args.batch is None else args.batch`.
    """
    tree = frame.scope.module.tree
    above = tree.parent(parsing)
    target = above.targets[0].target if isinstance(above, cst.Assign) else None
    if not isinstance(target, cst.Name):
        return False
    for call in frame.scope.own(cst.Call):
        if not any(isinstance(arg.value, cst.Name) and arg.value.value == target.value for arg in call.args):
            continue
        for callee in ev.values(call.func, frame):
            if isinstance(callee, Function) and any(_sets(assign, name) for assign in callee.scope.own(cst.Assign)):
                return True
    return False


def _sets(assign: cst.Assign, name: str) -> bool:
    targets = (each.target for each in assign.targets)
    return any(isinstance(each, cst.Attribute) and each.attr.value == name for each in targets)


def _declared(ev: Evaluator, module: ModuleFacts, name: str) -> Values:
    """What a module says of an option; empty where that is nothing."""
    found: list[Values] = []
    tree = module.tree
    root = tree.root
    set_defaults = [call for call in module.calls_named("set_defaults") if keyword_of(call, name) is not None]
    options = tree.once(("options", id(root)), lambda: _options(module))
    for call, flags in options.get(name, ()):
        if any(_takes_over(later, call, tree) for later in set_defaults):
            continue
        frame = ev.frame_of(tree.scope_of(call))
        shown = next((flag for flag in flags if flag.startswith("--")), flags[0])
        label = f"the default of `{shown}`"
        default = keyword_of(call, "default")
        action = keyword_of(call, "action")
        kind = action.evaluated_value if isinstance(action, cst.SimpleString) else ""
        if kind == "store_true" and ev.cuda and _ASKS_FOR_GPU.fullmatch(name):
            found.append((Const(True, f"`{shown}`"),))  # who asks about a GPU asks what is there with this option
        elif default is not None:
            found.append(_labelled(_converted(ev, call, ev.values(default, frame), frame), label))
        elif kind in ("store_true", "store_false"):
            found.append((Const(kind == "store_false", label),))
        elif not flags[0].startswith("-") or keyword_of(call, "required") is not None:
            found.append(NOTHING_KNOWN)
        else:
            found.append((Const(None, label),))
    for call in set_defaults:
        default = keyword_of(call, name)
        if default is not None:
            found.append(_labelled(ev.values(default, ev.frame_of(root)), f"the default of `{name}`"))
    return merge(*found)


def _options(module: ModuleFacts) -> dict[str, list[tuple[cst.Call, list[str]]]]:
    """The calls that declare an option, each with its option strings, by the attribute that the option goes to."""
    found: dict[str, list[tuple[cst.Call, list[str]]]] = {}
    for call in module.calls_named("add_argument"):
        flags = _flags(call)
        if flags:
            found.setdefault(_destination(call, flags), []).append((call, flags))
    return found


def of_filled(ev: Evaluator, made: CallResult, name: str) -> Values:
    """What `cfg.name` is as far as the place that makes the object says so; empty where it says nothing.

    The object may be part of another: `_C.TEST = CfgNode()`, `_C.TEST.batch_size = 1`.
    """
    call, frame = made.call, made.frame
    if call is None or frame is None:
        return ()
    given = keyword_of(call, name)
    if given is not None:
        found = ev.values(given, frame)
        # Nobody sets the options that a test writes to anything else.
        return found if is_test(frame.scope.module) else _labelled(found, f"the default of `{name}`")
    tree = frame.scope.module.tree
    above = tree.parent(call)
    target = above.targets[0].target if isinstance(above, cst.Assign) and len(above.targets) == 1 else None
    owner = dotted(target) if target is not None else ""
    if target is None or not owner or call.args:
        return ()
    scope = tree.scope_of(target)
    label = f"the default of `{owner}.{name}`"
    return merge(
        *(
            _labelled(ev.values(store.value, ev.at(scope, frame)), label)
            for store in stores_to(frame.scope.module, owner, name)
            if tree.scope_of(store.node) is scope
        )
    )


def _takes_over(later: cst.Call, call: cst.Call, tree: Tree) -> bool:
    """True if `parser.set_defaults` comes after what it says another default of, on the same parser."""
    parsers = [dotted(each.func).rpartition(".")[0] for each in (later, call)]
    return bool(parsers[0]) and parsers[0] == parsers[1] and tree.order(call) < tree.order(later)


def _converted(ev: Evaluator, call: cst.Call, values: Values, frame: Frame) -> Values:
    """argparse runs `type` over a default that is a string."""
    kind = keyword_of(call, "type")
    if kind is None:
        return values
    types = ev.values(kind, frame)
    known = constant(values)
    if known is not None and isinstance(known.value, str) and types == (Library("builtins.int"),):
        try:
            return (Const(int(known.value)),)
        except ValueError:
            return NOTHING_KNOWN
    return values


def of_decorators(ev: Evaluator, scope: Scope, param: cst.Param) -> Values:
    """What click gives a parameter by default; empty where no decorator declares it."""
    node = scope.node
    if not isinstance(node, cst.FunctionDef) or scope.parent is None:
        return ()
    for decorator in node.decorators:
        call = decorator.decorator
        if not isinstance(call, cst.Call) or dotted(call.func).rpartition(".")[2] not in ("option", "argument"):
            continue
        flags = _flags(call)
        names = {flag.lstrip("-").replace("-", "_").lower() for flag in flags}
        if param.name.value.lower() not in names:
            continue
        default = keyword_of(call, "default")
        if default is None:
            return (Const(False, f"the default of `{flags[0]}`"),) if keyword_of(call, "is_flag") else NOTHING_KNOWN
        shown = next((flag for flag in flags if flag.startswith("--")), flags[0])
        return _labelled(ev.values(default, ev.frame_of(scope.parent)), f"the default of `{shown}`")
    return ()


def of_environment(ev: Evaluator, call: cst.Call, frame: Frame) -> Values:
    """`os.environ.get(name, default)`."""
    if not call.args:
        return NOTHING_KNOWN
    name = constant(ev.values(call.args[0].value, frame))
    shown = name.value if name is not None else "..."
    label = f"the default of environment variable `{shown}`"
    if len(call.args) < 2:
        return (NONE, Opaque("str"))
    return _labelled(ev.values(call.args[1].value, frame), label)


def of_field(ev: Evaluator, name: str, call: cst.Call, frame: Frame) -> Values:
    """The default that a field or option object declares: `field(default=4)`, `typer.Option(4)`."""
    default = keyword_of(call, "default")
    if default is None and not name.startswith("dataclasses."):
        default = call.args[0].value if call.args and call.args[0].keyword is None else None
    if default is None:
        factory = keyword_of(call, "default_factory")
        return ev.values(factory.body, frame) if isinstance(factory, cst.Lambda) else NOTHING_KNOWN
    values = ev.values(default, frame)
    return values if not isinstance(default, cst.Ellipsis) else (UNKNOWN,)
