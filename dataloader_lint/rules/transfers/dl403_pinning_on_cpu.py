"""Batches are pinned for a GPU that they never go to.

## What it does
Reports a DataLoader whose `pin_memory` is known to be true, where all that the module does with its batches is known to
happen on the CPU: every move of them names the CPU, and no other device occurs in the module; or the loader is given to
a Lightning `Trainer(accelerator="cpu")`.

## Why is this bad?
Pinned memory serves copies to a GPU. Where the machine has no accelerator torch warns in every run that none is found
and that pinned memory will not be used. Where there is one, every batch is copied once more for nothing.

## Known limits
The device must be certain: an option with the CPU as its default is not, and neither is a function's parameter. A
loader that is made in one file and used in another is not followed.

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

Where the device is chosen at run time, write `pin_memory=device.type == "cuda"`.

## Fix safety
Unsafe: removes `pin_memory`. Whoever changes the device later has to think of it again.

## When to ignore it
When the device is only set to the CPU for a while.

## Error messages
- `'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.`

## References
- [Memory pinning](https://docs.pytorch.org/docs/stable/data.html#memory-pinning)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Entity, Finding, FixLevel, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.infer.loader_calls import Loader

RULE = Rule("DL403", "pinning-on-cpu", Entity.MODULE, fix=FixLevel.UNSAFE, subjects=(TRANSFERS,))


def check(facts: Analysis) -> Iterator[Finding]:
    for pin in facts.useless_pins:
        problem = (
            f"`{pin.loader.name}` pins its batches, but they stay on the CPU (`{pin.evidence}`): "
            "torch warns that it found no accelerator, or copies every batch once more for nothing"
        )
        yield Finding(pin.loader.node, problem, "leave out `pin_memory`", partial(fix, pin.loader))


def is_pinning(loader: Loader) -> bool:
    """Whether a loader is known to pin."""
    pins = loader.known("pin_memory")
    return pins is not None and pins.value is True


def fix(loader: Loader, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, remove_option

    edit = remove_option(editor, loader, "pin_memory", is_pinning)
    return Repair(Safety.UNSAFE, "Remove `pin_memory`", (edit,))
