"""Moves to the CPU, and arguments that no option can change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataloader_lint.pipeline.devices.devices import Device
from dataloader_lint.rules.transfers._shared.batches import Transfer
from dataloader_lint.semantics.values.values import CallResult, Const, Values

if TYPE_CHECKING:
    import libcst as cst


def is_constant(found: Values, wanted: object) -> bool:
    """True if something surely is a value that cannot be chosen otherwise."""
    return bool(found) and all(isinstance(each, Const) and each.value == wanted and not each.default for each in found)


def is_to_cpu(transfer: Transfer) -> bool:
    """True if a move goes to the CPU, and no option can send it elsewhere."""
    if transfer.device is not Device.CPU:
        return False
    given = device_of(transfer.call)
    if given is None:
        return False
    for value in transfer.ev.values(given, transfer.frame):
        if isinstance(value, CallResult) and value.call is not None and value.frame is not None and value.call.args:
            if any(
                isinstance(each, Const) and each.default
                for each in transfer.ev.values(value.call.args[0].value, value.frame)
            ):
                return False
        elif isinstance(value, Const) and value.default:
            return False
    return True


def device_of(call: cst.Call) -> cst.BaseExpression | None:
    """The argument of a move that names the device."""
    named = next((arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "device"), None)
    return named or next((arg.value for arg in call.args if arg.keyword is None and not arg.star), None)
