"""A Dataset that returns None for a sample breaks the whole batch in the default `collate_fn`.

## What it does
Reports a `__getitem__` that returns None for some samples. A DataLoader in the project must read that Dataset with
torch's default `collate_fn`.

**What is recognized**

- `return None`, or one arm of a returned conditional expression
- an `except` at the end that returns nothing
- the result of a function or method of the project that returns None in one of these ways
- a name that starts as None and that an error, or a test of what was read, keeps from being bound again
- a part of a sample, `{"image": image, "mask": self.mask_of(path)}`, that such a function returns for some samples,
  also where it is stored later: `sample["mask"] = self.mask_of(path)`
- `return None, index` in an `except`, or below a test of what was read; `except KeyError: label = None` for a part

## Why is this bad?
torch makes a batch of tensors, numbers, strings and containers of them. None is none of these, so the first broken
file ends the epoch, in a worker as in the main process (torch 2.13). The error is TypeError. If another sample of the
batch came before it, it is AttributeError in a worker, or RuntimeError if samples are numbers.

## Known limits
- Silent if the loader has its own `collate_fn`, or `batch_size=None`.
- Silent if the arguments of the constructor show that no object that the loader gets returns None.
- Silent if no DataLoader in the project reads the Dataset.
- Paths without a `return` and without a handler, such as an `if` without `else`, are not reported.

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

A batch in which every sample is missing still fails. It is safer to remove broken files in `__init__`.

## Fix safety
No fix: you decide what should happen to a broken sample.

## When to ignore it
If the path is never taken.

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

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl604_sample_can_be_none.missing_samples import MissingSample

RULE = Rule("DL604", "sample-can-be-none", Entity.SAMPLE, Level.ERROR, Claim.MAY)

_ADVICE = "drop None samples in a `collate_fn` or `__init__`"


def find(file: File) -> Iterable[MissingSample]:
    from dataloader_lint.rules.samples.dl604_sample_can_be_none.missing_samples import missing_samples

    return missing_samples(file.reach, file.module)


def check(missing: MissingSample, file: File) -> Iterator[Finding]:
    problem = f"`{missing.name}.__getitem__` {missing.how}: the default `collate_fn` fails"
    yield Finding(missing.statement, problem, _ADVICE, because=missing.steps)
