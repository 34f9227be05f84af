"""A large NumPy array of a Dataset is copied in full to every spawned worker.

## What it does
Reports a Dataset attribute that is read for every sample in the workers and is one of these:

- a NumPy array that is read from a file when the Dataset is constructed: `numpy.load`, `fromfile`, `loadtxt`
- a memory map: `numpy.memmap`, `numpy.load(..., mmap_mode=...)`

The rule is opt-in. It is on if the settings say that workers are spawned: `start-method = "spawn"` or `"forkserver"`,
or a `target-python` from 3.14 on.

## Why is this bad?
Spawned workers get the Dataset pickled, and NumPy pickles an array by value, a memory map too. Measured with torch
2.13, spawn and forkserver: each worker holds 95 MB more for an array of 95 MB, and 95 MB more for a `memmap` of that
size. A tensor of that size costs 0, since it is sent as shared memory.

Forked workers share the array for as long as nobody writes to it.

## Known limits
- The size of the file is not known.
- Nothing is reported if every DataLoader in the project that reads the Dataset forks its workers by its own
  `multiprocessing_context`.

## Example
```python
import numpy as np
from torch.utils.data import Dataset

class Tokens(Dataset):
    def __init__(self, file):
        self.tokens = np.memmap(file, dtype=np.uint16, mode="r")

    def __len__(self):
        return len(self.tokens) - 1024

    def __getitem__(self, index):
        return self.tokens[index : index + 1024]
```

## Use instead
```python
import numpy as np
from torch.utils.data import Dataset

class Tokens(Dataset):
    def __init__(self, file, length):
        self.file = file
        self.length = length
        self.tokens = None

    def __len__(self):
        return self.length - 1024

    def __getitem__(self, index):
        if self.tokens is None:
            self.tokens = np.memmap(self.file, dtype=np.uint16, mode="r")
        return self.tokens[index : index + 1024]
```

An array that is in memory anyway can be kept as a tensor: `torch.from_numpy(array)`.

## Fix safety
No fix.

## When to ignore it
If the array is small, or the program only ever forks its workers.

## Error messages
- `DataLoader worker (pid ...) is killed by signal: Killed`

## References
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
- [Contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule
from dataloader_lint.rules.levels import spawns

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.memory._shared.dataset import StoringDataset


RULE = Rule(
    "DL106", "array-copied-to-workers", Entity.DATASET, Level.MEMORY, Claim.MAY, default=False, default_for=spawns
)


def find(file: File) -> Iterable[StoringDataset]:
    from dataloader_lint.rules.memory._shared.dataset import storing_datasets

    return storing_datasets(file)


def check(dataset: StoringDataset, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.memory._shared.arrays import arrays_of

    if file.settings.start_method == "fork":
        return
    arrays = [array for array in arrays_of(dataset) if array.source]
    if not arrays or dataset.has_no_workers_yet or dataset.is_unread:
        return
    loaders = file.reach.loaders_of(dataset.klass)
    if loaders and all(loader.pickles_nothing for loader in loaders):
        return
    for array in arrays:
        what, advice = "a NumPy array read from a file", "use a tensor (`torch.from_numpy`), which workers share"
        if array.source == "memmap":
            what, advice = (
                "a memory map, which is pickled by value,",
                "open it in the worker when the first sample is read",
            )
        problem = f"`{array.owner}.{array.name}`: {what} is copied in full to each spawned worker"
        yield Finding(array.node, problem, advice, cause=f"{array.owner}.{array.name}")
