"""An IterableDataset that does not look at the worker it runs in hands out every item once for each worker.

## What it does
Reports the `__iter__` of an IterableDataset that goes through files, lists, ranges or the like, when neither it nor
anything that it calls names the worker or the rank, and a DataLoader reads it with two or more workers, or with a
number that is set somewhere else. Where no loader is in sight, only classes that are there for others to use are
reported: public ones at module level that the project itself never makes.

## Why is this bad?
Each worker has its own copy of the Dataset and goes through all of it. Measured with torch 2.13: 10 items come as 20
with two workers, every item exactly twice. There is no message, except for a warning where the Dataset has a length and
somebody asked for that of the loader. An epoch has as many times more batches, and metrics count samples that were seen
several times.

## Known limits
Silent where a `worker_init_fn` may share the work out, for streams without end or made by chance, for stages of data
pipes, and for Datasets that go through something whose kind is not known: it may share itself out.

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
There is no fix: how to share the work out is for the code to say.

## When to ignore it
When the data set is never read by more than one worker, or when each worker is meant to see everything.

## Error messages
- `Length of IterableDataset ... was reported to be ... but ... samples have been fetched`

## References
- [torch.utils.data.IterableDataset](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.samples.sharding import UnsharedStream

RULE = Rule("DL601", "iterable-dataset-not-sharded", Entity.MODULE)

_ADVICE = "let each worker take its share, by `get_worker_info().id` and `.num_workers` where that is not None"


def check(analysis: Analysis) -> Iterator[Finding]:
    for stream in analysis.samples.unshared_streams:
        problem = (
            f"`{stream.name}` goes through everything in each worker: {_when(stream)} every item comes "
            f"{stream.workers or 'several'} times in an epoch"
        )
        yield Finding(stream.method, problem, _ADVICE)


def _when(stream: UnsharedStream) -> str:
    if stream.workers is not None:
        return f"with the {stream.workers} workers of its loader"
    return "with more than one worker"
