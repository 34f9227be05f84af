"""A Dataset has a Python list, dict or set as an attribute.

## What it does
Reports every list, dict and set that the `__init__` of a Dataset assigns to an attribute, whatever its size and use.
The rule is opt-in, for teams that want no Python containers on Datasets at all. What DL101 or DL102 reports is not
repeated.

## Why is this bad?
Usually it is not. It costs memory when the container grows with the data and workers read it: each worker then gets a
copy. That is 307 MB more after one shuffled epoch for two million short strings and two workers (torch 2.13, fork).
DL101 and DL102 look for that. This rule also reports the containers that they know too little about.

## Known limits
- Constants of the class body are not reported.
- Containers of unknown type are not reported.

## Example
```python
import glob
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, folder):
        self.sizes = [224, 256]
        self.folder = folder

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return self.folder, self.sizes[0]
```

## Use instead
```python
import glob
from torch.utils.data import Dataset

class Images(Dataset):
    SIZES = (224, 256)

    def __init__(self, folder):
        self.folder = folder

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return self.folder, self.SIZES[0]
```

For data that grows: NumPy arrays if workers are forked, torch tensors if they are spawned.

## Fix safety
No fix.

## When to ignore it
If the container is small. That is why the rule is opt-in.

## Error messages
- `DataLoader worker (pid ...) is killed by signal: Killed`

## References
- [pytorch issue 13246](https://github.com/pytorch/pytorch/issues/13246)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.memory._shared.dataset import StoringDataset

RULE = Rule("DL105", "container-attribute", Entity.DATASET, Level.OPINION, Claim.MAY, default=False)


def find(file: File) -> Iterable[StoringDataset]:
    from dataloader_lint.rules.memory._shared.dataset import storing_datasets

    return storing_datasets(file)


def check(dataset: StoringDataset, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.memory._shared.stored_fields import sample_dicts, sample_lists
    from dataloader_lint.rules.memory.dl105_container_attribute.bound_containers import bound_containers

    reported = {each.name for each in (*sample_lists(dataset), *sample_dicts(dataset))}
    for container in bound_containers(dataset, reported):
        problem = (
            f"`{dataset.name}.{container.name}` is a Python {container.kind}: "
            "if it grows with the data, it is copied to each worker that reads it"
        )
        yield Finding(container.node, problem, "keep it small, or use arrays or tensors")
