"""Loaders that pin their batches for nothing, and moves that would need pinned ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.devices.devices import Device
from dataloader_lint.pipeline.file import File
from dataloader_lint.rules.transfers._shared.batches import Transfer, transfers_of
from dataloader_lint.rules.transfers._shared.to_cpu import is_constant, is_to_cpu
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loader_of
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import ModuleFacts, function_scope
from dataloader_lint.semantics.values.values import CallResult, Evaluator, Frame, Value

_RUNNING = frozenset({"fit", "predict", "test", "validate"})


_TRAINERS = ("lightning.", "pytorch_lightning.")


@dataclass(frozen=True, slots=True, eq=False)
class UselessPin:
    """A loader that pins batches which stay on the CPU."""

    loader: Loader
    evidence: str  # the code that says so


def useless_pins(file: File) -> Iterator[UselessPin]:
    """The loaders of a file that pin, though all that the file does with their batches happens on the CPU."""
    ev, module = file.ev, file.module
    pinning = [loader for loader in file.loaders if loader.is_written_here and _is_pinning(loader)]
    if not pinning or "cuda" in module.tree.code.lower():
        return
    moves = transfers_of(file)
    stay = not any(move.device in (Device.CUDA, Device.MPS, Device.OTHER, Device.UNKNOWN) for move in moves)
    moves_of: dict[int, list[Transfer]] = {}
    for move in moves if stay else ():
        for call in {id(each.loader.call) for each in move.origins}:
            moves_of.setdefault(call, []).append(move)
    for loader in pinning:
        trainer = _cpu_trainer(ev, module, loader)
        own = moves_of.get(id(loader.call), [])
        if trainer:
            yield UselessPin(loader, trainer)
        elif own and all(is_to_cpu(move) for move in own):
            yield UselessPin(loader, own[0].text)


def _is_pinning(loader: Loader) -> bool:
    pins = loader.known("pin_memory")
    return pins is not None and pins.value is True and not pins.default and loader.is_reached


def _cpu_trainer(ev: Evaluator, module: ModuleFacts, loader: Loader) -> str:
    """The Trainer with `accelerator="cpu"` that is given a loader, as written; empty where there is none."""
    tree = module.tree
    for name in sorted(_RUNNING):
        for call in module.calls_named(name):
            frame = ev.frame_of(function_scope(tree.scope_of(call)))
            if not isinstance(call.func, cst.Attribute) or not _gets(ev, call, frame, loader):
                continue
            trainers = ev.values(call.func.value, frame)
            if trainers and all(_is_on_cpu(ev, each) for each in trainers):
                return f"{last_name(call.func.value)}.{name}"
    return ""


def _gets(ev: Evaluator, call: cst.Call, frame: Frame, loader: Loader) -> bool:
    for arg in call.args:
        for value in ev.values(arg.value, frame):
            found = loader_of(ev, value)
            if found is not None and found.call is loader.call:
                return True
    return False


def _is_on_cpu(ev: Evaluator, value: Value) -> bool:
    if not isinstance(value, CallResult) or value.call is None or value.frame is None:
        return False
    if not value.library.startswith(_TRAINERS) or not value.library.endswith(".Trainer"):
        return False
    given = [arg.value for arg in value.call.args if arg.keyword is not None and arg.keyword.value == "accelerator"]
    return bool(given) and is_constant(ev.values(given[0], value.frame), "cpu")
