"""Persistent workers have the Dataset of the first epoch, so later changes never reach them.

## What it does
Reports a statement in a loop, over epochs or anything else, that changes a Dataset whose workers do not get the
change. Worker code must read the changed attribute.

**Workers that do not get it**

- `persistent_workers` is true, an option, or unknown: `persistent_workers=args.workers > 0`
- any workers, if the statement is in the loop over batches and passes on its counter: they got their copy before the
  first batch

**Changes that count**

- an assignment to an attribute, at any depth, or to that of an object that the Dataset holds: `augment.p = 0.5`
- a call of a method of the Dataset that assigns to one
- either of them in a function that the loop calls, such as `callback.on_epoch_start(epoch)`, if workers may persist
- either of them in a hook that a trainer runs between epochs, or in what it calls, if workers may persist:
  `on_train_epoch_start` of a module or callback of Lightning, `on_epoch_begin` of a `TrainerCallback`
- `random.shuffle(self.order)`, `.append(...)` and the like on a list, in a method that is called

The Dataset may be inside a `Subset`, a `ConcatDataset` or a part of `random_split`. The loader may have gone through
`accelerator.prepare(...)`, which keeps its workers (measured with accelerate 1.15). Of a Dataset of torchvision,
`transform` and `target_transform` count.

## Why is this bad?
Workers are started once and have their own copy. Measured with torch 2.13 under fork and spawn: an attribute that the
main process sets to 10 between epochs is still 1 in persistent workers, and 10 in re-created ones. There is no
message: a curriculum stays at its first step, a shuffle at its first order.

## Known limits
- The loader must be made before the loop. The loop, or a function that it calls, must iterate over it.
- Hooks are silent in a project that says `reload_dataloaders_every_n_epochs`, which starts workers again.
- Samplers live in the main process, so `sampler.set_epoch` is right.
- Statements under a condition in the loop over batches are not reported: the change may be meant for the next epoch.
- Shared memory (`multiprocessing.Value`, a tensor after `share_memory_()`) reaches workers and is not reported.

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

Or remove `persistent_workers`, or let a sampler pass the value with the index. A `multiprocessing.Value` works as
well, if it is made by the context that starts the workers (see DL217).

## Fix safety
No fix: each solution has a cost.

## When to ignore it
If only the main process uses the attribute.

## Error messages
None: nothing fails.

## References
- [pytorch issue 97326](https://github.com/pytorch/pytorch/issues/97326)
- [`persistent_workers`](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import HOOKS, TRANSFERS
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl609_dataset_changed_under_persistent_workers.stale_attributes import (
        StaleAttribute,
    )

RULE = Rule(
    "DL609",
    "dataset-changed-under-persistent-workers",
    Entity.LOOP,
    Level.ERROR,
    Claim.MAY,
    subjects=(HOOKS, TRANSFERS),
)

_ADVICE = "share it, or drop `persistent_workers`"
_LATE = "set it before the epoch, or share it"


def find(file: File) -> Iterable[StaleAttribute]:
    from dataloader_lint.rules.samples.dl609_dataset_changed_under_persistent_workers.stale_attributes import (
        stale_attributes,
    )

    return stale_attributes(file)


def check(change: StaleAttribute, file: File) -> Iterator[Finding]:
    what = f"`{change.written}` changes `{change.dataset}.{change.attribute}` in the main process"
    if change.lifetime.value == "persistent":
        problem, advice = f"{what} only: persistent workers keep the first value", _ADVICE
    elif change.lifetime.value == "epoch":
        problem, advice = f"{what} during the epoch: running workers never see it", _LATE
    else:
        problem, advice = f"{what}: workers keep the first value if they persist", _ADVICE
    yield Finding(change.node, problem, advice, because=change.steps)
