"""An IterableDataset that ignores its worker id returns every item once per worker.

## What it does
Reports the `__iter__` of an IterableDataset that iterates over files, lists, ranges or the like. Neither it nor a
function that it calls uses the worker or the rank, or the rank is all that they use: `torch.distributed.get_rank()`
divides the data among the processes that train, and each of them starts workers that read the same share.

- To log the worker divides nothing, and neither does chance that changes the items or their order.
- An arm of an `if` in `__iter__` is reported by itself: the others may divide the items.
- Where a thread puts the items into a queue, what the thread iterates over counts.
- Where a base of another module iterates over what a method of the class yields, that method is reported.

**Where it counts**

- A DataLoader reads it with two or more workers, or with a number of workers that is set elsewhere and may have any
  default: by an option, or by a parameter of a public function or class of a package that others install.
- No DataLoader in the project reads it, and the class is public and at module level, and the project never constructs
  it.

## Why is this bad?
Each worker has its own copy of the Dataset and iterates over all of it. Measured with torch 2.13: 10 items come as 20
with two workers, every item exactly twice. There is no message, except for a warning if the Dataset has a length and
the code asked the loader for it. An epoch has that many times more batches, and metrics count samples several times.

## Known limits
Not reported:

- Datasets whose `worker_init_fn` may split the work: one that does more than seed, print or limit threads
- endless streams, and those that draw each item at random
- stages of data pipes
- Datasets that iterate over something of unknown kind: it may split itself
- loops that only count, and ask an unknown object for each item, such as a simulation

## Example
```python
from torch.utils.data import DataLoader, IterableDataset

class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as file:
            for line in file:
                yield line.rstrip()

loader = DataLoader(Lines("corpus.txt"), batch_size=32, num_workers=4)
```

## Use instead
```python
from itertools import islice
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        with open(self.path) as file:
            for line in islice(file, first, None, step):
                yield line.rstrip()

loader = DataLoader(Lines("corpus.txt"), batch_size=32, num_workers=4)
```

## Fix safety
No fix: you decide how to split the work.

## When to ignore it
If the data set is never read by more than one worker, or if each worker should see everything.

## Error messages
- `Length of IterableDataset ... was reported to be ... but ... samples have been fetched`

## References
- [torch.utils.data.IterableDataset](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl601_iterable_dataset_not_sharded.unsharded_streams import UnsharedStream

RULE = Rule("DL601", "iterable-dataset-not-sharded", Entity.DATASET, Level.ERROR, Claim.MUST)

_ADVICE = "split it by `get_worker_info().id` and `.num_workers`"


def find(file: File) -> Iterable[UnsharedStream]:
    from dataloader_lint.rules.samples.dl601_iterable_dataset_not_sharded.unsharded_streams import unshared_streams

    return unshared_streams(file.reach, file.module)


def check(stream: UnsharedStream, file: File) -> Iterator[Finding]:
    effect = "with workers, every item comes several times per epoch"
    if stream.workers is not None:
        effect = f"every item comes {stream.workers} times per epoch" + ("" if stream.by_rank else ", once per worker")
    what = f"all of its rank's `{stream.name}`" if stream.by_rank else f"all of `{stream.name}`"
    yield Finding(stream.method, f"each worker iterates over {what}: {effect}", _ADVICE, because=stream.steps)
