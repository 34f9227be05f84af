"""A tensor copied to the CPU with `non_blocking=True` may be read before the copy is complete.

## What it does
Reports `.to("cpu", non_blocking=True)` if the result is read in the same expression, later in the same block or behind
the `if` around it, and nothing in between waits for the device. The copies of one function are one finding, at the
first of them.

**Reads that count**: `.numpy()`, `.item()`, `.tolist()`, `.argmax()` and the like, arithmetic such as
`scores * weights`, `float(...)`, `print(...)`, `torch.save`, ...

The device and the flag must both be known.

## Why is this bad?
The call can return before the copy is complete. If the CPU reads the tensor before that, it can see wrong values,
without an error. From CPU to CPU the argument has no effect, so the tensor must be known to come from another device.

## Known limits
Not reported:

- batches of a loader, which are on the CPU anyway
- results that are passed on before they are read
- reads after a call of a function of the project
- modules that are moved to the CPU

## Example
```python
import torch

def predict(model, images):
    scores = model(images.to("cuda"))
    scores = scores.to("cpu", non_blocking=True)
    return scores.numpy()
```

## Use instead
```python
import torch

def predict(model, images):
    scores = model(images.to("cuda"))
    scores = scores.to("cpu")
    return scores.numpy()
```

To overlap several copies, start them all and call `torch.cuda.synchronize()` before the first one is read.

## Fix safety
Safe: removes `non_blocking=True`, so the copy is complete when the call returns. There is no fix if the copied object
is of a class of the project, whose `to` may need the argument.

## When to ignore it
If code that the linter cannot see waits for the device in between.

## Error messages
None: numbers can be wrong.

## References
- [Tensor.to](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html)
- [A guide on good usage of `non_blocking` and `pin_memory`](https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html)
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
    from dataloader_lint.rules.transfers._shared.batches import Transfer
    from dataloader_lint.rules.transfers.dl404_non_blocking_copy_to_cpu.early_copies import EarlyCopy

RULE = Rule(
    "DL404",
    "non-blocking-copy-to-cpu",
    Entity.TRANSFER,
    Level.ERROR,
    Claim.MAY,
    fix=FixLevel.SAFE,
    subjects=(TRANSFERS,),
)


def find(file: File) -> Iterable[EarlyCopy]:
    from dataloader_lint.rules.transfers.dl404_non_blocking_copy_to_cpu.early_copies import early_copies

    return early_copies(file)


def check(copy: EarlyCopy, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.transfers._shared.loop_purposes import function_around

    problem = f"`{copy.transfer.text}` may return before the copy is complete: {copy.read.text} can read wrong values"
    advice = "remove `non_blocking`, or synchronize first"
    cause = function_around(copy.transfer)
    yield Finding(copy.transfer.call, problem, advice, partial(fix, copy.transfer), cause=cause)


def fix(transfer: Transfer, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, remove_argument

    arg = next((arg for arg in transfer.call.args if arg.keyword and arg.keyword.value == "non_blocking"), None)
    if arg is None:
        raise RefusedError("`non_blocking` is no keyword there")
    if transfer.is_of_own_class:
        raise RefusedError("a method of your own class")
    return Repair(Safety.SAFE, "Remove `non_blocking`", (remove_argument(editor, transfer.call, arg),))
