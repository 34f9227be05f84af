"""Batches are pinned but never moved to a GPU.

## What it does
Reports a DataLoader whose `pin_memory` is known to be true, although its batches are known to stay on the CPU:

- every move of them in the module names the CPU, and the module mentions no other device, or
- the loader is passed to a Lightning `Trainer(accelerator="cpu")`

## Why is this bad?
Pinned memory serves copies to a GPU. If the machine has no accelerator, torch warns in every run that none is found
and that pinned memory will not be used. If it has one, every batch is copied once more for nothing.

## Known limits
- The device must be certain. An option whose default is the CPU is not, and neither is a parameter of a function.
- A loader that is made in one file and used in another is not followed.

## Example
```python
import torch
from torch.utils.data import DataLoader

def train(model, dataset):
    device = torch.device("cpu")
    loader = DataLoader(dataset, batch_size=64, pin_memory=True)
    for images, labels in loader:
        model.step(images.to(device), labels.to(device))
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader

def train(model, dataset):
    device = torch.device("cpu")
    loader = DataLoader(dataset, batch_size=64)
    for images, labels in loader:
        model.step(images.to(device), labels.to(device))
```

If the device is chosen at run time, write `pin_memory=device.type == "cuda"`.

## Fix safety
Unsafe: removes `pin_memory`. If you change the device later, you have to add it again.

## When to ignore it
If the device is set to the CPU only for a while.

## Error messages
- `'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.`

## References
- [Memory pinning](https://docs.pytorch.org/docs/stable/data.html#memory-pinning)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.transfers.dl403_pinning_on_cpu.useless_pins import UselessPin
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule(
    "DL403", "pinning-on-cpu", Entity.LOADER, Level.SPEED, Claim.MUST, fix=FixLevel.UNSAFE, subjects=(TRANSFERS,)
)


def find(file: File) -> Iterable[UselessPin]:
    from dataloader_lint.rules.transfers.dl403_pinning_on_cpu.useless_pins import useless_pins

    return useless_pins(file)


def check(pin: UselessPin, file: File) -> Iterator[Finding]:
    problem = (
        f"`{pin.loader.name}` pins batches that stay on the CPU (`{pin.evidence}`): "
        "torch warns, or copies each batch once more for nothing"
    )
    yield Finding(pin.loader.node, problem, "remove `pin_memory`", partial(fix, pin.loader))


def is_pinning(loader: Loader) -> bool:
    """True if a loader is known to pin its batches."""
    pins = loader.known("pin_memory")
    return pins is not None and pins.value is True


def fix(loader: Loader, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, remove_option

    edit = remove_option(editor, loader, "pin_memory", is_pinning)
    return Repair(Safety.UNSAFE, "Remove `pin_memory`", (edit,))
