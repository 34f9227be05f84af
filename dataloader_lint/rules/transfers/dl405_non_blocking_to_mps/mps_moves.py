"""Non-blocking moves whose device may be MPS, which does not wait for the data to be read before it is freed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from dataloader_lint.pipeline.devices.devices import Device
from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.rules.transfers._shared.batches import Transfer, transfers_of
from dataloader_lint.rules.transfers._shared.possible_devices import (
    is_device,
    may_be_mps,
    mps_call,
    names_accelerator,
    possible_devices,
)
from dataloader_lint.rules.transfers._shared.to_cpu import is_constant
from dataloader_lint.semantics.control.reachability import path_conditions
from dataloader_lint.semantics.limits import HOST_DEPTH
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import Const, Frame

# Words in a test that already tells the devices apart.
_DEVICES = re.compile(r"\b(?:is_)?(?:cuda|mps)\b|\btype\b")

# What functions call the batches that they get.
_BATCH = re.compile("batch|images|imgs|inputs|labels|targets")


@dataclass(frozen=True, eq=False)
class MpsMove:
    """A move with `non_blocking=True` to a device that is MPS on some machines."""

    transfer: Transfer

    @property
    def frame(self) -> Frame:
        """Where the device is evaluated: nothing is taken to be available."""
        return self.transfer.anywhere.frame_of(self.transfer.frame.scope)

    @property
    def flag(self) -> cst.BaseExpression | None:
        """The `True` that is written for `non_blocking`, if it is."""
        given = keyword_of(self.transfer.call, "non_blocking")
        return given if isinstance(given, cst.Name) and given.value == "True" else None

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the device is MPS, if a call says so."""
        device = self.transfer.named_device
        made = mps_call(self.transfer.anywhere, device, self.frame) if device is not None else None
        if made is None or made.call is None or made.frame is None:
            return ()
        return (Step(made.frame.scope.module, made.call, "this device is MPS on a Mac"),)

    @cached_property
    def is_only_mps(self) -> bool:
        """True if the device cannot be any other."""
        device = self.transfer.named_device
        return device is not None and possible_devices(self.transfer.anywhere, device, self.frame) == {Device.MPS}

    @cached_property
    def test(self) -> str:
        """An expression to pass instead, true where the device is CUDA.

        Empty if the device has no name, or may be a text as well, or `non_blocking` is in a dict behind `**`.
        """
        device = self.transfer.named_device
        name = dotted(device)
        if device is None or not name or any(arg.star for arg in self.transfer.call.args):
            return ""
        if is_device(self.transfer.anywhere, device, self.frame):
            return f'{name}.type == "cuda"'
        values = self.transfer.anywhere.values(device, self.frame)
        texts = [each.value for each in values if isinstance(each, Const) and not each.default]
        is_plain = len(texts) == len(values) and "cuda" in texts and {"cpu", "cuda", "mps"}.issuperset(map(str, texts))
        return f'{name} == "cuda"' if is_plain else ""


def moves_to_mps(file: File) -> Iterator[MpsMove]:
    """The moves with `non_blocking=True` whose device is MPS in one of the cases that the code shows."""
    for transfer in transfers_of(file):
        device = transfer.named_device
        if device is None or transfer.is_cuda_call or transfer.is_in_forward or not transfer.may_name_device:
            continue
        found = MpsMove(transfer)
        if not is_constant(transfer.keyword("non_blocking", transfer.anywhere, found.frame), True):
            continue
        if _asks_for_device_type(transfer):
            continue
        module = transfer.frame.scope.module
        if names_accelerator(transfer.anywhere, device, found.frame) and any(map(module.calls_named, _STREAMS)):
            continue  # MPS has no streams
        if not _comes_from_host(transfer.moved, transfer.frame.scope, 0):
            continue
        if may_be_mps(transfer.anywhere, device, found.frame) and transfer.may_be_reached:
            yield found


_STREAMS = ("Stream", "current_stream")


def _comes_from_host(node: cst.BaseExpression, scope: Scope, depth: int) -> bool:
    """True if a value was made on the host: a loop variable, a library call, or a parameter named like a batch.

    Any other parameter may be on the device already: then nothing is copied.
    """
    if depth > HOST_DEPTH:
        return False
    if isinstance(node, cst.Call):
        if last_name(node.func) == "next" or _comes_from_host(node.func, scope, depth + 1):
            return True
        given = [arg.value for arg in node.args] if isinstance(node.func, cst.Name) else []
        return any(_comes_from_host(each, scope, depth + 1) for each in given)
    if isinstance(node, cst.Attribute | cst.Subscript):
        return _comes_from_host(node.value, scope, depth + 1)
    if not isinstance(node, cst.Name):
        return False
    for each in resolve(node, scope.module.tree):
        if each.kind in (Kind.ELEMENT, Kind.IMPORT) or (each.kind is Kind.PARAMETER and _BATCH.search(each.name)):
            return True
        value = each.written or each.value
        if value is not None and each.kind is Kind.VALUE and _comes_from_host(value, scope, depth + 1):
            return True
    return False


def _asks_for_device_type(transfer: Transfer) -> bool:
    """True if a test around the move, or one that leaves before it, asks for the type of a device."""
    tree = transfer.frame.scope.module.tree
    conditions = path_conditions(transfer.call, transfer.frame.scope)
    return any(_DEVICES.search(tree.words(each.test)) for each in conditions)
