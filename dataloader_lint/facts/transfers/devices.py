"""Which devices an expression can name, on every machine: nothing here takes CUDA to be available."""

from __future__ import annotations

from enum import Enum

import libcst as cst

from dataloader_lint.facts.evaluation.values import Const, Evaluator, Frame, Made, Value
from dataloader_lint.facts.syntax.module import last_name
from dataloader_lint.facts.syntax.names import Kind, dotted, resolve
from dataloader_lint.facts.syntax.tree import function_scope, keyword_of, positional_of

_MAX_DEPTH = 4


class Device(Enum):
    """Where a transfer goes, as far as it is known."""

    CPU = "cpu"
    CUDA = "cuda"
    OTHER = "other"  # mps, xpu, meta, ...
    UNKNOWN = "unknown"
    NONE = "none"  # a change of the data type, or nothing that is known to be a device


def kind_of_constant(value: object) -> Device:
    """The device that a literal names; an ordinal is that of an accelerator, which is CUDA on most machines."""
    if isinstance(value, bool) or value is None:
        return Device.NONE
    if isinstance(value, int):
        return Device.CUDA
    kind = str(value).partition(":")[0]
    return {"cpu": Device.CPU, "cuda": Device.CUDA}.get(kind, Device.OTHER)


def possible_devices(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int = 0) -> frozenset[Device]:
    """All devices that an expression can name; UNKNOWN stands for any other one.

    What an option or a default names is UNKNOWN, as users may set another one; so is an ordinal, which torch takes for
    the accelerator of the machine, be that CUDA or MPS.
    """
    tree = frame.scope.module.tree
    if depth > _MAX_DEPTH or node not in tree:
        return _ANY
    prefix = _prefix(node)
    if prefix:
        return frozenset({kind_of_constant(prefix)})
    if isinstance(node, cst.IfExp):
        return possible_devices(ev, node.body, frame, depth + 1) | possible_devices(ev, node.orelse, frame, depth + 1)
    values = ev.values(node, frame)
    found = [_device_of(ev, value, depth) for value in values]
    if found and _ANY not in found:
        return frozenset().union(*found)
    if isinstance(node, cst.Name):  # f"cuda:{rank}" is a text of which no more is known
        bindings = resolve(node, tree)
        parts = [
            possible_devices(ev, each.value, ev.frame_of(function_scope(each.scope)), depth + 1)
            for each in bindings
            if each.kind is Kind.VALUE and each.value is not None and not each.path and each.scope is not None
        ]
        if parts and len(parts) == len(bindings):
            return frozenset().union(*parts)
    return _ANY


def is_device_object(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True for a plain name of what is a `torch.device` in every case, so that it has a `type`."""
    values = ev.values(node, frame)
    return bool(dotted(node)) and bool(values) and all(_is_device(value) for value in values)


_ANY = frozenset({Device.UNKNOWN})


def _is_device(value: Value) -> bool:
    return isinstance(value, Made) and value.library == "torch.device"


def _device_of(ev: Evaluator, value: Value, depth: int) -> frozenset[Device]:
    if isinstance(value, Const) and not value.default and isinstance(value.value, str):
        return frozenset({kind_of_constant(value.value)})
    if isinstance(value, Made) and _is_device(value) and value.call is not None and value.frame is not None:
        inner = keyword_of(value.call, "type") or next(iter(positional_of(value.call)), None)
        if inner is not None:
            return possible_devices(ev, inner, value.frame, depth + 1)
    return _ANY


def _prefix(node: cst.BaseExpression) -> str:
    """What a text that is put together begins with, up to a colon: `cuda` for `f"cuda:{rank}"`, `"cuda:%d" % rank`."""
    text: object = ""
    if isinstance(node, cst.FormattedString):
        first = node.parts[0] if node.parts else None
        text = first.value if isinstance(first, cst.FormattedStringText) else ""
    elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add | cst.Modulo):
        text = node.left.evaluated_value if isinstance(node.left, cst.SimpleString) else ""
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and last_name(node.func) == "format":
        text = node.func.value.evaluated_value if isinstance(node.func.value, cst.SimpleString) else ""
    return text.partition(":")[0] if isinstance(text, str) and ":" in text else ""
