"""Pinning a batch in the training loop costs more than the copy that it makes faster.

## What it does
Reports `batch.pin_memory().to(device, ...)`, also with `.cuda(...)`, in a loop over a DataLoader. The rule is opt-in.

## Why is this bad?
`pin_memory()` copies the batch into pinned memory and waits for that, in the thread that trains. Only then can the copy
to the device run beside other work. `DataLoader(pin_memory=True)` pins in a thread of its own. PyTorch's tutorial
measures the explicit call as slower than the plain copy; this project had no GPU to measure it with.

## Known limits
- Only the two calls in one expression are recognized.

## Example
```python
import torch
from torch.utils.data import DataLoader, TensorDataset

def train(model, images):
    loader = DataLoader(TensorDataset(images), batch_size=32, num_workers=4)
    for (batch,) in loader:
        model(batch.pin_memory().to("cuda", non_blocking=True))
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader, TensorDataset

def train(model, images):
    loader = DataLoader(TensorDataset(images), batch_size=32, num_workers=4, pin_memory=True)
    for (batch,) in loader:
        model(batch.to("cuda", non_blocking=True))
```

## Fix safety
No fix: the loader may be made elsewhere.

## When to ignore it
If the tensor is made in the loop and copied on another stream.

## Error messages
None: the loop is slower.

## References
- [A guide on good usage of non_blocking and pin_memory](https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File

RULE = Rule(
    "DL408", "pinned-in-the-loop", Entity.TRANSFER, Level.SPEED, Claim.MAY, default=False, subjects=(TRANSFERS,)
)


def find(file: File) -> Iterator[tuple[cst.Call, str]]:
    import libcst as cst

    from dataloader_lint.pipeline.loaders.epochs import loaders_behind
    from dataloader_lint.semantics.syntax.expressions import last_name
    from dataloader_lint.semantics.syntax.layout import code
    from dataloader_lint.semantics.syntax.tree import function_scope

    tree = file.tree
    for pin in file.module.calls_named("pin_memory"):
        moved = tree.parent(pin)
        call = tree.parent(moved) if isinstance(moved, cst.Attribute) else None
        if not isinstance(call, cst.Call) or last_name(call.func) not in ("to", "cuda") or pin.args:
            continue
        for above in tree.ancestors(call):
            if isinstance(above, cst.For) and isinstance(pin.func, cst.Attribute):
                frame = file.ev.frame_of(function_scope(tree.scope_of(above)))
                if any(loaders_behind(file.ev, file.ev.values(above.iter, frame))):
                    yield call, code(tree, pin.func.value)
                    break


def check(found: tuple[cst.Call, str], file: File) -> Iterator[Finding]:
    call, name = found
    problem = f"`{name}` is pinned in the loop, which waits for that: slower than the copy that it speeds up"
    yield Finding(call, problem, "use `DataLoader(pin_memory=True)`")
