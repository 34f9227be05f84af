"""Workers that start from the same random state draw the same numbers as each other, or the same in every epoch.

## What it does
Reports four ways to lose randomness in workers:

- a generator that is made in the constructor of a Dataset (or of something that it keeps, such as a transform), in a
  class body or at module level, and that worker code draws from;
- a `worker_init_fn` that seeds with a value in which torch's own seed takes no part: constants, options, the worker's
  id, or the old recipe `np.random.get_state()[1][0] + worker_id`;
- worker code that seeds a global generator again for each sample, with a value that no sample changes;
- worker code that seeds a global generator before a worker's first sample, with constants, options and the worker's id,
  where the loaders do not keep their workers.

The report stands where the generator is made, or where the seed is set.

## Why is this bad?
Every worker gets a copy of the generator in the same state, seeded or not, so two workers cut, flip and mix their
samples alike, and workers that are started anew for the next epoch do so once more. Measured with torch 2.13: of 24
random numbers (8 samples, 2 workers, 3 epochs) 4 were distinct with a generator made in `__init__`, 8 with a seed made
of the worker's id, 24 with `np.random`, `random` and `torch`, which torch seeds for each worker and epoch. Forked and
spawned workers behave alike. A `torch.Generator` cannot be sent to spawned workers at all: they die at the start.

## Known limits
A generator is not followed into the callables of libraries. Seeds from calls that are not known are left alone, and
so is everything that is made or seeded anew somewhere in worker code. So is a seed made of the worker's id where the
loader keeps its workers, or where the script surely goes through it once, and any seed in a `worker_init_fn` where all
that workers run is known and draws nothing from what it seeds.

## Example
```python
import numpy as np
from torch.utils.data import Dataset

class Crops(Dataset):
    def __init__(self, images, size):
        self.images = images
        self.size = size
        self.rng = np.random.default_rng()

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        top, left = self.rng.integers(0, 64 - self.size, 2)
        return self.images[index, :, top : top + self.size, left : left + self.size]
```

## Use instead
```python
import numpy as np
import torch
from torch.utils.data import Dataset

class Crops(Dataset):
    def __init__(self, images, size):
        self.images = images
        self.size = size
        self.rng = None

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        if self.rng is None:  # once in each worker, from the seed that torch gives it
            self.rng = np.random.default_rng(torch.initial_seed())
        top, left = self.rng.integers(0, 64 - self.size, 2)
        return self.images[index, :, top : top + self.size, left : left + self.size]
```

The global functions (`np.random.randint`, `random.random`, `torch.rand`) need nothing at all since torch 1.9. A
`worker_init_fn` that has to seed something else takes `torch.initial_seed() % 2**32`, without the worker's id.

## Fix safety
There is no fix: where the generator should be made is for the code to say.

## When to ignore it
When the same numbers in each worker or epoch are what you want, and the data set is read by one worker at most.

## Error messages
- `RuntimeError: DataLoader worker (pid(s) ...) exited unexpectedly` (a `torch.Generator`, spawned workers)

## References
- [Randomness in multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#data-loading-randomness)
- [pytorch pull request 56488](https://github.com/pytorch/pytorch/pull/56488)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import RANDOM
from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.samples.seeding import Seeding

RULE = Rule("DL602", "random-state-shared-by-workers", Entity.MODULE, subjects=(RANDOM,))

_MAKE_IN_WORKER = "make it in each worker, when it is first used, from `torch.initial_seed()`"
_SEED_FROM_TORCH = "seed with `torch.initial_seed() % 2**32`, which differs from worker to worker and epoch to epoch"
_LEAVE_IT = "leave it to torch, which seeds each worker, or let the index take part"


def check(analysis: Analysis) -> Iterator[Finding]:
    for generator in analysis.samples.shared_generators:
        problem = (
            f"`{generator.name}`, which `{generator.drawn_in.label}` draws from in worker processes, is made before "
            "they start: all workers get copies in the same state and repeat each other's numbers"
        )
        if generator.kind == "torch.Generator":
            problem += ", where they start at all: a `torch.Generator` cannot be pickled for spawned ones"
        else:
            problem += ", and those of the epoch before when they are started anew"
        yield Finding(generator.made, problem, _MAKE_IN_WORKER)
    reported: set[int] = set()
    for seeding in analysis.samples.seedings_at_start:
        if seeding.is_known and seeding.matters and id(seeding.scope) not in reported:
            finding = _at_start(seeding)
            if finding is not None:
                reported.add(id(seeding.scope))
                yield finding
    for seeding in analysis.samples.seedings_for_samples:
        if id(seeding.scope) in reported:
            continue
        if seeding.is_first and seeding.is_known:
            reported.add(id(seeding.scope))
            yield Finding(seeding.call, *_at_first_sample(seeding))
        elif seeding.repeats and not seeding.is_first:
            reported.add(id(seeding.scope))
            problem = (
                f"`{seeding.function}` seeds the random numbers again for each sample, with a value that no sample "
                "changes: all samples of a worker get the same numbers"
            )
            yield Finding(seeding.call, problem, _LEAVE_IT)


def _at_first_sample(seeding: Seeding) -> tuple[str, str]:
    if seeding.has_worker_id:
        problem = (
            f"`{seeding.function}` seeds a worker's random numbers with a value that is the same in every epoch: "
            "workers are started anew for each epoch and repeat the random numbers of the first one"
        )
    else:
        problem = f"`{seeding.function}` gives every worker the same seed, so that they repeat each other's numbers"
    return problem, _LEAVE_IT


def _at_start(seeding: Seeding) -> Finding | None:
    if not seeding.has_worker_id:
        problem = f"`{seeding.function}` gives every worker the same seed, so that they repeat each other's numbers"
    elif seeding.keeps_workers:
        return None  # the numbers go on in the next epoch
    elif seeding.reads_state:
        problem = (
            f"`{seeding.function}` seeds from numpy's state, whose first word is the same in every worker and epoch "
            "since torch seeds numpy itself: each epoch repeats the random numbers of the first"
        )
    else:
        problem = (
            f"`{seeding.function}` seeds with a value that is the same in every epoch: workers that are started anew "
            "repeat the random numbers of the first one"
        )
    return Finding(seeding.call, problem, _SEED_FROM_TORCH)
