"""Workers are started for one batch and thrown away, again and again.

## What it does
Reports `next(iter(loader))` or `next(enumerate(loader))` in a loop over steps, or in a function of the module that such
a loop calls, also where the iterator is kept under a name for one `next` in between; an `iter(loader)` whose result is
dropped; and a loader with `persistent_workers=True` that is made anew in every round of a loop with the same arguments.

## Why is this bad?
Every `iter(loader)` starts all workers, which prefetch several batches; one batch is taken and the rest is thrown away:
several times slower. Workers that are persistent stay, and what they prefetched is thrown away as well. Without
shuffling it is the same first batch each time. `persistent_workers=True` keeps the workers of one loader, which is lost
with the loader.

## Known limits
Silent where the loader is known to have no workers, where its arguments change with the loop, in loops over epochs, and
where an exhausted iterator is replaced (`except StopIteration:`).

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
There is no fix: what should happen at the end of the data is for the author to say.

## When to ignore it
Where the loop runs a few times only.

## Error messages
- None: the program is slow.

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.infer.loader_calls import Loader

RULE = Rule("DL308", "loader-restarted-in-loop", Entity.MODULE, subjects=(TRANSFERS,))


def check(file: Analysis) -> Iterator[Finding]:
    from dataloader_lint.facts.arguments.restarts import How

    for found in file.restarts:
        if found.how is How.MADE_ANEW:
            problem = (
                f"each round of the loop makes this `{found.name}` anew, so `persistent_workers=True` keeps nothing "
                "and its workers start again every time"
            )
            advice = "make it before the loop"
        elif found.how is How.DROPPED:
            problem = f"`iter({found.name})` starts the workers of the loader and its result is thrown away"
            advice = "drop the call"
        else:
            where = f"each call of `{found.caller}()` in a loop" if found.caller else "each round of the loop"
            problem = f"{where} starts the workers of `{found.name}` for one batch and throws them away"
            if _is_in_order(found.loader):
                problem += ", and it is the same first batch every time"
            advice = "keep one iterator for all rounds, and start it again only at its end"
        yield Finding(found.node, problem, advice)


def _is_in_order(loader: Loader) -> bool:
    """Whether the loader surely hands out its data in the order of the Dataset."""
    shuffle = loader.known("shuffle")
    sampling = [loader.known(name) for name in ("sampler", "batch_sampler")]
    return shuffle is not None and not shuffle.value and all(each is not None and not each.value for each in sampling)
