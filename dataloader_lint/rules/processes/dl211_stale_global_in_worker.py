"""A global that the main process sets at run time keeps its import-time value in spawned workers.

## What it does
Reports a module global that a function sets through `global`, or that is set under the main guard, and that worker code
(`__getitem__`, transforms, `collate_fn` and what they call) reads. The report stands on the first such statement.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) import the module again.
What the main process set meanwhile is not there: they read the value from import time without any message (0, 1, 2, 3
instead of 0, 3, 6, 9), or raise NameError where importing the module gives the name no value. Forked workers see what
was set before they were started.

## Known limits
Silent where worker code or `worker_init_fn` sets the global itself, for functions that are called as the module is
imported or by nobody in sight, for objects of `multiprocessing`, and where all loaders in sight that the Dataset
reaches have no workers or fork them. Attributes that are set on modules or classes from outside are not looked at.
Silent in notebooks, which no worker imports (see [DL208](#dl208-local-dataset-class)).

## Example
```python
from torch.utils.data import DataLoader, Dataset

scale = 1

class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index * scale

def main():
    global scale
    scale = 3
    for rows in DataLoader(Rows(), num_workers=2):
        print(rows)

if __name__ == "__main__":
    main()
```

## Use instead
```python
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, scale):
        self.scale = scale

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index * self.scale

def main():
    for rows in DataLoader(Rows(scale=3), num_workers=2):
        print(rows)

if __name__ == "__main__":
    main()
```

## Fix safety
There is no fix: the value has to become an argument of what reads it.

## When to ignore it
When the program is pinned to fork, or the Dataset is only ever read with `num_workers=0`.

## Error messages
- `NameError: name '...' is not defined`, raised in a worker only

## References
- [The spawn and forkserver start methods](https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods)
- [Platform-specific behaviors of torch.utils.data](https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL211", "stale-global-in-worker", Entity.MODULE, spawning=True)


def check(file: Analysis) -> Iterator[Finding]:
    for stale in file.stale_globals:
        place = f"`{stale.setter}`" if stale.setter else "the main guard"
        effect = "see the value from import time" if stale.is_bound else "raise NameError"
        problem = (
            f"the global `{stale.name}` is set in {place} and read in worker code by `{stale.reader.label}`: on macOS, "
            f"Windows and, from Python 3.14 on, Linux workers import the module again and {effect}"
        )
        yield Finding(stale.node, problem, "pass it to the Dataset as an argument, or set it in `worker_init_fn`")
