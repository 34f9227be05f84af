"""Workers are started for a single batch, again and again.

## What it does
Reports code that starts the workers of a DataLoader much more often than needed:

- `next(iter(loader))` or `next(enumerate(loader))` in a loop over steps, or in a function that such a loop
  uses
- the same with a name for the iterator, which only one `next` uses
- `iter(loader)` whose result is not used
- a loader with `persistent_workers=True` that each round of a loop makes again with the same arguments

## Why is this bad?
Every `iter(loader)` starts all workers, and they prefetch several batches. One batch is used and the others are
discarded: several times slower. Persistent workers stay, but the batches that they prefetched are discarded too.
Without shuffling, it is the same first batch each time. `persistent_workers=True` keeps the workers of one loader; a
new loader starts its own.

## Known limits
- Silent if the loader is known to have no workers.
- Silent if its arguments change with the loop.
- Silent in loops over epochs.
- Silent if an exhausted iterator is replaced (`except StopIteration:`).

## Example
```python
from torch.utils.data import DataLoader

def train(dataset, steps, update):
    loader = DataLoader(dataset, batch_size=4, shuffle=True, num_workers=4)
    for _ in range(steps):
        update(next(iter(loader)))
```

## Use instead
```python
from torch.utils.data import DataLoader

def endless(loader):
    while True:
        yield from loader

def train(dataset, steps, update):
    batches = endless(DataLoader(dataset, batch_size=4, shuffle=True, num_workers=4))
    for _ in range(steps):
        update(next(batches))
```

## Fix safety
No fix: you decide what should happen at the end of the data.

## When to ignore it
If the loop runs only a few times.

## Error messages
- None: the program is slow.

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.arguments.dl308_loader_restarted_in_loop.restarts import Restart
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL308", "loader-restarted-in-loop", Entity.LOOP, Level.SPEED, Claim.MAY, subjects=(TRANSFERS,))


def find(file: File) -> Iterable[Restart]:
    from dataloader_lint.rules.arguments.dl308_loader_restarted_in_loop.restarts import restarts

    return restarts(file.ev, file.module, file.loaders)


def check(found: Restart, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.arguments.dl308_loader_restarted_in_loop.restarts import How

    if found.how is How.MADE_AGAIN:
        problem = (
            f"each round of the loop makes a new `{found.name}` and starts its workers again, "
            "despite `persistent_workers=True`"
        )
        advice = "drop the option, as the Dataset changes" if found.is_for_new_data else "make it before the loop"
    elif found.how is How.DROPPED:
        problem = f"`iter({found.name})` starts the workers of the loader, but its result is not used"
        advice = "remove the call"
    else:
        runs = "call" if found.caller.endswith("()") else "read"
        where = f"each {runs} of `{found.caller}` in a loop" if found.caller else "each round of the loop"
        problem = f"{where} starts the workers of `{found.name}` for one batch"
        if _is_in_order(found.loader):
            problem += ", always the same one"
        advice = "keep one iterator, and restart it when it is exhausted"
    yield Finding(found.node, problem, advice)


def _is_in_order(loader: Loader) -> bool:
    """True if the loader is known to return its data in the order of the Dataset."""
    shuffle = loader.known("shuffle")
    sampling = [loader.known(name) for name in ("sampler", "batch_sampler")]
    return shuffle is not None and not shuffle.value and all(each is not None and not each.value for each in sampling)
