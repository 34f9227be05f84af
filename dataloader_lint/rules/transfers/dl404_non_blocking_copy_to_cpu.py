"""A tensor that is copied to the CPU with `non_blocking=True` may be read before it has arrived.

## What it does
Reports `.to("cpu", non_blocking=True)` where the result is read on the spot or further down in the same block
(`.numpy()`, `.item()`, `.tolist()`, `float(...)`, `print(...)`, `torch.save`, ...), and nothing in between waits for
the device. The device and the flag must both be known.

## Why is this bad?
The call can return before the copy is complete. Whoever reads the tensor on the CPU before the device has been waited
for can see wrong numbers, without an error. From CPU to CPU the argument has no effect, so the rule wants to see that
the tensor comes from somewhere else.

## Known limits
Nothing is said where the tensor is a batch of a loader, which lies on the CPU anyway, where the result is handed on
before it is read, where a function of the project is called in between, or about modules that are parked on the CPU.

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

Where several copies are to overlap, start them all and call `torch.cuda.synchronize()` before the first is read.

## Fix safety
Safe: drops `non_blocking=True`, so that the copy is complete when the call returns. There is no fix where the object
that is copied is of a class of the project, whose `to` may need the argument.

## When to ignore it
When something that the linter does not see waits for the device in between.

## Error messages
None: numbers can be wrong.

## References
- [Tensor.to](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html)
- [A guide on good usage of `non_blocking` and `pin_memory`](https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html)
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
    from dataloader_lint.facts.transfers.batches import Transfer

RULE = Rule("DL404", "non-blocking-copy-to-cpu", Entity.MODULE, fix=FixLevel.SAFE, subjects=(TRANSFERS,))


def check(facts: Analysis) -> Iterator[Finding]:
    for transfer, read in facts.early_reads:
        problem = (
            f"`{transfer.text}` may return before the copy is complete, and `{read.text}` reads the result without "
            "waiting for the device, so it can see wrong numbers"
        )
        advice = "drop `non_blocking`, or synchronize before the read"
        yield Finding(transfer.call, problem, advice, partial(fix, transfer))


def fix(transfer: Transfer, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, remove_argument

    arg = next((arg for arg in transfer.call.args if arg.keyword and arg.keyword.value == "non_blocking"), None)
    if arg is None or transfer.is_of_own_class:
        return None
    return Repair(Safety.SAFE, "Drop `non_blocking`", (remove_argument(editor, transfer.call, arg),))
