"""A Dataset that returns None for a sample it cannot read breaks the batch, unless a collate_fn takes it out.

## What it does
Reports a `__getitem__` that returns None for some samples, where a DataLoader in sight reads that Dataset with the
collate function that torch brings. These forms count:

- `return None`, or one arm of a returned conditional expression,
- an `except` at the end that returns nothing,
- the result of a function or method of the project that returns None in one of these ways,
- a name that is None at first and that an error, or a test of what was read, keeps from being bound anew.

## Why is this bad?
torch makes a batch of tensors, numbers, strings and containers of them; None is none of these. The first broken file
ends the epoch, in a worker as in the main process (torch 2.13): with TypeError, and where another sample of the batch
came before it, with AttributeError in a worker, or RuntimeError where samples are numbers.

## Known limits
Silent where the loader has a collate_fn of its own, or `batch_size=None`, and where no loader is in sight. Paths that
fall off the end without a handler, such as an `if` without `else`, are not reported.

## Example
```python
from PIL import Image
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __init__(self, paths, transform):
        self.paths = paths
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        try:
            return self.transform(Image.open(self.paths[index]))
        except OSError:
            return None

def make_loader(paths, transform):
    return DataLoader(Images(paths, transform), batch_size=32)
```

## Use instead
```python
from PIL import Image
from torch.utils.data import DataLoader, Dataset, default_collate

class Images(Dataset):
    def __init__(self, paths, transform):
        self.paths = paths
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        try:
            return self.transform(Image.open(self.paths[index]))
        except OSError:
            return None

def collate_present(samples):
    return default_collate([sample for sample in samples if sample is not None])

def make_loader(paths, transform):
    return DataLoader(Images(paths, transform), batch_size=32, collate_fn=collate_present)
```

A batch in which every sample is missing still fails; leaving broken files out when the Dataset is made is safer.

## Fix safety
There is no fix: what should happen to a broken sample is for the code to say.

## When to ignore it
When the path cannot be taken.

## Error messages
- `TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found
  <class 'NoneType'>`
- `TypeError: expected Tensor as element 1 in argument 0, but got NoneType`
- `AttributeError: 'NoneType' object has no attribute 'numel'`
- `RuntimeError: Could not infer dtype of NoneType`

## References
- [torch.utils.data.default_collate](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.default_collate)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL604", "sample-can-be-none", Entity.MODULE)

_ADVICE = "leave such samples out of a batch with a collate_fn, or out of the Dataset when it is made"


def check(analysis: Analysis) -> Iterator[Finding]:
    for missing in analysis.samples.missing_samples:
        problem = (
            f"`{missing.name}.__getitem__` {missing.how}, and the loader that reads it has the default collate_fn, "
            "which fails on the whole batch"
        )
        yield Finding(missing.statement, problem, _ADVICE)
