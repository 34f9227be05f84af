"""Which devices an expression can name, on every machine: nothing here takes CUDA to be available."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.devices.devices import Device, kind_of_constant
from dataloader_lint.rules.transfers._shared.device_stores import Source, may_be_set, stores_of
from dataloader_lint.semantics.callers.parameters import arguments_of_callers
from dataloader_lint.semantics.limits import DEVICE_DEPTH
from dataloader_lint.semantics.project.imports import is_imported
from dataloader_lint.semantics.syntax.expressions import keyword_of, positional_of
from dataloader_lint.semantics.syntax.names import Binding, Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import Tree, function_scope
from dataloader_lint.semantics.values.values import CallResult, Const, Evaluator, Frame, Opaque, Value


def possible_devices(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int = 0) -> frozenset[Device]:
    """All devices that an expression can name; UNKNOWN means any other one.

    What an option or a default names is UNKNOWN, as users may set another one; so is an ordinal, which torch takes for
    the accelerator of the machine, be that CUDA or MPS.
    """
    sources = _sources(ev, node, frame) if depth <= DEVICE_DEPTH else None
    if not sources:
        return _ANY
    return frozenset().union(*(_named(ev, each, where, depth) for each, where in sources))


def is_device_object(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True for a plain name of what is a `torch.device` in every case, so that it has a `type`.

    An annotation as one is believed unless a caller in the project passes a text all the same.
    """
    if _is_annotated(node, frame.scope.module.tree):
        return not any(isinstance(value, Const) for value in ev.values(node, frame))
    sources = _sources(ev, node, frame) if dotted(node) else None
    values = [value for each, where in sources or () for value in ev.values(each, where)]
    return bool(values) and all(_is_device(value) for value in values)


def may_be_mps(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True if one of the devices that an expression is known to name is MPS, or the accelerator of the machine."""
    if Device.MPS in possible_devices(ev, node, frame):
        return True
    return any(_is_mps(ev, value) for value in ev.values(node, frame))


def mps_call(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> CallResult | None:
    """The call by which an expression can be MPS, if a call is what says so."""
    calls = (value for value in ev.values(node, frame) if isinstance(value, CallResult))
    return next((value for value in calls if _is_mps(ev, value)), None)


def _is_mps(ev: Evaluator, value: Value, depth: int = 0) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, str) and kind_of_constant(value.value) is Device.MPS
    if not isinstance(value, CallResult) or value.call is None or value.frame is None or depth > DEVICE_DEPTH:
        return False
    if value.library == _ACCELERATOR:
        return True
    given = _type_of(value.call) if _is_device(value) else None
    return given is not None and any(_is_mps(ev, each, depth + 1) for each in ev.values(given, value.frame))


def is_device(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True if all that an expression is known to be is a `torch.device`, which has a `type`."""
    values = ev.values(node, frame)
    return bool(values) and all(_is_device(value) or _is_accelerator(value) for value in values)


def names_accelerator(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True if an expression can be the accelerator of the machine, whatever that is."""
    return any(_is_accelerator(value) for value in ev.values(node, frame))


def _is_accelerator(value: Value) -> bool:
    return isinstance(value, CallResult) and value.library == _ACCELERATOR


def _type_of(call: cst.Call) -> cst.BaseExpression | None:
    """The argument of `torch.device(...)` that says of which type it is."""
    return keyword_of(call, "type") or next(iter(positional_of(call)), None)


_ACCELERATOR = "torch.accelerator.current_accelerator"


_ANY = frozenset({Device.UNKNOWN})


def _is_device(value: Value) -> bool:
    return isinstance(value, CallResult) and value.library == "torch.device"


def _named(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int) -> frozenset[Device]:
    """The devices that an expression names which is no name, attribute or choice itself."""
    found = [_device_of(ev, value, depth) for value in ev.values(node, frame)]
    return frozenset().union(*found) if found else _ANY


def _device_of(ev: Evaluator, value: Value, depth: int) -> frozenset[Device]:
    if isinstance(value, Const) and not value.default and isinstance(value.value, str):
        return frozenset({kind_of_constant(value.value)})
    if isinstance(value, Opaque) and value.scheme:
        return frozenset({kind_of_constant(value.scheme)})
    if isinstance(value, CallResult) and _is_device(value) and value.call is not None and value.frame is not None:
        inner = _type_of(value.call)
        if inner is not None:
            return possible_devices(ev, inner, value.frame, depth + 1)
    return _ANY


def _sources(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int = 0) -> list[Source] | None:
    """The expressions that give a name or attribute its value, all of them; None where others may.

    Users may pass another argument where a parameter has a default, and anybody may store into options and dicts.
    """
    tree = frame.scope.module.tree
    if node not in tree or depth > DEVICE_DEPTH or isinstance(node, cst.Subscript):
        return None
    if isinstance(node, cst.BooleanOperation):
        chosen = _chosen(node)
        return _together([_sources(ev, each, frame, depth + 1) for each in chosen]) if chosen else None
    if isinstance(node, cst.IfExp):
        return _together([_sources(ev, each, frame, depth + 1) for each in (node.body, node.orelse)])
    if isinstance(node, cst.Attribute):
        stored = stores_of(ev, node, frame)
        return _together([_sources(ev, each, where, depth + 1) for each, where in stored]) if stored else None
    if not isinstance(node, cst.Name):
        return [(node, frame)]
    found: list[list[Source] | None] = []
    for binding in resolve(node, tree):
        if binding.kind is Kind.IMPORT:
            found.append([(node, frame)])
        elif binding.kind is Kind.PARAMETER and binding.value is None and not _is_open(ev, binding):
            given = arguments_of_callers(ev, binding.scope, binding.name)
            given = [(each, where) for each, where in given if not _is_same(each, where, binding)]
            found.append(_together([_sources(ev, each, where, depth + 1) for each, where in given]))
        elif binding.kind is Kind.VALUE and binding.value is not None and not binding.path:
            if binding.scope.parent is None and may_be_set(ev, binding):
                return None
            where = frame if binding.scope is frame.scope else ev.frame_of(function_scope(binding.scope))
            found.append(_sources(ev, binding.value, where, depth + 1))
        else:
            return None
    return _together(found)


def _is_open(ev: Evaluator, binding: Binding) -> bool:
    """True for a parameter of a function that users of a library may call, with whatever device they have.

    A module of a library is one that lies in a package, or that others import, and that is no script itself.
    """
    node = binding.scope.node
    if not isinstance(node, cst.FunctionDef) or (node.name.value.startswith("_") and node.name.value != "__init__"):
        return False
    module = binding.scope.module
    scope = binding.scope.parent
    while scope is not None and scope is not module.root:
        if scope.is_function:
            return False  # nobody else finds it
        scope = scope.parent

    def asked() -> bool:
        checks = [each.test for each in module.tree.module.body if isinstance(each, cst.If)]
        if any(name.value == "__name__" for test in checks for name in module.tree.find(test, cst.Name)):
            return False  # a script
        return ev.project.is_in_package(module) or is_imported(ev.project, module)

    return module.tree.once(("is library", id(module.root)), asked)


def _is_annotated(node: cst.BaseExpression, tree: Tree) -> bool:
    """True for the name of a parameter that is annotated as a `torch.device`, and nothing else."""
    bindings = resolve(node, tree) if isinstance(node, cst.Name) else []
    hints = [each.node.annotation for each in bindings if isinstance(each.node, cst.Param)]
    return (
        bool(hints)
        and len(hints) == len(bindings)
        and all(hint is not None and dotted(hint.annotation) in ("torch.device", "device") for hint in hints)
    )


def _chosen(node: cst.BooleanOperation) -> list[cst.BaseExpression]:
    """What `a or b` can be, and `test and a or b`, of which the test is none; nothing for others."""
    if isinstance(node.operator, cst.And):
        return []
    first = node.left
    if isinstance(first, cst.BooleanOperation) and isinstance(first.operator, cst.And):
        first = first.right
    return [first, node.right]


def _is_same(node: cst.BaseExpression, frame: Frame, binding: Binding) -> bool:
    """True for the parameter itself, which a function that calls itself passes on."""
    return isinstance(node, cst.Name) and any(each is binding for each in resolve(node, frame.scope.module.tree))


def _together(several: list[list[Source] | None]) -> list[Source] | None:
    known = [each for each in several if each]
    return [source for each in known for source in each] if known and len(known) == len(several) else None
