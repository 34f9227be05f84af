"""Workers with the same random state repeat the random numbers of each other, or of the epoch before.

## What it does
Reports five ways to lose randomness in workers:

- A generator that worker code draws from is made in the constructor of a Dataset, in a class body or at module level.
  The constructor of an object that the Dataset holds, such as a transform, counts too.
- A `Compose` of albumentations with random transforms is made before workers start and called in worker code. Since
  1.4.21 it holds a generator of its own, which torch does not seed.
- A `worker_init_fn` seeds with a value that does not depend on torch's own seed: constants, options, the worker id,
  or the old recipe `np.random.get_state()[1][0] + worker_id`.
- Worker code seeds a global generator for every sample, with a value that does not depend on the sample: a constant,
  torch's seed, or the number of the epoch.
- Worker code seeds a global generator before a worker's first sample, or makes one for itself then, and the loaders do
  not keep their workers. The seed is made of constants, options and the worker id.

**Where**: where the generator is made, or where the seed is set.

## Why is this bad?
Every worker gets a copy of the generator in the same state, seeded or not. Two workers then crop, flip and mix their
samples alike, and workers that are re-created for the next epoch repeat it. Forked and spawned workers behave alike.
Only a `torch.Generator` cannot be sent to spawned workers at all: they die at the start.

Measured with torch 2.13, 24 random numbers (8 samples, 2 workers, 3 epochs):

- generator made in `__init__`: 4 distinct numbers
- seed made of the worker id: 8 distinct numbers
- `albumentations.Compose` (2.0.8) made in `__init__`: 4 distinct numbers, also with `seed=137`; 12 with persistent
  workers; 24 if a `worker_init_fn` calls `set_random_seed(torch.initial_seed() % 2**32)` of it
- `np.random`, `random` and `torch`, which torch seeds for each worker and epoch: 24 distinct numbers

## Known limits
Not reported:

- NumPy's global functions in projects that require a torch before 1.9, which does not seed them in workers
- generators that are passed to callables of libraries
- generators without a seed that a module makes, if all loaders spawn their workers, which import the module again
- objects of a Dataset class that only loaders without workers get
- seeds from calls that are not known
- pipelines of albumentations without a transform that is known to be random, and those of projects that require
  albumentationsx or a version before 1.4.21
- generators from a constructor that are made or seeded again somewhere in worker code
- a seed made of the worker id, if the loader keeps its workers
- a seed per sample whose function restores the state of the generator, or that is made of the number of the epoch and
  draws an order of all samples
- any seed in a `worker_init_fn`, if all code that workers run is known and draws nothing from the seeded generator

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
`worker_init_fn` that has to seed something else uses `torch.initial_seed() % 2**32`, without the worker id.

## Fix safety
Unsafe: random numbers change. The seeds of a `worker_init_fn` become `torch.initial_seed() % 2**32`, where it seeds
NumPy and `random` only, with seeds made of numbers, the worker id and NumPy's state. There is no fix for generators:
you decide where they should be made.

## When to ignore it
If you want the same numbers in each worker or epoch, or at most one worker reads the data set.

## Error messages
- `RuntimeError: DataLoader worker (pid(s) ...) exited unexpectedly` (a `torch.Generator`, spawned workers)

## References
- [Randomness in multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#data-loading-randomness)
- [pytorch pull request 56488](https://github.com/pytorch/pytorch/pull/56488)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import RANDOM
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl602_random_state_shared_by_workers.seeding import Seeding

RULE = Rule(
    "DL602",
    "random-state-shared-by-workers",
    Entity.FILE,
    Level.ERROR,
    Claim.MAY,
    fix=FixLevel.UNSAFE,
    subjects=(RANDOM,),
)

_MAKE_IN_WORKER = "seed one per worker with `torch.initial_seed()`"
_SEED_FROM_TORCH = "use `torch.initial_seed() % 2**32`"
_LEAVE_IT = "let torch seed workers, or add the index"
_SAME_SEED = "`{}` gives every worker the same seed: workers repeat each other's random numbers"
_SAME_EPOCHS = "`{}` uses the same seeds in every epoch: re-created workers repeat their random numbers"


def check(file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.samples.dl602_random_state_shared_by_workers.generators import shared_generators
    from dataloader_lint.rules.samples.dl602_random_state_shared_by_workers.seeding import (
        seedings_at_start,
        seedings_for_samples,
    )

    for generator in shared_generators(file.reach, file.module):
        effect, advice = "workers and epochs repeat its numbers", _MAKE_IN_WORKER
        if generator.kind == "torch.Generator":
            effect, advice = "they repeat its numbers, or fail if spawned", "make it in each worker"
        elif generator.kind.startswith("albumentations."):
            advice = "call its `set_random_seed` in a `worker_init_fn`"
        problem = f"`{generator.drawn_in.label}` uses `{generator.name}`, made before workers start: {effect}"
        yield Finding(generator.made, problem, advice, because=file.steps_to(generator.drawn_in))
    reported: set[int] = set()
    at_start = list(seedings_at_start(file.workers, file.module))
    for seeding in at_start:
        if seeding.is_known and seeding.matters and id(seeding.scope) not in reported:
            together = {id(each.call): each for each in at_start if each.scope is seeding.scope}
            finding = _at_start(seeding, list(together.values()))
            if finding is not None:
                reported.add(id(seeding.scope))
                yield finding
    for seeding in seedings_for_samples(file.reach, file.module):
        if id(seeding.scope) in reported:
            continue
        if seeding.is_first and seeding.is_known:
            reported.add(id(seeding.scope))
            yield Finding(seeding.call, *_at_first_sample(seeding))
        elif seeding.repeats and not seeding.is_first:
            reported.add(id(seeding.scope))
            problem = (
                f"`{seeding.function}` reseeds for every sample with the same value: they get the same random numbers"
            )
            yield Finding(seeding.call, problem, _LEAVE_IT)


def _at_first_sample(seeding: Seeding) -> tuple[str, str]:
    template = _SAME_EPOCHS if seeding.has_worker_id else _SAME_SEED
    return template.format(seeding.function), _SEED_FROM_TORCH if seeding.is_generator else _LEAVE_IT


def _at_start(seeding: Seeding, together: list[Seeding]) -> Finding | None:
    """What is reported of a seed in a worker_init_fn; `together` are all seeds of that function."""
    if not seeding.has_worker_id:
        problem = _SAME_SEED.format(seeding.function)
    elif seeding.keeps_workers:
        return None  # the numbers go on in the next epoch
    elif seeding.reads_state:
        problem = (
            f"`{seeding.function}` seeds from a word of NumPy's state that never changes: epochs repeat their numbers"
        )
    else:
        problem = _SAME_EPOCHS.format(seeding.function)
    level = Level.NOTE if seeding.has_worker_id and seeding.has_option else None
    return Finding(seeding.call, problem, _SEED_FROM_TORCH, partial(fix, together), level=level)


def fix(seedings: list[Seeding], editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair
    from dataloader_lint.rules.samples.dl602_random_state_shared_by_workers.reseeding import seed_from_torch

    edits = seed_from_torch(editor, seedings)
    return Repair(Safety.UNSAFE, "Seed from torch's own seed, which differs by worker and epoch", edits)
