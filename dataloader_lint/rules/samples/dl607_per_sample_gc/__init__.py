"""`gc.collect()` or `torch.cuda.empty_cache()` for every sample or step costs time.

## What it does
Reports `gc.collect()` and `torch.cuda.empty_cache()`

- in worker code
- in the body of a loop over a DataLoader, without a condition before them

## Why is this bad?
`gc.collect()` scans all objects that Python tracks. Measured in a bare torch process with 165,000 of them: 72 to 78
ms for each call. `torch.cuda.empty_cache()` releases memory that torch keeps for later tensors. Other programs can
use it then, but torch itself has no more memory than before.

## Known limits
Calls under a condition (`if step % 100 == 0`), in functions that the loop calls, and in handlers are not reported.

## Example
```python
import gc
from torch.utils.data import DataLoader

def train(model, dataset):
    loader = DataLoader(dataset, batch_size=32)
    for batch in loader:
        model(batch).backward()
        gc.collect()
```

## Use instead
```python
from torch.utils.data import DataLoader

def train(model, dataset):
    loader = DataLoader(dataset, batch_size=32)
    for batch in loader:
        model(batch).backward()
```

## Fix safety
No fix: some code may rely on the call.

## When to ignore it
If memory is so short that the time does not matter.

## Error messages
None: it only takes time.

## References
- [gc.collect](https://docs.python.org/3/library/gc.html#gc.collect)
- [torch.cuda.empty_cache](https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.empty_cache.html)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl607_per_sample_gc.cleanup_calls import CleanupCall

RULE = Rule("DL607", "per-sample-gc", Entity.WORKER_CODE, Level.SPEED, Claim.MAY, default=False)


def find(file: File) -> Iterable[CleanupCall]:
    from dataloader_lint.rules.samples.dl607_per_sample_gc.cleanup_calls import cleanup_calls

    return cleanup_calls(file.workers, file.module)


def check(tidying: CleanupCall, file: File) -> Iterator[Finding]:
    cost = "scans all objects of the process"
    if tidying.name != "gc.collect":
        cost = "gives torch no more memory"
    problem = f"`{tidying.name}()` {cost}, and {tidying.where}"
    yield Finding(tidying.call, problem, "remove it, or call it once per epoch")
