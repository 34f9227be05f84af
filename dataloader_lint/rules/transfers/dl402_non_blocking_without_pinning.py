"""`non_blocking=True` on batches that are not pinned may not overlap the copy with anything.

## What it does
Reports the first `.to(device, non_blocking=True)` or `.cuda(non_blocking=True)` on a batch of a DataLoader whose
`pin_memory` is known to be false. There is one finding per loader, a note if its batches are not
trained with (see [DL401](#dl401-blocking-copy-of-pinned-batch)). The rule is opt-in.

## Why is this bad?
The argument is meant to let the CPU go on while the batch is copied. For `Tensor.cuda`, the documentation says that
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
Unsafe: adds `pin_memory=True`. It costs one more copy of every batch on the CPU, and page-locked memory.

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
from dataloader_lint.rules.wording import IN_OTHER_FILE

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.transfers._shared.unpinned import UnpinnedMove
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule(
    "DL402",
    "non-blocking-without-pinning",
    Entity.TRANSFER,
    Level.SPEED,
    Claim.MUST,
    default=False,
    fix=FixLevel.UNSAFE,
    subjects=(TRANSFERS,),
)


def find(file: File) -> Iterator[UnpinnedMove]:
    from dataloader_lint.rules.transfers._shared.batches import transfers_of
    from dataloader_lint.rules.transfers._shared.to_cpu import is_constant
    from dataloader_lint.rules.transfers._shared.unpinned import UnpinnedMove, is_unpinned

    seen: set[int] = set()  # loaders: the first move of each
    for transfer in transfers_of(file):
        if transfer.is_in_forward or not is_constant(transfer.non_blocking, True) or not transfer.goes_to_gpu:
            continue
        origins = transfer.origins
        if not origins or not all(map(is_unpinned, origins)) or not transfer.is_reached:
            continue
        if id(origins[0].loader.call) not in seen:
            seen.add(id(origins[0].loader.call))
            yield UnpinnedMove(origins[0], transfer)


def check(move: UnpinnedMove, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.transfers._shared.loop_purposes import level_of_move

    problem = (
        f"`{move.transfer.text}` asks for a non-blocking copy, but `{move.origin.name}`{move.place} does not pin its "
        "batches: the CPU may wait"
    )
    level = level_of_move(move.transfer)
    advice = "use `pin_memory=True`"
    yield Finding(move.transfer.call, problem, advice, partial(fix, move.origin.loader), level=level)


def fix(loader: Loader, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, add_argument, replace

    if loader.call not in editor.tree:
        raise RefusedError(IN_OTHER_FILE)
    arg = loader.argument("pin_memory")
    if arg is None:
        if any(each.star for each in loader.call.args):
            raise RefusedError("a star may bring the argument as well")
        edit = add_argument(editor, loader.call, "pin_memory=True")
    elif editor.code(arg.value) == "False":
        edit = replace(editor, arg.value, "True")
    else:
        raise RefusedError("`pin_memory` is computed")
    return Repair(Safety.UNSAFE, "Pin the batches", (edit,))
