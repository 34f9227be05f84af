"""A non-blocking copy to an Apple GPU (MPS) may read memory that is already in use for something else.

## What it does
Reports `.to(device, non_blocking=True)` if the device is MPS in one of the cases that the code shows:

- `torch.device("mps")` or `"mps"` on one branch, also behind `torch.backends.mps.is_available()`
- `torch.accelerator.current_accelerator()`, which is MPS on a Mac

The copies of one function to one device are one finding, at the first of them.

## Why is this bad?
The copy starts and the program goes on. On MPS nothing keeps the source alive until the copy is done, and DataLoader
does not pin batches for MPS. In `x = x.to(device, non_blocking=True)` the CPU tensor is freed at once: the copy can
read what another tensor has written there since. No error is raised, and some batches are wrong. The reports
are about torch 2.5 to 2.12.

Not measured here: it takes a Mac.

## Known limits
- Silent if a test around the move asks for the type of the device.
- `current_accelerator()` in a module with streams of its own is not reported: MPS has none.
- Silent if `non_blocking` is anything but a known True.
- Silent if the device comes from the command line or from a caller outside the project.
- Silent about parameters that are not named as batches: what they hold may be on the device already.

## Example
```python
import torch

def train(model, loader):
    if torch.cuda.is_available():
        device = torch.device("cuda")
    elif torch.backends.mps.is_available():
        device = torch.device("mps")
    else:
        device = torch.device("cpu")
    for images, labels in loader:
        images = images.to(device, non_blocking=True)
        model.step(images, labels)
```

## Use instead
```python
import torch

def train(model, loader):
    if torch.cuda.is_available():
        device = torch.device("cuda")
    elif torch.backends.mps.is_available():
        device = torch.device("mps")
    else:
        device = torch.device("cpu")
    for images, labels in loader:
        images = images.to(device, non_blocking=device.type == "cuda")
        model.step(images, labels)
```

## Fix safety
Safe: `non_blocking` becomes true for CUDA only, or is removed if the device is always MPS. A copy that blocks has the
same result. There is no fix if the device has no name in the call, if it may be a text as well as a `torch.device`, or
if `non_blocking` is not written as `True`.

## When to ignore it
If the program never runs on a Mac.

## Error messages
None: numbers can be wrong.

## References
- [pytorch issue 189690: a copy to MPS reads released memory](https://github.com/pytorch/pytorch/issues/189690)
- [pytorch issue 139550](https://github.com/pytorch/pytorch/issues/139550)
- [ultralytics pull request 22181: block unless the device is CUDA](https://github.com/ultralytics/ultralytics/pull/22181)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule
from dataloader_lint.rules.wording import IN_OTHER_FILE

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.transfers.dl405_non_blocking_to_mps.mps_moves import MpsMove

RULE = Rule(
    "DL405", "non-blocking-to-mps", Entity.TRANSFER, Level.ERROR, Claim.MAY, fix=FixLevel.SAFE, subjects=(TRANSFERS,)
)


def find(file: File) -> Iterable[MpsMove]:
    from dataloader_lint.rules.transfers.dl405_non_blocking_to_mps.mps_moves import moves_to_mps

    return moves_to_mps(file)


def check(move: MpsMove, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.transfers._shared.loop_purposes import function_around

    where = "goes to MPS" if move.is_only_mps else "can go to MPS"
    problem = f"`{move.transfer.text}` {where}, where a copy that does not block can corrupt data"
    advice = "remove `non_blocking`" if move.is_only_mps else "let it block unless the device is CUDA"
    if move.test and not move.is_only_mps:
        advice = f"pass `non_blocking={move.test}`"
    cause = f"{function_around(move.transfer)}:{advice}"
    yield Finding(move.transfer.call, problem, advice, partial(fix, move), move.steps, cause=cause)


def fix(move: MpsMove, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, remove_argument, replace

    call, flag = move.transfer.call, move.flag
    if flag is None or call not in editor.tree:
        raise RefusedError(IN_OTHER_FILE)
    if move.is_only_mps:
        arg = next(arg for arg in call.args if arg.value is flag)
        return Repair(Safety.SAFE, "Remove `non_blocking`", (remove_argument(editor, call, arg),))
    if not move.test:
        raise RefusedError("the device may be a text or an object")
    return Repair(Safety.SAFE, "Let copies to MPS block", (replace(editor, flag, move.test),))
