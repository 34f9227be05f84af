"""Settings of a loader that torch ignores or refuses.

## What it does
Reports `pin_memory_device`; a `collate_fn` that is given to a loader of torch_geometric; `loader.shuffle = ...` on a
loader that is made already; and the assignment of `batch_size`, `sampler`, `batch_sampler`, `drop_last`, `dataset` or
`persistent_workers` to one.

## Why is this bad?
`pin_memory_device` is deprecated and ignored (torch 2.13). torch_geometric drops a `collate_fn` without a word and
collates graphs its own way. `loader.shuffle` is not read again once the sampler is made, so the order stays as it was.
The other attributes raise ValueError.

## Known limits
Subclasses that define such an attribute themselves are left alone, and so is `loader.shuffle` where it only keeps what
the loader or its sampler was made with.

Nothing is reported where the program expects the error, as in `pytest.raises` or `try ... except` (see DL301).

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
Unsafe, for `pin_memory_device` only: what is ignored goes, but older versions of torch read it. What the others were
meant to do is for the author to say.

## When to ignore it
`pin_memory_device` where the program also runs on a torch that still reads it.

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
from dataloader_lint.rules.base import Entity, Finding, FixLevel, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.infer.loader_calls import Loader

RULE = Rule("DL311", "ignored-loader-setting", Entity.MODULE, fix=FixLevel.UNSAFE)


def check(file: Analysis) -> Iterator[Finding]:
    from dataloader_lint.facts.arguments.late_settings import drops_collate, names_pin_device

    for loader in file.loaders:
        if not loader.is_written_here or not loader.is_reached:
            continue
        if names_pin_device(loader):
            problem = "`pin_memory_device` is deprecated and ignored: batches are pinned for the current accelerator"
            yield Finding(loader.node, problem, "remove it", partial(fix, loader))
        if drops_collate(loader):
            problem = f"`{loader.name}` of torch_geometric drops its `collate_fn` and collates graphs its own way"
            advice = "remove it, or use `torch.utils.data.DataLoader`"
            yield Finding(loader.node, problem, advice)
    for late in file.late_settings:
        if late.is_refused:
            problem = f"`{late.owner}.{late.name}` cannot be set on a loader that is made already: ValueError"
        else:
            problem = f"`{late.owner}.shuffle` is not read once the loader is made: the order stays as it was"
        yield Finding(late.node, problem, f"give `{late.name}` to the constructor, or make a new loader")


def fix(loader: Loader, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, remove_option
    from dataloader_lint.facts.arguments.late_settings import names_pin_device

    edit = remove_option(editor, loader, "pin_memory_device", names_pin_device)
    return Repair(Safety.UNSAFE, "Remove `pin_memory_device`", (edit,))
