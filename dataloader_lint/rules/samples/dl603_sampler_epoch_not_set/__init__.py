"""Without `set_epoch()`, a DistributedSampler uses the same order in every epoch.

## What it does
Reports a loop over epochs that trains on a DataLoader with a shuffling `DistributedSampler`, if no code that is
loaded with it calls `set_epoch`.

**What is recognized**

- a sampler on at least one branch, also inside a `BatchSampler`
- a subclass of `DistributedSampler` that uses its `epoch`, or leaves the order to its base
- a loop over the batches in a function that the loop over the epochs calls
- a loader that is made in another file
- a generator that yields batches forever: `while True: yield from loader`
- a sampler or loader that is made again in each epoch: it begins with epoch 0 each time

## Why is this bad?
The sampler shuffles with its own seed plus the number of the epoch, so that all ranks agree on one order. Without
`set_epoch` that number stays 0: every epoch uses the same batches in the same order. `torch.manual_seed` does not
change this.

## Known limits
Not reported:

- loops whose loader is not found in the project: those of Lightning, Accelerate, Ignite and other trainers
- samplers with `shuffle=False`
- loops without gradients
- projects that call `set_epoch` on any object on the way, even on another one

## Example
```python
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def train(model, dataset, epochs):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)
    for epoch in range(epochs):
        for batch in loader:
            model(batch).backward()
```

## Use instead
```python
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def train(model, dataset, epochs):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            model(batch).backward()
```

The call has to come before the loop over the batches starts. Later it has no effect on that epoch.

## Fix safety
Unsafe: the order of the samples changes, as intended. Offered if the loop counts the epochs and the loader has no
other sampler.

## When to ignore it
If every epoch should use the same order.

## Error messages
None: nothing fails.

## References
- [torch.utils.data.distributed.DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl603_sampler_epoch_not_set.stuck_samplers import StuckSampler

RULE = Rule(
    "DL603", "sampler-epoch-not-set", Entity.LOOP, Level.ERROR, Claim.MUST, fix=FixLevel.UNSAFE, subjects=(TRANSFERS,)
)


def find(file: File) -> Iterable[StuckSampler]:
    from dataloader_lint.rules.samples.dl603_sampler_epoch_not_set.stuck_samplers import stuck_samplers

    return stuck_samplers(file)


def check(stuck: StuckSampler, file: File) -> Iterator[Finding]:
    problem = (
        f"`set_epoch` is never called on the `DistributedSampler` of `{stuck.loader_name}`: "
        "every epoch uses the same order"
    )
    yield Finding(stuck.loop, problem, "call `set_epoch(epoch)` before each epoch", partial(fix, stuck))


def fix(stuck: StuckSampler, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, insert_before

    setter = stuck.setter
    if setter is None or not setter[0].body:
        raise RefusedError("epoch or sampler has no name there")
    body, statement = setter
    return Repair(
        Safety.UNSAFE, "Call `set_epoch` before each epoch", (insert_before(editor, body.body[0], statement),)
    )
