"""The devices that a move can go to, and what names them."""

from __future__ import annotations

import re
from enum import Enum

import libcst as cst

from dataloader_lint.semantics.callers.parameters import OF_PARAMETER, arguments_of_callers
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.values.values import UNKNOWN, CallResult, Const, Evaluator, Frame, Opaque, Value, Values

# Methods of a tensor on the CPU that give a tensor again.
KEEPING = frozenset(
    {
        "bool",
        "byte",
        "clone",
        "contiguous",
        "detach",
        "double",
        "flatten",
        "float",
        "half",
        "int",
        "long",
        "permute",
        "reshape",
        "squeeze",
        "t",
        "transpose",
        "type",
        "unsqueeze",
        "view",
    }
)


# Gives the number of the CUDA device in use, and raises without one.
CURRENT_CUDA = "torch.cuda.current_device"


class Device(Enum):
    """Where a transfer goes, as far as it is known."""

    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"
    OTHER = "other"  # xpu, meta, ...
    UNKNOWN = "unknown"
    NONE = "none"  # a change of the data type, or nothing that is known to be a device


def kind_of_constant(value: object) -> Device:
    """The device that a literal names; an ordinal is that of an accelerator, which is CUDA on most machines."""
    if isinstance(value, bool) or value is None:
        return Device.NONE
    if isinstance(value, int):
        return Device.CUDA
    kind = str(value).partition(":")[0]
    return {"cpu": Device.CPU, "cuda": Device.CUDA, "mps": Device.MPS}.get(kind, Device.OTHER)


def kind_of_choice(value: Const) -> Device:
    """The device that a constant names; an option that is the CPU by default is there to be set to another one."""
    kind = kind_of_constant(value.value)
    is_option = bool(value.default) and not value.default.startswith(OF_PARAMETER)
    return Device.UNKNOWN if kind is Device.CPU and is_option else kind


def is_cuda(ev: Evaluator, found: Values, behind: Values = ()) -> bool:
    """True if a device is CUDA, always or if CUDA is available; False if it is unknown.

    `behind` holds the devices derived from it: it stops the recursion for `d = torch.device(d)`.
    """
    return UNKNOWN not in found and any(_is_cuda_value(ev, value, behind) for value in found if value not in behind)


def _is_cuda_value(ev: Evaluator, value: Value, behind: Values) -> bool:
    if isinstance(value, Const):
        return kind_of_constant(value.value) is Device.CUDA
    if isinstance(value, Opaque):
        return value.scheme == Device.CUDA.value
    if isinstance(value, CallResult) and value.library == "torch.device" and value.call is not None and value.frame:
        return bool(value.call.args) and is_cuda(ev, ev.values(value.call.args[0].value, value.frame), (*behind, value))
    return isinstance(value, CallResult) and value.library == CURRENT_CUDA


_DEVICE_NAME = re.compile(r"device|gpu|cuda|rank|\bdev\b")


def is_called_device(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int = 0) -> bool:
    """True if an expression, or what the visible calls pass for it, is named like a device."""
    tree = frame.scope.module.tree
    text = tree.words(node).lower()
    if _DEVICE_NAME.search(text):
        return "dtype" not in text
    if not isinstance(node, cst.Name) or node not in tree or depth > 3:
        return False
    for binding in resolve(node, tree):
        if binding.kind is Kind.PARAMETER:
            given = arguments_of_callers(ev, binding.scope, binding.name)
        elif binding.kind is Kind.VALUE and binding.value is not None and not binding.path:
            given = [(binding.value, frame)]
        else:
            continue
        if any(is_called_device(ev, each, where, depth + 1) for each, where in given if each is not node):
            return True
    return False
