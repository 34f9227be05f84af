"""A pinned batch is moved without `non_blocking=True`, so the CPU waits for the copy.

## What it does
Reports `.to(device)` and `.cuda()` without `non_blocking` on a tensor of a batch of a DataLoader. Its `pin_memory`
must be known to be true, at least wherever CUDA is available.

What a function copies of the batches of one loader is one finding, at the first copy.

**Level**: `speed` where the loop trains (`backward()`, `step()`, `zero_grad()`), or where nothing says what it does. A
note where it evaluates (`no_grad()`, `inference_mode()`, `model.eval()`, or a function, loader or script that is named
after testing, validation, prediction or the like), in notebooks, and in loops that leave after one batch: there is
little to overlap with. A `zero_grad()` under `no_grad()` is part of an evaluation.

A loader that is written with `pin_memory=True` in a file, and whose batches nobody is seen to move, is a note at the
loader. It is silent if anything in the project says `non_blocking`, or if the file uses a library that moves the
batches itself.

**How batches are followed**

- from the loop variable or `next(iterator)`, through unpacking, dicts and comprehensions
- through views, and through casts that return the same tensor: `images.float()` if the images are known to be float32,
  for example because the Dataset is given `ToTensor()`, and `.contiguous()` on what the default `collate_fn` makes
- into functions of the project that get the loader or the batch as an argument, also by a decorator, a table of
  functions, `map` or a parameter
- from notebooks that call functions of the project

One loader that is known to pin is enough, even if the transfer may get batches of others. The rule is silent if the
pinned batch is surely replaced on the way, or if the loader and the device are chosen together.

## Why is this bad?
`pin_memory=True` copies each batch once more on the CPU, into page-locked memory. The GPU can then fetch it while
the program goes on. Without `non_blocking=True` the CPU waits until each tensor has arrived: it pays for the
page-locked copy and does not get the overlap.

## Known limits
- Batches and loaders that come from code outside the project are unknown and not reported.
- Loaders that went through Accelerate, Fabric or a Trainer are not reported, since these move batches themselves.
- Silent in the `forward` of a module, and for `non_blocking=NAME`, whatever the name holds.
- Silent if the target is known to be the CPU or MPS. An option that is the CPU by default may be set to another device.
- Silent if the data was on a device before the loader was made.
- Silent for a single batch, `next(iter(loader))` outside of loops and of functions that loops in the file call.
- Silent if `torch.cuda.synchronize()` follows the copies at once.

On Apple GPUs (MPS) a copy with `non_blocking=True` can read or write memory that is in use, without an error. If the
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

If the device may be MPS, write `non_blocking=device.type == "cuda"`.

## Fix safety
Safe if the moved object must be a tensor and the device is known to be CUDA, or CUDA or the CPU: adds
`non_blocking=True`. Later work on the GPU waits for the copy by itself. If the device is a `torch.device` of any type
that has a name, the safe fix adds `non_blocking=NAME.type == "cuda"`. A part of a batch that the default `collate_fn`
makes must be a tensor, as the strings and containers that it makes as well cannot be moved.

The fix is unsafe if

- the moved object may be another object with a `to` method: the project defines a function called `to` or `cuda`,
  mentions transformers, may not collate its batches, or moves an attribute of one
- a number names the device: on a Mac that is an MPS device
- the tensor in pinned memory is passed to a function after the move, which may write to it
- the move converts the data type: it becomes `.to(device, non_blocking=True).to(dtype)`, which converts on the GPU
  and rounds out-of-range values differently

A loop that only evaluates is fixed where a training loop of the file is, and as safely.

There is no fix if

- the device may be anything, as that which callers pass to a public function of a library
- an unknown `collate_fn` makes the batches
- objects of another class may be moved
- another positional argument may already be `non_blocking`
- the tensor in pinned memory is written to after the move: the copy might then see the new values
- the project requires torch before 0.4, or the file says `volatile=True`: there the argument is called `async`

## When to ignore it
If the copy takes no relevant time.

## Error messages
None: the program runs, and the CPU waits.

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
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule
from dataloader_lint.rules.wording import IN_OTHER_FILE, by_default

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.transfers._shared.batches import Origin, Transfer
    from dataloader_lint.rules.transfers.dl401_blocking_copy_of_pinned_batch.unused_pins import UnusedPin

RULE = Rule(
    "DL401",
    "blocking-copy-of-pinned-batch",
    Entity.TRANSFER,
    Level.SPEED,
    Claim.MAY,
    fix=FixLevel.SOMETIMES_SAFE,
    subjects=(TRANSFERS,),
)


def find(file: File) -> Iterator[Transfer | UnusedPin]:
    from dataloader_lint.rules.transfers._shared.batches import transfers_of
    from dataloader_lint.rules.transfers.dl401_blocking_copy_of_pinned_batch.unused_pins import unused_pins

    reported: set[int] = set()
    for transfer in transfers_of(file):
        pinned = _pinned(transfer)
        if pinned is not None:
            reported.add(id(pinned.loader.call))
            yield transfer
    yield from unused_pins(file, reported)


def check(found: Transfer | UnusedPin, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.transfers._shared.batches import Transfer
    from dataloader_lint.rules.transfers._shared.loop_purposes import function_around, level_of_move

    if not isinstance(found, Transfer):
        yield _unused(found)
        return
    pinned = _pinned(found)
    assert pinned is not None
    pins = pinned.loader.known("pin_memory")
    place = f" of `{pinned.file}`" if pinned.file != found.file else ""
    default = by_default(pins.default if pins is not None else "")
    problem = f"`{found.text}` blocks the CPU, but `{pinned.name}`{place} pins its batches{default}"
    cause = f"{function_around(found)}:{pinned.name}"
    level = level_of_move(found)
    yield Finding(found.call, problem, _advice(found), partial(fix, found), pinned.steps, level, cause)


def _pinned(transfer: Transfer) -> Origin | None:
    """The loader whose pinned batches a move copies while the CPU waits; None if it does not, or may not be reached."""
    from dataloader_lint.rules.transfers.dl401_blocking_copy_of_pinned_batch.witness import (
        is_of_single_batch,
        is_waited_for,
        pinned_origin,
    )

    if not transfer.may_name_device or transfer.is_in_forward or not transfer.may_be_pinned:
        return None
    if not transfer.is_surely_blocking:
        return None
    pinned = pinned_origin(transfer)
    if pinned is None or is_of_single_batch(transfer) or is_waited_for(transfer):
        return None
    pins = pinned.loader.known("pin_memory")
    is_optional = pins is None or bool(pins.default)  # then the option that leads here may turn off the pinning, too
    if not transfer.goes_to_gpu or not (transfer.is_reached if is_optional else transfer.may_be_reached):
        return None
    return pinned


def _unused(pin: UnusedPin) -> Finding:
    name = f"`{pin.loader.bound_name}`"
    if pin.move is not None:
        problem = f"{name} pins its batches, but copies such as `{pin.move.text}` block the CPU"
        return Finding(pin.loader.node, problem, "pass `non_blocking=True`", level=Level.NOTE)
    problem = f"{name} pins its batches, which gains time only in copies that do not block"
    return Finding(pin.loader.node, problem, "move them with `.to(device, non_blocking=True)`", level=Level.NOTE)


def _advice(transfer: Transfer) -> str:
    flag = _flag(transfer)
    if not flag:
        advice = "pass `non_blocking=True` on CUDA only (MPS can corrupt data)"
    elif flag == "True":
        advice = "pass `non_blocking=True`"
    else:
        advice = f"pass `non_blocking={flag}` (MPS can corrupt data)"
    return f"{advice}, then convert the dtype" if transfer.may_change_type else advice


def _flag(transfer: Transfer) -> str:
    """The `non_blocking` that is safe on every device that the move can go to; empty if none can be written."""
    if transfer.is_safe_not_to_block:
        return "True"
    return f'{transfer.device_name}.type == "cuda"' if transfer.device_name else ""


def fix(transfer: Transfer, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, pass_flag, replace
    from dataloader_lint.semantics.project.required_versions import TORCH_BEFORE_0_4, demands

    if transfer.call not in editor.tree:
        raise RefusedError(IN_OTHER_FILE)
    texts = transfer.ev.project.requirements(transfer.frame.scope.module.path)
    if "volatile=True" in editor.text or any(demands(text, TORCH_BEFORE_0_4) for text in texts):
        raise RefusedError("written for torch before 0.4")
    if not transfer.takes_non_blocking:
        raise RefusedError("the method takes no `non_blocking`")
    if transfer.source_is_written_after:
        raise RefusedError("the batch is changed after the copy")
    found = {origin.is_tensor for origin in transfer.origins}
    flag = _flag(transfer)
    if False in found:
        raise RefusedError("what is moved may not be a tensor")
    if not (flag or transfer.is_to_ordinal):
        raise RefusedError("the device may not be CUDA")
    is_sure = found == {True} and bool(flag) and not transfer.source_is_passed_on_after
    argument = f"non_blocking={flag or True}"
    if not transfer.may_change_type:
        edits = pass_flag(editor, transfer.call, argument)
        return Repair(Safety.SAFE if is_sure else Safety.UNSAFE, f"Add `{argument}`", edits)
    dtype = transfer.named_type
    device = transfer.named_device
    if dtype is None or device is None:
        raise RefusedError("dtype or device is unknown")
    receiver = editor.code(transfer.call.func)
    code = f"{receiver}({editor.code(device)}, {argument}).to({editor.code(dtype)})"
    edit = replace(editor, transfer.call, code)
    return Repair(Safety.UNSAFE, f"Add `{argument}`, and convert the dtype after the move", (edit,))
