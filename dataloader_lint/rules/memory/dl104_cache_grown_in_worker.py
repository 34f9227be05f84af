"""A container that worker code fills sample by sample is filled anew in every worker.

## What it does
Reports a statement in worker code that adds to a list, dict or set that outlives the sample: on the Dataset, on an
object that it keeps, on a class, or in a module. The key or the value comes from the index: `self.cache[index] =
image`, `self.failed.add(index)`, `CACHE[path] = array`, also `self.images[index] = image` in a list that starts out
full of None. Memoising decorators without a bound (`functools.cache`, `lru_cache(maxsize=None)`) on what workers call
for each sample are reported, too, as are memos that the project writes itself: a decorator with a dict of its own, a
dict class whose `__missing__` stores what it makes, a default argument, an attribute of a function, `setattr` with a
name made from the index. Each container is reported once.

## Why is this bad?
Every worker is a process of its own, with a container of its own. Measured with torch 2.13, two workers and a cache of
100 items: with workers that end with the epoch there are 0 hits in every epoch, since the cache ends with them; with
`persistent_workers=True` and shuffling 46, 76 and 87 hits in the second to fourth epoch, while the cache of each worker
grows towards the whole data set. What is collected for a report (bad samples, lengths) never reaches the main process.

A cached tensor can also be changed from outside: with `batch_size=None`, or a `collate_fn` that hands it on as it is,
it becomes shared memory, and `batch.add_(1)` in the main process changes the cache.

## Known limits
Nothing is said about caches with a bound (a comparison with their size, `maxsize`, `maxlen`, something that takes
entries out again), about handles that are opened once, keys that are no name of a sample (a device, a size, a label),
lists and dicts that have their final size from construction on, and proxies of a `Manager`. Nor where all loaders in
sight that read the Dataset have no workers: there is one cache then, and it works. A cache that an option of the
command line turns on is reported, whatever the option's default is.

## Example
```python
import numpy as np
from torch.utils.data import Dataset

class Arrays(Dataset):
    def __init__(self, names):
        self.names = names
        self.cache = {}

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = np.load(self.names[index])
        return self.cache[index]
```

## Use instead
```python
import numpy as np
import torch
from torch.utils.data import Dataset

class Arrays(Dataset):
    def __init__(self, names):
        self.rows = torch.stack([torch.from_numpy(np.load(name)) for name in names])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
```

What does not fit into memory can be kept decoded on a local disk.

## Fix safety
There is no automatic fix: what the cache is for, the code does not say.

## When to ignore it
When the data set is only read with `num_workers=0`, or the cache is small and the workers are persistent.

## Error messages
- `DataLoader worker (pid ...) is killed by signal: Killed`

## References
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
- [pytorch issue 13246](https://github.com/pytorch/pytorch/issues/13246)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import MEMOISING, OPENCV, STORES
from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL104", "cache-grown-in-worker", Entity.MODULE, subjects=(MEMOISING, OPENCV, STORES))


def check(facts: Analysis) -> Iterator[Finding]:
    for growth in facts.growths:
        way = growth.function.path[0]
        place = f"`{growth.function.label}`"
        if way is not growth.function:
            place += f", which `{way.label}` reaches,"
        if growth.container:
            problem = (
                f"{place} adds to `{growth.container}` for each sample in worker code: every worker fills one of its "
                "own, which the others and the main process never see"
            )
        else:
            problem = (
                f"the unbounded cache of {place} keeps an entry for each sample, in every worker one of its own, "
                "which the others and the main process never see"
            )
        advice = "fill it before the workers start, share it, or bound its size"
        yield Finding(growth.node, problem, advice)
