"""`non_blocking=True` on batches that are not pinned may not overlap the copy with anything.

## What it does
Reports the first `.to(device, non_blocking=True)` or `.cuda(non_blocking=True)` on a batch of a DataLoader whose
`pin_memory` is known to be false. There is one finding per loader. The rule is opt-in.

## Why is this bad?
The argument is meant to let the host go on while the batch is copied. For `Tensor.cuda`, the documentation says that
it has no effect unless the tensor is in pinned memory. For `Tensor.to`, it promises no more than an attempt.

## Known limits
- Only batches that can be followed from the loader count.
- How much pinning helps depends on the machine and the size of the batches. That is why the rule is opt-in.

## Example
```python
from torch.utils.data import DataLoader

def train(model, dataset, device):
    loader = DataLoader(dataset, batch_size=64, num_workers=4)
    for images, labels in loader:
        model.step(images.to(device, non_blocking=True), labels.to(device, non_blocking=True))
```

## Use instead
```python
from torch.utils.data import DataLoader

def train(model, dataset, device):
    loader = DataLoader(dataset, batch_size=64, num_workers=4, pin_memory=True)
    for images, labels in loader:
        model.step(images.to(device, non_blocking=True), labels.to(device, non_blocking=True))
```

## Fix safety
Unsafe: adds `pin_memory=True`. It costs one more copy of every batch on the host, and page-locked memory.

## When to ignore it
If the copies take no relevant time, or memory is short.

## Error messages
None: the program runs.

## References
- [Memory pinning](https://docs.pytorch.org/docs/stable/data.html#memory-pinning)
- [Tensor.cuda](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.cuda.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.infer.loader_calls import Loader

RULE = Rule(
    "DL402",
    "non-blocking-without-pinning",
    Entity.MODULE,
    Level.SPEED,
    Claim.MUST,
    default=False,
    fix=FixLevel.UNSAFE,
    subjects=(TRANSFERS,),
)


def check(facts: Analysis) -> Iterator[Finding]:
    for origin, transfer in facts.unpinned_moves:
        place = f" of `{origin.file}`" if origin.file != transfer.file else ""
        problem = (
            f"`{transfer.text}` asks for a non-blocking copy, but `{origin.name}`{place} does not pin its batches: "
            "the host may wait"
        )
        yield Finding(transfer.call, problem, "use `pin_memory=True`", partial(fix, origin.loader))


def fix(loader: Loader, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, add_argument, replace

    if loader.call not in editor.tree:
        return None
    arg = loader.argument("pin_memory")
    if arg is None:
        if any(each.star for each in loader.call.args):
            return None
        edit = add_argument(editor, loader.call, "pin_memory=True")
    elif editor.code(arg.value) == "False":
        edit = replace(editor, arg.value, "True")
    else:
        return None
    return Repair(Safety.UNSAFE, "Pin the batches", (edit,))
