"""A transform that is set on one split is ignored, or changes the other splits as well.

## What it does
Reports assignments to `transform`, `transforms` or `target_transform` of a split.

**What is recognized**

- of a split itself, `val_set.transform = ...`, where `val_set` comes from `random_split` or `Subset`
- of the Dataset behind it, `val_set.dataset.transform = ...`, if another split shares that Dataset

## Why is this bad?
`random_split` returns `Subset` objects. A Subset only keeps indices and passes them to the whole Dataset: nobody reads
its `transform`, so validation data is still augmented, or training data is not. All splits share the one Dataset, so a
transform that is set through `.dataset` replaces that of the training split too. Nothing fails; metrics are just wrong.
Run with torch 2.13: after `val.transform = t`, `val[0]` is what it was before; after `val.dataset.transform = t`, both
`val[0]` and `train[0]` have changed.

## Known limits
- Splits of which the class is not known are not reported, nor are subclasses of `Subset`.
- Silent if the split gets a Dataset of its own (`val_set.dataset = copy.copy(full)`), or if all splits get the same
  transform.

## Example
```python
from torch.utils.data import random_split
from torchvision.datasets import ImageFolder

def make(folder, augment, plain):
    full = ImageFolder(folder, transform=augment)
    train_set, val_set = random_split(full, [0.9, 0.1])
    val_set.dataset.transform = plain
    return train_set, val_set
```

## Use instead
```python
import torch
from torch.utils.data import Subset, random_split
from torchvision.datasets import ImageFolder

def make(folder, augment, plain):
    full = ImageFolder(folder, transform=augment)
    train_set, val_set = random_split(full, [0.9, 0.1], torch.Generator().manual_seed(0))
    return train_set, Subset(ImageFolder(folder, transform=plain), val_set.indices)
```

Two Datasets with the same files cost little, as images are read when they are asked for. A small Dataset that wraps a
split and applies a transform of its own does it as well.

## Fix safety
No fix: the second Dataset has to be made as the first one was.

## When to ignore it
If a class of yours reads the attribute of the split.

## Error messages
None: metrics are wrong, silently.

## References
- [torch.utils.data.random_split](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.random_split)
- [pytorch issue 56886](https://github.com/pytorch/pytorch/issues/56886)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl612_transform_set_on_split.split_transforms import SplitTransform

RULE = Rule("DL612", "transform-set-on-split", Entity.DATASET, Level.ERROR, Claim.MAY)


def find(file: File) -> Iterable[SplitTransform]:
    from dataloader_lint.rules.samples.dl612_transform_set_on_split.split_transforms import split_transforms

    return split_transforms(file.ev, file.module)


def check(change: SplitTransform, file: File) -> Iterator[Finding]:
    name = f"{change.owner}.{change.attribute}"
    if change.is_shared:
        problem = f"`{name}` is set for all splits, which share one Dataset"
        advice = "make a second Dataset for this split, with the same indices"
    else:
        problem = f"`{name}` is ignored: a Subset reads its samples from the whole Dataset"
        advice = "split two Datasets by the same indices"
    yield Finding(change.node, problem, advice, because=change.steps)
