"""Calls of `torch.set_num_threads` in worker code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataloader_lint.facts.infer.reachability import is_reached
from dataloader_lint.facts.infer.values import Const, Values
from dataloader_lint.facts.syntax.definitions import enclosing_definitions
from dataloader_lint.facts.syntax.tree import ModuleFacts
from dataloader_lint.facts.threads.threads import LIMIT
from dataloader_lint.facts.workers.dataset_flow import DatasetFlow
from dataloader_lint.facts.workers.forked import is_forked
from dataloader_lint.facts.workers.worker_callgraph import WorkerFunction

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True, eq=False)
class ThreadCall:
    """A call of `torch.set_num_threads` in worker code."""

    call: cst.Call
    function: WorkerFunction
    number: int | None  # if it is known


def limits_in_workers(reach: DatasetFlow, module: ModuleFacts) -> Iterator[ThreadCall]:
    """The calls of `torch.set_num_threads` in a module that forked workers run, each once."""
    calls = module.calls_named(LIMIT)
    tops = enclosing_definitions(module, calls)
    if not tops:
        return
    workers = reach.workers
    seen: set[int] = set()
    for function in workers.functions_inside(module, workers.names_that_use(module, tops)):
        for call, name in function.library_calls:
            if name != f"torch.{LIMIT}" or id(call) in seen or not is_forked(reach, function):
                continue
            if is_reached(workers.ev, call, function.frame):
                seen.add(id(call))
                found = workers.ev.values(call.args[0].value, function.frame) if call.args else ()
                yield ThreadCall(call, function, _constant_number(found))


def _constant_number(found: Values) -> int | None:
    numbers = {each.value if isinstance(each, Const) else None for each in found}
    number = numbers.pop() if len(numbers) == 1 else None
    return number if isinstance(number, int) else None
