"""Batches that a loop trains with on CUDA are never pinned, so no copy overlaps with the training.

## What it does
Reports the first blocking `.to(...)` or `.cuda()` to a CUDA device in a training loop, if the batch comes from a
DataLoader whose `pin_memory` is known to be false. There is one finding per loader. The rule is opt-in.

`non_blocking=True` on such batches is reported by DL402.

## Why is this bad?
CUDA copies from pageable memory by way of a buffer of its own, while the CPU waits. From page-locked memory it copies
directly, and with `non_blocking=True` the CPU goes on meanwhile. What this gains depends on the size of the batches
and on what else the loop does. Measure it: time an epoch with both settings.

Not measured here: it takes a GPU.

## Known limits
- The size of the batches is unknown. Pinning small ones costs more than it gains.
- Silent if the device may be another than CUDA, or the CPU where there is no CUDA, or if the loader is not known.

## Example
```python
from torch.utils.data import DataLoader

def train(model, dataset):
    loader = DataLoader(dataset, batch_size=64, num_workers=4)
    for images, labels in loader:
        loss = model(images.to("cuda"), labels)
        loss.backward()
```

## Use instead
```python
from torch.utils.data import DataLoader

def train(model, dataset):
    loader = DataLoader(dataset, batch_size=64, num_workers=4, pin_memory=True)
    for images, labels in loader:
        loss = model(images.to("cuda", non_blocking=True), labels)
        loss.backward()
```

## Fix safety
No fix: pinning takes page-locked memory, and whether it is faster has to be measured.

## When to ignore it
If the batches are small, memory is short, or the copies take no relevant part of an iteration.

## Error messages
None: the program runs.

## References
- [A guide on good usage of `non_blocking` and `pin_memory`](https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.transfers._shared.unpinned import UnpinnedMove

RULE = Rule("DL406", "never-pinned", Entity.TRANSFER, Level.OPINION, Claim.MUST, default=False, subjects=(TRANSFERS,))


def find(file: File) -> Iterable[UnpinnedMove]:
    from dataloader_lint.rules.transfers.dl406_never_pinned.unpinned_trainings import unpinned_trainings

    return unpinned_trainings(file)


def check(move: UnpinnedMove, file: File) -> Iterator[Finding]:
    loader = f"`{move.origin.name}`{move.place}"
    problem = f"`{move.transfer.text}` copies batches of {loader}, which pins none: the CPU waits"
    advice = "measure `pin_memory=True` with `non_blocking=True`"
    yield Finding(move.transfer.call, problem, advice, because=move.origin.steps)
