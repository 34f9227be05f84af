"""Persistent workers keep the copy of the Dataset that they got in the first epoch, so later changes never reach them.

## What it does
Reports a statement in a loop over epochs that changes a Dataset (an attribute, at any depth, or a call of one of its
methods that binds one) while the loader that reads it has `persistent_workers` known to be true, and worker code reads
that attribute. The Dataset may be inside of a `Subset`, a `ConcatDataset` or a part of `random_split`.

## Why is this bad?
Workers are started once and hold their own copy. Measured with torch 2.13 under fork and spawn: an attribute that the
main process sets to 10 between epochs is still 1 in persistent workers, and 10 in workers that are started anew. There
is no message: a curriculum stays at its first step, a shuffle at its first order.

## Known limits
The loader must be made before the loop and be gone through in it, in this file or in functions that it calls. Samplers
live in the main process: `sampler.set_epoch` is right. What is written into shared memory (`multiprocessing.Value`, a
tensor after `share_memory_()`) reaches workers and is not reported.

## Example
```python
from torch.utils.data import DataLoader, Dataset

class Curriculum(Dataset):
    def __init__(self, samples):
        self.samples = samples
        self.difficulty = 0

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index] * self.difficulty

def train(model, samples):
    dataset = Curriculum(samples)
    loader = DataLoader(dataset, num_workers=4, persistent_workers=True)
    for epoch in range(10):
        dataset.difficulty = epoch
        for batch in loader:
            model(batch)
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader, Dataset

class Curriculum(Dataset):
    def __init__(self, samples):
        self.samples = samples
        self.difficulty = torch.zeros(1).share_memory_()

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index] * self.difficulty

def train(model, samples):
    dataset = Curriculum(samples)
    loader = DataLoader(dataset, num_workers=4, persistent_workers=True)
    for epoch in range(10):
        dataset.difficulty[0] = epoch
        for batch in loader:
            model(batch)
```

Or leave `persistent_workers` out, or let a sampler hand the value over with the index.

## Fix safety
There is no fix: each way out has its price.

## When to ignore it
When the attribute is meant for the main process only.

## Error messages
None: nothing fails.

## References
- [pytorch issue 97326](https://github.com/pytorch/pytorch/issues/97326)
- [`persistent_workers`](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL609", "dataset-changed-under-persistent-workers", Entity.MODULE, subjects=(TRANSFERS,))

_ADVICE = (
    "keep the value in shared memory (`multiprocessing.Value`, a tensor after `share_memory_()`), "
    "or do without `persistent_workers`"
)


def check(analysis: Analysis) -> Iterator[Finding]:
    for change in analysis.samples.stale_attributes:
        problem = (
            f"`{change.written}` changes `{change.dataset.node.name.value}.{change.attribute}` in the main process "
            "only: the loader's persistent workers go on with the value of the first epoch"
        )
        yield Finding(change.node, problem, _ADVICE)
