"""A cache that workers fill sample by sample is filled again in every worker.

## What it does
Reports a statement in worker code that adds an entry per sample to a list, dict or set that outlives the sample.

**What is recognized**

- a container of the Dataset, of an object that it holds, of a class, of a module, or of a closure
- a key or value that comes from the index: `self.cache[index] = image`, `self.failed.add(index)`, `CACHE[path] =
  array`
- `self.images[index] = image` in a list that starts out full of None
- memoizing decorators without a bound (`functools.cache`, `lru_cache(maxsize=None)`) on a function that workers call
  for each sample
- memos that the project writes itself: a decorator with its own dict, a dict class whose `__missing__` stores what it
  makes, a default argument, an attribute of a function, `setattr` with a name made from the index

Each container is reported once: at level `memory` if a DataLoader with workers is known to read the Dataset, else as a
note.

## Why is this bad?
Every worker is a process with its own copy of the container. Measured with torch 2.13, two workers and a cache of 100
items: if workers end with the epoch there are 0 hits in every epoch, since the cache ends with them. With
`persistent_workers=True` and shuffling there are 46, 76 and 87 hits in the second to fourth epoch. Meanwhile the
cache of each worker grows towards the whole data set. What is collected for a report (bad samples, lengths) never
reaches the main process.

A cached tensor can also be changed from outside. With `batch_size=None`, or a `collate_fn` that returns it unchanged,
it becomes shared memory: `batch.add_(1)` in the main process then changes the cache.

## Known limits
Not reported:

- caches with a bound: a comparison with their size, `maxsize`, `maxlen`, code that removes entries
- handles that are opened once
- keys that do not identify a sample: a device, a size, a label
- lists and dicts that have their final size from construction on
- proxies of a `Manager`
- Datasets that every DataLoader in the project reads without workers: there is one cache then, and it works
- caches that only such objects of the class fill, as far as the arguments of the constructor show

A cache that a command-line option turns on is reported, whatever the option's default is.

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
No fix: the code does not say what the cache is for.

## When to ignore it
If the data set is only read with `num_workers=0`, or the cache is small and the workers are persistent.

## Error messages
- `DataLoader worker (pid ...) is killed by signal: Killed`

## References
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
- [pytorch issue 13246](https://github.com/pytorch/pytorch/issues/13246)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import MEMOISING, OPENCV, STORES
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.memory.dl104_cache_grown_in_worker.caches import Growth

RULE = Rule(
    "DL104", "cache-grown-in-worker", Entity.WORKER_CODE, Level.MEMORY, Claim.MAY, subjects=(MEMOISING, OPENCV, STORES)
)

_LONGEST = 160  # of a message


def find(file: File) -> Iterable[Growth]:
    from dataloader_lint.rules.memory.dl104_cache_grown_in_worker.caches import growths_in

    return growths_in(file.reach, file.module)


def check(growth: Growth, file: File) -> Iterator[Finding]:
    from dataloader_lint.pipeline.workers.worker_steps import loader_running

    loader = loader_running(file.reach, growth.function, file.module)
    level = Level.MEMORY if loader is not None and loader.has_workers else Level.NOTE
    entry, function = growth.function.path[0], growth.function
    what = f"adds to `{growth.container}` per sample" if growth.container else "caches each sample without a bound"
    effect = "each worker fills its own" if level is Level.MEMORY else "once there are workers, each fills its own"
    advice = "preload it, share it, or limit its size"
    problem = f"`{function.label}` {what}: {effect}"
    from_entry = f"`{function.label}` (from `{entry.label}`) {what}: {effect}"
    if entry is not function and len(f"{from_entry}; {advice}") <= _LONGEST:
        problem = from_entry
    cause = f"{function.label}.{growth.container}"
    yield Finding(growth.node, problem, advice, because=file.steps_to(function), level=level, cause=cause)
