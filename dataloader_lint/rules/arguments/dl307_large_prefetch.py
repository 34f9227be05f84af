"""The workers of a DataLoader prefetch more batches than the configured maximum.

## What it does
Reports a DataLoader whose `num_workers` times `prefetch_factor` is known and above the setting
`max-prefetched-batches` (64 by default). A `prefetch_factor` that is left out counts as 2, as in torch.

## Why is this bad?
All of these batches are held in memory at once. Tensors are held in shared memory.

## Known limits
- The size of a batch is not known.

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
No fix: the right number has to be measured.

## When to ignore it
If batches are small.

## Error messages
- `RuntimeError: DataLoader worker (pid ...) is killed by signal: Bus error`

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL307", "large-prefetch", Entity.LOADER, Level.OPINION, Claim.MUST, default=False)


def find(file: File) -> Iterable[Loader]:
    return file.loaders


def check(loader: Loader, file: File) -> Iterator[Finding]:
    limit = file.settings.max_prefetched_batches
    found = _prefetched(loader) if loader.is_written_here and loader.is_reached else None
    if found is not None and found[0] * found[1] > limit:
        workers, factor = found
        problem = (
            f"`{loader.name}` keeps {workers * factor} batches in memory "
            f"({workers} workers x {factor} prefetched), above the limit of {limit}"
        )
        yield Finding(loader.node, problem, "prefetch fewer, or raise `max-prefetched-batches` in the settings")


_PREFETCH = 2  # torch's own with workers


def _prefetched(loader: Loader) -> tuple[int, int] | None:
    """How many workers, and how many batches each of them keeps ready; None where that is not known."""
    workers, factor = loader.known("num_workers"), loader.known("prefetch_factor")
    if workers is None or factor is None or not isinstance(workers.value, int) or workers.value <= 0:
        return None
    number = _PREFETCH if factor.value is None else factor.value
    return (workers.value, number) if isinstance(number, int) else None
