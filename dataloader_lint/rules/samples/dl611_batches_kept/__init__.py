"""A batch from a worker that is kept uncopied holds an open file descriptor for each tensor.

## What it does
Reports, for a DataLoader that is known to have workers:

- `list(loader)`, `zip(*loader)`
- `out.append(batch)`, `out.extend(batch)` or `out += [batch]`, with the batch or a part of it, in a loop over the
  loader, also in a tuple or dict: `out.append({"boxes": boxes})`
- `out[step] = batch` in `for step, batch in enumerate(loader)`
- `[labels for _, labels in loader]`

## Why is this bad?
Workers send tensors in shared memory, with one file descriptor each. It stays open as long as the tensor lives.
Measured with a limit of 256 open files: RuntimeError after 79 batches. With the usual limit of 1,024 that is after
about 500 batches of two tensors.

## Known limits
- Copies, numbers, results of calls and tensors that were moved first are not reported.
- Lists that the same loop empties are not reported.
- What a `collate_fn` of the project puts into a batch is not checked.

## Example
```python
from torch.utils.data import DataLoader

def read_all(dataset):
    loader = DataLoader(dataset, batch_size=32, num_workers=4)
    batches = []
    for images, labels in loader:
        batches.append(labels)
    return batches
```

## Use instead
```python
from torch.utils.data import DataLoader

def read_all(dataset):
    loader = DataLoader(dataset, batch_size=32, num_workers=4)
    batches = []
    for images, labels in loader:
        batches.append(labels.clone())
    return batches
```

## Fix safety
No fix: you decide what to keep.

## When to ignore it
If there are few batches.

## Error messages
- `RuntimeError: Too many open files. Communication with the workers is no longer possible.`
- `RuntimeError: received 0 items of ancdata`

## References
- [Sharing strategies](https://docs.pytorch.org/docs/stable/multiprocessing.html#sharing-strategies)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl611_batches_kept.retained_batches import RetainedBatches

RULE = Rule("DL611", "batches-kept", Entity.LOOP, Level.MEMORY, Claim.MAY, default=False, subjects=(TRANSFERS,))


def find(file: File) -> Iterable[RetainedBatches]:
    from dataloader_lint.rules.samples.dl611_batches_kept.retained_batches import retained_batches

    return retained_batches(file.ev, file.module)


def check(kept: RetainedBatches, file: File) -> Iterator[Finding]:
    problem = "kept batches from workers hold a file descriptor per tensor: `Too many open files` after a few hundred"
    yield Finding(kept.node, problem, "keep copies (`clone()`) or computed results")
