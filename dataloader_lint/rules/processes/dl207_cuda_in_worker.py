"""CUDA in worker code raises in forked workers and holds a CUDA context in each spawned one.

## What it does
Reports the first call in a function of worker code that starts CUDA.

**Worker code**: `__getitem__`, `__iter__`, transforms, `collate_fn`, `worker_init_fn` and the functions that they
call.

**What is recognized**

- `.cuda()`, and `.to(...)` with a CUDA device
- `device=` or `map_location=` with a CUDA device
- `.pin_memory()`
- functions of `torch.cuda` such as `set_device`

A device counts as CUDA if it is on one branch of `torch.cuda.is_available()`.

## Why is this bad?
A process that was forked after its parent started CUDA cannot use it: torch raises `Cannot re-initialize CUDA in
forked subprocess`. Workers that are started by spawn or forkserver can use it. Each of them takes the memory of its
own CUDA context.

## Known limits
- Silent if all DataLoaders found in the project that the Dataset reaches have no workers.
- Silent if the device is not known.
- Silent if an unknown flag decides whether the call runs.

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
No fix: the batch has to be moved where it is used.

## When to ignore it
If the Dataset is only ever read with `num_workers=0`.

## Error messages
- `RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the
  'spawn' start method`

## References
- [Multiprocessing best practices: CUDA in multiprocessing](https://docs.pytorch.org/docs/stable/notes/multiprocessing.html)
- [torch.utils.data: memory pinning](https://docs.pytorch.org/docs/stable/data.html#memory-pinning)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import DEVICES
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes._shared.calls_in_workers import WorkerCall

RULE = Rule("DL207", "cuda-in-worker", Entity.WORKER_CODE, Level.ERROR, Claim.MAY, subjects=(DEVICES,))


def find(file: File) -> Iterable[WorkerCall]:
    from dataloader_lint.rules.processes._shared.cuda import cuda_in_workers

    return cuda_in_workers(file.reach, file.module)


def check(found: WorkerCall, file: File) -> Iterator[Finding]:
    function = found.function
    problem = (
        f"{found.way} run by `{function.path[0].label}` can raise in forked workers "
        "and costs spawned ones a CUDA context"
    )
    advice = "move batches in the training loop"
    if found.way == "`.pin_memory()`":
        advice = "use `DataLoader(pin_memory=True)`"
    yield Finding(found.call, problem, advice, because=file.steps_to(function), cause=f"{function.label}:{advice}")
