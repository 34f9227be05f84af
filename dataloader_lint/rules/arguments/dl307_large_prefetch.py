"""Workers keep more batches ready than a team wants.

## What it does
Reports a DataLoader whose `num_workers` times `prefetch_factor` is known and above `max_prefetched_batches` of the
settings (64 by default). Where it is left out, `prefetch_factor` counts as 2, as in torch.

## Why is this bad?
So many batches lie in memory at the same time, in shared memory for tensors.

## Known limits
The size of a batch is not known.

## Example
```python
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, batch_size=256, num_workers=16, prefetch_factor=16)
```

## Use instead
```python
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, batch_size=256, num_workers=16, prefetch_factor=2)
```

## Fix safety
There is no fix: the right number has to be measured.

## When to ignore it
Where batches are small.

## Error messages
- `RuntimeError: DataLoader worker (pid ...) is killed by signal: Bus error`

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL307", "large-prefetch", Entity.MODULE, default=False)


def check(file: Analysis) -> Iterator[Finding]:
    from dataloader_lint.facts.arguments.counts import prefetched_batches

    limit = file.settings.max_prefetched_batches
    for loader in file.loaders:
        found = prefetched_batches(loader) if loader.is_written_here and loader.is_reached else None
        if found is not None and found[0] * found[1] > limit:
            workers, factor = found
            problem = (
                f"{workers} workers that prefetch {factor} batches each keep {workers * factor} batches of "
                f"`{loader.name}` in memory, more than the limit of {limit}"
            )
            yield Finding(loader.node, problem, "take fewer, or raise `max-prefetched-batches` in the settings")
