"""A setting of a DataLoader is ignored or refused by torch.

## What it does
Reports

- `pin_memory_device`
- a `collate_fn` that is passed to a loader of torch_geometric
- `loader.shuffle = ...` after the loader was made
- an assignment to `batch_size`, `sampler`, `batch_sampler`, `drop_last`, `dataset` or `persistent_workers` of a
  loader

## Why is this bad?
`pin_memory_device` is deprecated and ignored (torch 2.13). torch_geometric ignores a `collate_fn` without a message
and collates graphs its own way. `loader.shuffle` is not read after the sampler is made, so the order does not change.
Assigning to the other attributes raises ValueError.

## Known limits
- Subclasses that define such an attribute themselves are not reported.
- `loader.shuffle` is not reported if it only stores what the loader or its sampler was made with.
- Silent in tests, and where `try ... except` catches the error (see DL301).

## Example
```python
from torch.utils.data import DataLoader

def make(dataset):
    loader = DataLoader(dataset, batch_size=4)
    loader.shuffle = True
    return loader
```

## Use instead
```python
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, batch_size=4, shuffle=True)
```

## Fix safety
Unsafe, for `pin_memory_device` only: the ignored argument is removed, but older versions of torch read it. For the
others, only you know what they were meant to do.

## When to ignore it
For `pin_memory_device`, if the program also runs with a torch version that still reads it.

## Error messages
- `ValueError: batch_size attribute should not be set after DataLoader is initialized`
- `UserWarning: pin_memory_device is deprecated`

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
- [torch_geometric.loader.DataLoader](https://pytorch-geometric.readthedocs.io/en/latest/modules/loader.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL311", "ignored-loader-setting", Entity.FILE, Level.ERROR, Claim.MUST, fix=FixLevel.UNSAFE)


def check(file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.arguments.dl311_ignored_loader_setting.late_settings import (
        drops_collate,
        late_settings,
        names_pin_device,
    )

    for loader in file.loaders:
        if not loader.is_written_here or not loader.is_reached:
            continue
        if names_pin_device(loader):
            problem = "`pin_memory_device` is deprecated and ignored: batches are pinned for the current accelerator"
            yield Finding(loader.node, problem, "remove `pin_memory_device`", partial(fix, loader))
        if drops_collate(loader):
            problem = f"`{loader.name}` of torch_geometric ignores its `collate_fn` and collates graphs its own way"
            advice = "remove `collate_fn`, or use `torch.utils.data.DataLoader`"
            yield Finding(loader.node, problem, advice)
    for late in late_settings(file.ev, file.module):
        if late.is_refused:
            problem = f"`{late.owner}.{late.name}` cannot be set after construction: ValueError"
        else:
            problem = f"`{late.owner}.shuffle` is not read after construction: the order does not change"
        yield Finding(late.node, problem, f"pass `{late.name}` to the constructor, or make a new loader")


def fix(loader: Loader, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, remove_option
    from dataloader_lint.rules.arguments.dl311_ignored_loader_setting.late_settings import names_pin_device

    edit = remove_option(editor, loader, "pin_memory_device", names_pin_device)
    return Repair(Safety.UNSAFE, "Remove `pin_memory_device`", (edit,))
