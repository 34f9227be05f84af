"""Batches that are kept as they came from workers keep a file descriptor open for each of their tensors.

## What it does
Reports `list(loader)` and `out.append(batch)` (the batch, or a part of it) in a loop over a DataLoader that is known
to have workers.

## Why is this bad?
Workers hand tensors over in shared memory, with one file descriptor each, which stays open as long as the tensor
lives. Measured with a limit of 256 open files: RuntimeError after 79 batches. With the usual limit of 1,024 that is
after about 500 batches of two tensors.

## Known limits
Copies, numbers, results of calls and tensors that were moved first are not reported; nor are lists that the same loop
empties. What a collate_fn of the user's puts into a batch is not looked at.

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
There is no fix: what is worth keeping is for the code to say.

## When to ignore it
When there are few batches.

## Error messages
- `RuntimeError: Too many open files. Communication with the workers is no longer possible.`
- `RuntimeError: received 0 items of ancdata`

## References
- [Sharing strategies](https://docs.pytorch.org/docs/stable/multiprocessing.html#sharing-strategies)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL611", "batches-kept", Entity.MODULE, default=False, subjects=(TRANSFERS,))


def check(analysis: Analysis) -> Iterator[Finding]:
    for kept in analysis.samples.retained_batches:
        problem = (
            "batches from workers are kept as they came, and each of their tensors holds a file descriptor: "
            "`Too many open files` after some hundred"
        )
        yield Finding(kept.call, problem, "keep copies (`clone()`), or what is computed from them")
