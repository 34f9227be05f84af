"""A pinned batch is moved without `non_blocking=True`, so the host waits for a copy that it need not wait for.

## What it does
Reports `.to(device)` and `.cuda()` without `non_blocking` on a tensor that comes from a batch of a DataLoader whose
`pin_memory` is known to be true, or known to be true wherever CUDA is available. The batch is followed from the loop
variable or `next(iterator)` through unpacking, dicts and comprehensions, and into the functions of the project that the
loader or the batch is passed to, be it by a decorator, a table of functions, `map` or a parameter. Where several
loaders reach one transfer, all must be known and one of them pinned.

## Why is this bad?
`pin_memory=True` copies each batch once more on the host, into page-locked memory, so that the GPU can fetch it while
the program goes on. Without `non_blocking=True` the host waits until each tensor has arrived: it pays for the
page-locked copy and does not get the overlap.

## Known limits
Batches and loaders that arrive from code that is not in sight are unknown, and the rule says nothing; so are loaders
that went through Accelerate, Fabric or a Trainer, which move batches themselves. Nothing is said in the `forward` of a
module, about `non_blocking=NAME`, whatever the name holds, about targets known to be the CPU or MPS, and where the data
was on a device before the loader was made.

On Apple GPUs (MPS) a copy with `non_blocking=True` can read or write memory that is in use, without an error. Where the
device may be MPS, or comes from `torch.accelerator`, the message says so.

## Example
```python
import torch
from torch.utils.data import DataLoader, TensorDataset

def train(model, images, labels):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(TensorDataset(images, labels), batch_size=64, num_workers=4, pin_memory=True)
    for images, labels in loader:
        images = images.to(device)
        labels = labels.to(device)
        model.step(images, labels)
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader, TensorDataset

def train(model, images, labels):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(TensorDataset(images, labels), batch_size=64, num_workers=4, pin_memory=True)
    for images, labels in loader:
        images = images.to(device, non_blocking=True)
        labels = labels.to(device, non_blocking=True)
        model.step(images, labels)
```

Where the device may be MPS, write `non_blocking=device.type == "cuda"`.

## Fix safety
Safe where what is moved is known to be a tensor and the device is known to be CUDA, or CUDA or the CPU: adds
`non_blocking=True`. What runs on the GPU afterwards waits for the copy by itself. Where the device is a `torch.device`
of any type that has a name, the safe fix adds `non_blocking=NAME.type == "cuda"`.

Unsafe where the default collate_fn makes the batches from samples that are not known, where a number names the device,
which is an MPS device on a Mac, where the tensor in pinned memory is given to a function after the move, which may
write to it, and where the move converts the data type: it becomes
`.to(device, non_blocking=True).to(dtype)`, which converts on the GPU and rounds what does not fit in other ways.

There is no fix where the device may be anything, where a collate_fn that is not known makes the batches, where objects
of another class may be moved, where another positional argument may say `non_blocking` already, and where the tensor in
pinned memory is written to after the move, which the copy might then see.

## When to ignore it
Where the copy is no part of what takes time, for example a single batch that is moved once before training.

## Error messages
None: the program runs, and the host waits.

## References
- [CUDA semantics: use pinned memory buffers](https://docs.pytorch.org/docs/stable/notes/cuda.html#use-pinned-memory-buffers)
- [MPS: data corruption with `non_blocking=True`](https://github.com/pytorch/pytorch/issues/189690)
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
    from dataloader_lint.facts.transfers.batches import Transfer

RULE = Rule(
    "DL401", "blocking-copy-of-pinned-batch", Entity.TRANSFER, fix=FixLevel.SOMETIMES_SAFE, subjects=(TRANSFERS,)
)


def check(transfer: Transfer) -> Iterator[Finding]:
    if not transfer.may_name_device or transfer.is_in_forward or not transfer.may_be_pinned:
        return
    if not transfer.is_surely_blocking:
        return
    origins = transfer.origins
    pinned = next((origin for origin in origins if origin.is_pinned), None)
    if pinned is None or any(origin.is_pinned is None for origin in origins):
        return
    pins = pinned.loader.known("pin_memory")
    is_optional = pins is None or bool(pins.default)  # then the option that leads here may turn off the pinning, too
    if not transfer.goes_to_gpu or not (transfer.is_reached if is_optional else transfer.may_be_reached):
        return
    place = f" of `{pinned.file}`" if pinned.file != transfer.file else ""
    default = f" by {pins.default}" if pins is not None and pins.default else ""
    problem = (
        f"the host waits for `{transfer.text}`, though `{pinned.name}`{place} pins its batches{default} "
        "so that copies can overlap with work on the GPU"
    )
    yield Finding(transfer.call, problem, _advice(transfer), partial(fix, transfer))


def _advice(transfer: Transfer) -> str:
    flag = _flag(transfer)
    if not flag:
        advice = "pass `non_blocking=True` on CUDA only: on MPS it can corrupt the data"
    elif flag == "True":
        advice = "pass `non_blocking=True`"
    else:
        advice = f"pass `non_blocking={flag}`: on MPS copies that do not block can corrupt the data"
    if transfer.may_change_type:
        advice += "; convert the data type after the move, as what is converted on the way is not pinned"
    return advice


def _flag(transfer: Transfer) -> str:
    """What `non_blocking` may be for every device that the move can go to; empty where that cannot be written."""
    if transfer.is_safe_not_to_block:
        return "True"
    return f'{transfer.device_name}.type == "cuda"' if transfer.device_name else ""


def fix(transfer: Transfer, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, add_argument, replace

    if transfer.call not in editor.tree or not transfer.takes_non_blocking or transfer.source_is_written_after:
        return None
    found = {origin.is_tensor for origin in transfer.origins}
    flag = _flag(transfer)
    if False in found or not (flag or transfer.is_to_ordinal):
        return None
    is_sure = found == {True} and bool(flag) and not transfer.source_is_handed_on_after
    argument = f"non_blocking={flag or True}"
    if not transfer.may_change_type:
        edit = add_argument(editor, transfer.call, argument)
        return Repair(Safety.SAFE if is_sure else Safety.UNSAFE, f"Add `{argument}`", (edit,))
    dtype = transfer.named_type
    device = transfer.named_device
    if dtype is None or device is None:
        return None
    receiver = editor.code(transfer.call.func)
    code = f"{receiver}({editor.code(device)}, {argument}).to({editor.code(dtype)})"
    edit = replace(editor, transfer.call, code)
    return Repair(Safety.UNSAFE, f"Add `{argument}`, and convert the data type after the move", (edit,))
