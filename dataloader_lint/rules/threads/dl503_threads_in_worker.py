"""A forked worker that sets more than one torch thread can hang.

## What it does
Reports `torch.set_num_threads(n)` in worker code, with a number that is not known to be 1.

**Worker code**

- `__getitem__`, `__getitems__` or `__iter__` of a Dataset
- a `collate_fn` or a `worker_init_fn`
- a function of the project that one of these calls

## Why is this bad?
torch sets the number of threads to 1 in every worker before anything else runs. A forked worker that sets it to more
hangs at its next parallel operation if the main process has run one before. Measured with torch 2.13 and
`torch.set_num_threads(2)` in the `worker_init_fn` or in `__getitem__`: 8 of 8 runs hung. Nothing is raised; only a
loader with a `timeout` gives up.

It works if the main process has run no parallel operation, and under spawn and forkserver. So the program can hang on
one machine and not on another.

## Known limits
- A limit that is set through another library (`threadpoolctl`, `OMP_NUM_THREADS`) is not reported.
- Nothing is reported if all DataLoaders found in the project that read the Dataset have no workers, or start them by
  spawn or forkserver.

## Example
```python
import torch
from torch.utils.data import DataLoader

def start_worker(worker_id):
    torch.set_num_threads(4)

def make_loader(dataset):
    return DataLoader(dataset, num_workers=4, worker_init_fn=start_worker)
```

## Use instead
```python
from torch.utils.data import DataLoader

def make_loader(dataset):
    return DataLoader(dataset, num_workers=4)
```

If a sample needs more computing, use more workers instead of more threads in each.

## Fix safety
No fix: the work can go to more workers, or back to the main process. That is your decision.

## When to ignore it
If workers are always started by spawn or forkserver.

## Error messages
- `RuntimeError: DataLoader timed out after ... seconds` (only with a `timeout`; without one it hangs)

## References
- [torch.set_num_threads](https://docs.pytorch.org/docs/stable/generated/torch.set_num_threads.html)
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataloader_lint.gate import THREADS
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File
    from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
    from dataloader_lint.semantics.values.values import Values

RULE = Rule("DL503", "threads-in-worker", Entity.WORKER_CODE, Level.ERROR, Claim.MAY, subjects=(THREADS,))


@dataclass(frozen=True, slots=True, eq=False)
class ThreadCall:
    """A call of `torch.set_num_threads` in worker code."""

    call: cst.Call
    function: WorkerFunction
    number: int | None  # if it is known


_LIMIT = "set_num_threads"


def find(file: File) -> Iterator[ThreadCall]:
    from dataloader_lint.pipeline.workers.forked import is_forked
    from dataloader_lint.semantics.control.reachability import is_reached
    from dataloader_lint.semantics.syntax.definitions import enclosing_definitions

    calls = file.module.calls_named(_LIMIT)
    tops = enclosing_definitions(file.module, calls)
    if not tops:
        return
    workers = file.workers
    seen: set[int] = set()
    for function in workers.functions_inside(file.module, workers.names_that_use(file.module, tops)):
        for call, name in function.library_calls:
            if name != f"torch.{_LIMIT}" or id(call) in seen or not is_forked(file.reach, function):
                continue
            if is_reached(workers.ev, call, function.frame):
                seen.add(id(call))
                found = workers.ev.values(call.args[0].value, function.frame) if call.args else ()
                yield ThreadCall(call, function, _number(found))


def _number(values: Values) -> int | None:
    numbers = {getattr(each, "value", None) for each in values}
    number = numbers.pop() if len(numbers) == 1 else None
    return number if isinstance(number, int) else None


def check(limit: ThreadCall, file: File) -> Iterator[Finding]:
    if file.settings.start_method in ("spawn", "forkserver"):
        return
    if limit.number == 1:
        return
    entry = limit.function.path[0]
    way = "" if entry is limit.function else f" (from `{entry.label}`)"
    many = "may set several threads" if limit.number is None else f"sets {limit.number} threads"
    problem = f"`{limit.function.label}`{way} {many} in a worker: it hangs if it was forked after a parallel operation"
    yield Finding(limit.call, problem, "use more workers instead", because=file.steps_to(limit.function))
