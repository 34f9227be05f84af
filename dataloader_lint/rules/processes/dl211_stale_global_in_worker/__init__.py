"""A global that the main process sets at run time has its import-time value in spawned workers.

## What it does
Reports a module global that worker code reads and that is set

- by a function through `global`, or
- under the main guard

**Worker code**: `__getitem__`, transforms, `collate_fn` and the functions that they call.

**Where**: at the first statement that sets it.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) import the module again.
They do not get what the main process set in the meantime. They read the import-time value without any message, such
as 0, 1, 2, 3 instead of 0, 3, 6, 9. If importing the module gives the name no value, they raise NameError. Forked
workers see what was set before they were started.

## Known limits
- Silent if worker code or `worker_init_fn` sets the global itself.
- Silent for functions that are called when the module is imported, or that nothing in the project calls.
- Silent for objects of `multiprocessing`.
- Silent if all DataLoaders found in the project that the Dataset reaches have no workers or fork them.
- Attributes that are set on modules or classes from outside are not checked.
- Silent in notebooks, which no worker imports (see [DL208](#dl208-local-dataset-class)).

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
No fix: the value has to become an argument of the code that reads it.

## When to ignore it
If the program only ever forks its workers, or the Dataset is only ever read with `num_workers=0`.

## Error messages
- `NameError: name '...' is not defined`, raised in a worker only

## References
- [The spawn and forkserver start methods](https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods)
- [Platform-specific behaviors of torch.utils.data](https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes.dl211_stale_global_in_worker.stale_globals import StaleGlobal

RULE = Rule("DL211", "stale-global-in-worker", Entity.WORKER_CODE, Level.WARNING, Claim.MAY, spawning=True)


def find(file: File) -> Iterable[StaleGlobal]:
    from dataloader_lint.rules.processes.dl211_stale_global_in_worker.stale_globals import stale_globals

    return stale_globals(file.reach, file.module)


def check(stale: StaleGlobal, file: File) -> Iterator[Finding]:
    place = f"`{stale.setter}`" if stale.setter else "the main guard"
    effect = "see its import-time value" if stale.is_bound else "raise NameError"
    problem = f"`{stale.reader.label}` reads the global `{stale.name}` set in {place}: spawned workers {effect}"
    advice, level = "pass it to the Dataset, or use `worker_init_fn`", Level.NOTE if stale.only_prints else None
    yield Finding(stale.node, problem, advice, because=file.steps_to(stale.reader), level=level)
