"""More workers than a team wants: a number above the limit of the settings, or one for every CPU.

## What it does
Reports a DataLoader whose `num_workers` is written out and above `max_workers` of the settings (16 by default), or is
all of `os.cpu_count()`.

## Why is this bad?
Every worker is a process that keeps batches ready. `os.cpu_count()` counts the CPUs of the machine, not those that the
process may use, and each process of distributed training starts as many again. torch itself warns where there are more
workers than usable CPUs.

## Known limits
A number from an option, a parameter or a configuration is not judged, whatever its default.

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
There is no fix: the right number has to be measured.

## When to ignore it
On a machine that does nothing else.

## Error messages
- `UserWarning: This DataLoader will create N worker processes in total. Our suggested max number of worker ...`

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL305", "too-many-workers", Entity.MODULE, default=False)


def check(file: Analysis) -> Iterator[Finding]:
    from dataloader_lint.facts.arguments.counts import number_of_workers, takes_all_cpus

    limit = file.settings.max_workers
    for loader in file.loaders:
        if not loader.is_written_here or not loader.is_reached:
            continue
        number, counter = number_of_workers(loader), takes_all_cpus(loader)
        if number is not None and number > limit:
            problem = f"`{loader.name}` starts {number} workers, more than the limit of {limit}"
            yield Finding(loader.node, problem, "take fewer, or raise `max-workers` in the settings")
        elif counter:
            problem = (
                f"`{loader.name}` starts a worker for every CPU of the machine (`{counter}()`), "
                "also for those that the process may not use, and again in every process of distributed training"
            )
            yield Finding(loader.node, problem, "make the number an option")
