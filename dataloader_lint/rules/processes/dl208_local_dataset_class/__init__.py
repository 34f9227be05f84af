"""A Dataset class defined in a function or notebook cannot be pickled for spawned workers.

## What it does
Reports a Dataset class that is defined inside a function or method in these cases:

- an object of it reaches a DataLoader that may have workers, directly or inside a `Subset` or another Dataset
- the function returns the class or an object of it, and the project has no DataLoader that gets it

In a notebook, every Dataset class that is defined in a cell is reported if it reaches a loader with workers.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the Dataset pickled.
An object is pickled with the name of its class. A class inside a function cannot be imported by name: the first
iteration raises. Under fork nothing is pickled, so the same code works on Linux up to Python 3.13.

A class of a notebook is pickled as `__main__.Images`. The `__main__` of a spawned worker is not the notebook, so
nothing can be imported from there. The workers die with AttributeError (`Can't get attribute 'Images'`), and the
loader raises RuntimeError (`DataLoader worker (pid(s) ...) exited unexpectedly`). Classes that a notebook imports
from a .py file are found.

## Known limits
- Silent if all DataLoaders found in the project that get an object of the class have no workers or fork them.
- Silent for classes that define `__reduce__`.
- Silent for what functions of a test file return if no DataLoader gets it.
- A class inside a module-level class can be pickled.
- Nothing is reported if the program expects that pickling fails, as in `pytest.raises(AttributeError)`.

## Example
```python
from torch.utils.data import DataLoader, Dataset

def make(images):
    class Images(Dataset):
        def __len__(self):
            return len(images)

        def __getitem__(self, index):
            return images[index]

    return DataLoader(Images(), num_workers=4)
```

## Use instead
```python
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index]

def make(images):
    return DataLoader(Images(images), num_workers=4)
```

## Fix safety
No fix: variables of the enclosing function have to become arguments of the class.

## When to ignore it
If the program only ever forks its workers (by its start method, and on a Python before 3.14), or never has any.

## Error messages
- `AttributeError: Can't pickle local object 'make.<locals>.Images'`
- `AttributeError: Can't get local object 'make.<locals>.Images'` (Python 3.13)
- `AttributeError: Can't get attribute 'Images' on <module '__main__' (built-in)>`

## References
- [Contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
- [What can be pickled](https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule
from dataloader_lint.rules.wording import MOVE_OUT_OF_NOTEBOOK, NOT_IN_WORKERS, PICKLING_FAILS

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes.dl208_local_dataset_class.local_datasets import LocalDataset

RULE = Rule("DL208", "local-dataset-class", Entity.DATASET, Level.WARNING, Claim.MAY, spawning=True)


def find(file: File) -> Iterable[LocalDataset]:
    from dataloader_lint.rules.processes.dl208_local_dataset_class.local_datasets import local_datasets

    return local_datasets(file.reach, file.module)


def check(local: LocalDataset, file: File) -> Iterator[Finding]:
    if local.loader is not None and local.loader.is_pickling_error_expected:
        return
    if not local.function:
        problem = f"the Dataset `{local.name}` is defined in this notebook: {NOT_IN_WORKERS}"
        yield Finding(local.klass.node, problem, MOVE_OUT_OF_NOTEBOOK, because=local.steps)
        return
    where = "to a .py file" if local.is_in_notebook else "to module level"
    yield Finding(
        local.klass.node,
        f"the Dataset `{local.name}` is nested in `{local.function}`: {PICKLING_FAILS}",
        f"move it {where} and pass what it uses",
        because=local.steps,
    )
