"""Moves of things to a device: which device each goes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.devices.devices import Device, is_called_device, kind_of_choice, kind_of_constant
from dataloader_lint.semantics.syntax.expressions import keyword_of, positional_of
from dataloader_lint.semantics.syntax.tree import ModuleFacts, function_scope
from dataloader_lint.semantics.values.values import CallResult, Const, Evaluator, Frame, Library, Opaque, Value, Values


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """One `x.to(...)` or `x.cuda(...)`, whatever `x` is."""

    call: cst.Call
    frame: Frame
    ev: Evaluator

    @property
    def is_cuda_call(self) -> bool:
        return isinstance(self.call.func, cst.Attribute) and self.call.func.attr.value == "cuda"

    @property
    def named_device(self) -> cst.BaseExpression | None:
        """The argument that names the device."""
        return keyword_of(self.call, "device") or next(iter(positional_of(self.call)), None)

    @property
    def device(self) -> Device:
        """Where it goes."""
        given = self.named_device
        if self.is_cuda_call:
            return Device.CUDA
        if given is None or any(arg.star for arg in self.call.args[:1]):
            return Device.NONE
        return self._device(given)

    def _device(self, given: cst.BaseExpression) -> Device:
        kinds = {self._kind(value, given) for value in self._values(given)}
        if Device.NONE in kinds or not kinds:
            return Device.NONE
        return kinds.pop() if len(kinds) == 1 else Device.UNKNOWN

    def _kind(self, value: Value, given: cst.BaseExpression) -> Device:
        if isinstance(value, Const):
            return kind_of_choice(value)
        if isinstance(value, CallResult) and value.library == "torch.device" and value.call is not None:
            inner = keyword_of(value.call, "type") or next(iter(positional_of(value.call)), None)
            if inner is None or value.frame is None:
                return Device.UNKNOWN
            kinds = {
                kind_of_choice(each) if isinstance(each, Const) else Device.UNKNOWN
                for each in self.ev.values(inner, value.frame)
            }
            return kinds.pop() if len(kinds) == 1 else Device.UNKNOWN
        if isinstance(value, Opaque) and value.scheme:
            return kind_of_constant(value.scheme)
        if isinstance(value, Opaque):
            return {"int": Device.CUDA, "str": Device.UNKNOWN}.get(value.kind, Device.NONE)
        if isinstance(value, Library):
            return Device.NONE  # torch.float32
        # Nothing is known of it, so its name has to say that it is a device and no data type.
        return Device.UNKNOWN if is_called_device(self.ev, given, self.frame) else Device.NONE

    def _values(self, node: cst.BaseExpression) -> Values:
        return self.ev.values(node, self.frame)


def moves_in(ev: Evaluator, module: ModuleFacts) -> Iterator[Move]:
    """Every move in a module, in document order."""
    found = [*module.calls_named("to"), *module.calls_named("cuda")]
    for call in sorted(found, key=module.tree.order):
        if isinstance(call.func, cst.Attribute):
            yield Move(call, ev.frame_of(function_scope(module.tree.scope_of(call))), ev)
