"""`num_workers` is above the configured maximum, or one for every CPU.

## What it does
Reports a DataLoader whose `num_workers` is

- written as a number above the setting `max-workers` (16 by default), or
- all of `os.cpu_count()`

## Why is this bad?
Every worker is a process that keeps batches ready. `os.cpu_count()` counts the CPUs of the machine, not those that
the process may use. Each process of distributed training starts the same number again. torch itself warns if there
are more workers than usable CPUs.

## Known limits
- A number from an option, a parameter or a configuration is not reported, whatever its default is.

## Example
```python
import os

from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, num_workers=os.cpu_count())
```

## Use instead
```python
from torch.utils.data import DataLoader

def make(dataset, workers):
    return DataLoader(dataset, num_workers=workers)
```

## Fix safety
No fix: the right number has to be measured.

## When to ignore it
On a machine that runs nothing else.

## Error messages
- `UserWarning: This DataLoader will create N worker processes in total. Our suggested max number of worker ...`

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL305", "too-many-workers", Entity.LOADER, Level.OPINION, Claim.MUST, default=False)


def find(file: File) -> Iterable[Loader]:
    return file.loaders


def check(loader: Loader, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.arguments.dl305_too_many_workers.worker_counts import number_of_workers, takes_all_cpus

    limit = file.settings.max_workers
    if not loader.is_written_here or not loader.is_reached:
        return
    number, counter = number_of_workers(loader), takes_all_cpus(loader)
    if number is not None and number > limit:
        problem = f"`{loader.name}` starts {number} workers, above the limit of {limit}"
        yield Finding(loader.node, problem, "use fewer, or raise `max-workers` in the settings")
    elif counter:
        problem = (
            f"`{loader.name}` starts a worker per CPU of the machine (`{counter}()`), "
            "usable or not, in every distributed process"
        )
        yield Finding(loader.node, problem, "make the number of workers an option")
