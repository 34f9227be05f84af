"""Training with a DataLoader without workers waits while each batch is loaded.

## What it does
Reports a DataLoader whose `num_workers` is left out or 0, also by a declared default, if a loop trains with its
batches: the loop computes gradients, itself or in a function that it calls. It goes over the loader, or draws from it
by `next(batches)`, also through a generator.

## Why is this bad?
Without workers a batch is loaded in the training process, between two steps.

## Known limits
- For small data that is in memory, loading without workers is faster. That is why the rule is opt-in.
- Loops of libraries, such as that of a Trainer, are not seen.
- Evaluation is not reported.

## Example
```python
from torch.utils.data import DataLoader

def train(dataset, model, optimizer):
    loader = DataLoader(dataset, batch_size=4)
    for batch in loader:
        model(batch).backward()
        optimizer.step()
```

## Use instead
```python
from torch.utils.data import DataLoader

def train(dataset, model, optimizer):
    loader = DataLoader(dataset, batch_size=4, num_workers=4)
    for batch in loader:
        model(batch).backward()
        optimizer.step()
```

## Fix safety
No fix: workers change what has to be picklable, and the right number has to be measured.

## When to ignore it
If the samples are in memory, or already on the device.

## Error messages
- None: the program is slow.

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule
from dataloader_lint.rules.wording import by_default

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.arguments.dl306_no_workers.trainings import Training

RULE = Rule("DL306", "no-workers", Entity.LOOP, Level.SPEED, Claim.MUST, default=False)

_ADVICE = "set `num_workers` and measure, unless the samples are in memory"


def find(file: File) -> Iterable[Training]:
    from dataloader_lint.rules.arguments.dl306_no_workers.trainings import trainings_without_workers

    return trainings_without_workers(file.ev, file.module)


def check(found: Training, file: File) -> Iterator[Finding]:
    workers = found.loader.known("num_workers")
    source = by_default(workers.default if workers is not None else "")
    problem = f"training waits for each batch: `{found.loader.name}` has no workers{source}"
    yield Finding(found.node, problem, _ADVICE)
