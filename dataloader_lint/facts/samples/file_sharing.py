"""Calls that share tensors through named files instead of file descriptors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.facts.infer.values import Const, Evaluator, Library, constant
from dataloader_lint.facts.syntax.tree import ModuleFacts, function_scope

if TYPE_CHECKING:
    import libcst as cst

_STRATEGY = "torch.multiprocessing.set_sharing_strategy"


def shared_by_files(ev: Evaluator, module: ModuleFacts) -> Iterator[cst.Call]:
    """Yields the calls that share tensors through named files instead of file descriptors."""
    for call in module.calls_named(_STRATEGY.rpartition(".")[2]):
        frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
        if ev.values(call.func, frame) == (Library(_STRATEGY),) and call.args:
            known = constant(ev.values(call.args[0].value, frame))
            if isinstance(known, Const) and known.value == "file_system":
                yield call
