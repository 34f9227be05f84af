"""A Dataset class inside a function, or in a notebook, is not found by spawned workers.

## What it does
Reports a Dataset class whose definition stands inside a function or method, when an object of it reaches a DataLoader
that may have workers, directly or inside a `Subset` or another Dataset, or when the function returns the class or an
object of it and no loader is in sight. In a notebook every Dataset class is reported that is defined in one of its
cells and reaches a loader with workers.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the Dataset pickled.
An object is pickled with the name of its class, and a name inside a function cannot be imported: the first iteration
raises. Under fork nothing is pickled, which is why the same code works on Linux up to Python 3.13.

A class of a notebook is pickled as `__main__.Images`, and the `__main__` of a spawned worker is not the notebook:
nothing can be imported from one. The workers die with AttributeError (`Can't get attribute 'Images'`), and the loader
raises RuntimeError (`DataLoader worker (pid(s) ...) exited unexpectedly`). What a notebook imports from a .py file is
found.

## Known limits
Silent where all loaders in sight that get an object of the class have no workers or fork them, for classes that define
`__reduce__`, and for what functions of a test file return while no loader is in sight. A class inside a class at module
level can be pickled.

Nothing is reported where the program expects that pickling fails, as in `pytest.raises(AttributeError)`.

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
There is no fix: what the class takes from the function around it has to become arguments.

## When to ignore it
Where the program is pinned to fork, by the start method and by the Python version, or the Dataset never has workers.

## Error messages
- `AttributeError: Can't pickle local object 'make.<locals>.Images'`
- `AttributeError: Can't get local object 'make.<locals>.Images'` (Python 3.13)
- `AttributeError: Can't get attribute 'Images' on <module '__main__' (built-in)>`

## References
- [Contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
- [What can be pickled](https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL208", "local-dataset-class", Entity.MODULE, spawning=True)


def check(file: Analysis) -> Iterator[Finding]:
    for local in file.local_datasets:
        if local.loader is not None and local.loader.is_pickling_error_expected:
            continue
        if local.loader is not None:
            effect = (
                f"so `{local.loader.name}` fails to start workers on macOS, Windows and, from Python 3.14 on, Linux"
            )
        else:
            effect = "so no loader can start workers for it on macOS, Windows and, from Python 3.14 on, Linux"
        if not local.function:
            assert local.loader is not None
            problem = (
                f"the Dataset `{local.name}` is defined in this notebook, where a spawned worker cannot find it, so "
                f"the workers of `{local.loader.name}` die on macOS, Windows and, from Python 3.14 on, Linux"
            )
            yield Finding(local.klass.node, problem, "move the class to a .py file and import it from there")
            continue
        where = "to a .py file, at module level," if local.is_in_notebook else "to module level"
        yield Finding(
            local.klass.node,
            f"the Dataset `{local.name}` is defined inside `{local.function}`, where a pickle cannot find it, {effect}",
            f"move the class {where} and give it what it takes from `{local.function}` as arguments",
        )
