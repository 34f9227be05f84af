"""CUDA in worker code raises in forked workers and costs a CUDA context in every spawned one.

## What it does
Reports the first call in a function of worker code (`__getitem__`, `__iter__`, transforms, `collate_fn`,
`worker_init_fn` and what they call) that starts CUDA: `.cuda()`, `.to(...)` with a device that is CUDA, `device=` or
`map_location=` with one, `.pin_memory()`, and functions of `torch.cuda` such as `set_device`. A device counts as CUDA
where it is on one branch of `torch.cuda.is_available()`.

## Why is this bad?
A process that was forked after its parent started CUDA cannot use it: torch raises `Cannot re-initialize CUDA in forked
subprocess`. Workers that are started by spawn or forkserver can, but each of them takes the memory of a CUDA context
of its own.

## Known limits
Silent where all loaders in sight that the Dataset reaches have no workers, where the device is not known, and where a
flag that is not known decides whether the call runs.

## Example
```python
import torch
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, images):
        self.images = torch.as_tensor(images)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def __getitem__(self, index):
        return self.images[index].to(self.device)
```

## Use instead
```python
import torch
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, images):
        self.images = torch.as_tensor(images)

    def __getitem__(self, index):
        return self.images[index]

def train(loader, device):
    for batch in loader:
        batch = batch.to(device, non_blocking=True)
```

## Fix safety
There is no fix: the batch has to be moved where it is used.

## When to ignore it
When the Dataset is only ever read with `num_workers=0`.

## Error messages
- `RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the
  'spawn' start method`

## References
- [Multiprocessing best practices: CUDA in multiprocessing](https://docs.pytorch.org/docs/stable/notes/multiprocessing.html)
- [torch.utils.data: memory pinning](https://docs.pytorch.org/docs/stable/data.html#memory-pinning)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import DEVICES
from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL207", "cuda-in-worker", Entity.MODULE, subjects=(DEVICES,))


def check(file: Analysis) -> Iterator[Finding]:
    for found in file.cuda_calls:
        function = found.function
        way = "" if function.caller is None else f", reached from `{function.path[0].label}`"
        problem = (
            f"`{function.label}` calls {found.way} in worker code{way}: this raises in workers that are forked after "
            "CUDA was started, and takes a CUDA context of its own in each spawned one"
        )
        advice = "keep worker code on the CPU and move the batch in the training loop"
        if found.way == "`.pin_memory()`":
            advice = "leave the pinning to `DataLoader(pin_memory=True)`, which does it in the main process"
        yield Finding(found.call, problem, advice)
