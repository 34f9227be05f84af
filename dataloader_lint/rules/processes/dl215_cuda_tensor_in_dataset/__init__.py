"""CUDA tensors kept by a Dataset raise in forked workers and with `pin_memory=True`.

## What it does
Reports the call that puts a tensor on CUDA if a Dataset keeps the tensor and its DataLoader has workers or
`pin_memory=True`.

**What is recognized**

- `.cuda()`, `.to(...)` with a CUDA device, and torch functions with such a `device=`
- kept in an attribute that the Dataset indexes, in a `TensorDataset`, or in a Subset of these

A device counts as CUDA if it is on one branch of `torch.cuda.is_available()`.

## Why is this bad?
A process that was forked after its parent started CUDA cannot use it: the first sample raises `Cannot re-initialize
CUDA in forked subprocess`. With `pin_memory=True` the batch is on CUDA already and cannot be pinned: torch raises
`cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned`.

Not measured here: it takes a GPU.

## Known limits
- Silent without workers and without pinning: data that fits on the GPU may well stay there.
- Silent if the DataLoader says `multiprocessing_context="spawn"` or `"forkserver"` and does not pin.
- Silent if the device is not known.

## Example
```python
import torch
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __init__(self, images):
        self.images = torch.as_tensor(images).cuda()

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index]

def make(images):
    return DataLoader(Images(images), batch_size=64, num_workers=4)
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __init__(self, images):
        self.images = torch.as_tensor(images).cuda()

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index]

def make(images):
    return DataLoader(Images(images), batch_size=64)
```

Or keep the tensors on the CPU, and move each batch in the training loop.

## Fix safety
No fix: you decide between the GPU without workers and the CPU with them.

## When to ignore it
If workers are started by spawn and nothing is pinned. Each worker then takes the memory of a CUDA context.

## Error messages
- `RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the
  'spawn' start method`
- `RuntimeError: cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned`

## References
- [torch.utils.data: memory pinning](https://docs.pytorch.org/docs/stable/data.html#memory-pinning)
- [darts issue 436](https://github.com/unit8co/darts/issues/436)
- [Multiprocessing best practices: CUDA in multiprocessing](https://docs.pytorch.org/docs/stable/notes/multiprocessing.html)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import DEVICES
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes.dl215_cuda_tensor_in_dataset.cuda_tensors import KeptCudaTensor

RULE = Rule("DL215", "cuda-tensor-in-dataset", Entity.STORED, Level.ERROR, Claim.MAY, subjects=(DEVICES,))


def find(file: File) -> Iterable[KeptCudaTensor]:
    from dataloader_lint.rules.processes.dl215_cuda_tensor_in_dataset.cuda_tensors import kept_cuda_tensors

    return kept_cuda_tensors(file.reach, file.module)


def check(found: KeptCudaTensor, file: File) -> Iterator[Finding]:
    if found.has_workers:
        effect = f"forked workers of `{found.loader.bound_name}` raise when they read it"
        advice = "keep it on the CPU, or use no workers"
    else:
        effect = f"`{found.loader.bound_name}` cannot pin it and raises"
        advice = "keep it on the CPU, or do not pin"
    yield Finding(found.node, f"`{found.keeper}` keeps a tensor on CUDA: {effect}", advice, because=found.steps)
