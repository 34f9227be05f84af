"""CUDA in worker code raises in forked workers and holds a CUDA context in each spawned one.

## What it does
Reports the first call in a function of worker code that starts CUDA.

**Worker code**: `__getitem__`, `__iter__`, transforms, `collate_fn`, `worker_init_fn` and the functions that they
call.

**What is recognized**

- `.cuda()`, and `.to(...)` with a CUDA device
- `device=` or `map_location=` with a CUDA device
- `.pin_memory()`
- functions of `torch.cuda` such as `set_device`
- `torch.tensor(...)`, `torch.zeros(...)` and the like without a device, in a block `with torch.device("cuda"):` or
  in a module that calls `torch.set_default_device("cuda")`: forked workers have the default device of their parent
- `with_format` and `set_format` of a Dataset of Hugging Face with a CUDA `device`

A device counts as CUDA if it is on one branch of `torch.cuda.is_available()`, or a text such as `f"cuda:{rank}"`.

## Why is this bad?
A process that was forked after its parent started CUDA cannot use it: torch raises `Cannot re-initialize CUDA in
forked subprocess`. Workers that are started by spawn or forkserver can use it. Each of them takes the memory of its
own CUDA context.

## Known limits
- Silent if all DataLoaders found in the project that the Dataset reaches have no workers.
- Silent if the device is not known.
- Silent if an unknown flag decides whether the call runs.

## Example
```python
import torch
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, images):
        self.images = torch.as_tensor(images)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def __getitem__(self, index):
        return self.images[index].to(self.device)
```

## Use instead
```python
import torch
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, images):
        self.images = torch.as_tensor(images)

    def __getitem__(self, index):
        return self.images[index]

def train(loader, device):
    for batch in loader:
        batch = batch.to(device, non_blocking=True)
```

## Fix safety
No fix: the batch has to be moved where it is used.

## When to ignore it
If the Dataset is only ever read with `num_workers=0`.

## Error messages
- `RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the
  'spawn' start method`

## References
- [Multiprocessing best practices: CUDA in multiprocessing](https://docs.pytorch.org/docs/stable/notes/multiprocessing.html)
- [torch.utils.data: memory pinning](https://docs.pytorch.org/docs/stable/data.html#memory-pinning)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataloader_lint.gate import DEVICES
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes._shared.calls_in_workers import WorkerCall
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL207", "cuda-in-worker", Entity.WORKER_CODE, Level.ERROR, Claim.MAY, subjects=(DEVICES,))


_FORMATTING = ("set_format", "with_format")


@dataclass(frozen=True, slots=True, eq=False)
class Formatted:
    """A call that has a Dataset of Hugging Face give tensors on a GPU, and the loader whose workers read it."""

    call: cst.Call
    loader: Loader


def find(file: File) -> Iterator[WorkerCall | Formatted]:
    from dataloader_lint.rules.processes._shared.cuda import cuda_in_workers

    yield from cuda_in_workers(file.reach, file.module)
    yield from _formatted(file)


def _formatted(file: File) -> Iterator[Formatted]:
    from dataloader_lint.pipeline.datasets.wrappers import chain_of
    from dataloader_lint.pipeline.devices.devices import is_cuda
    from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name
    from dataloader_lint.semantics.syntax.tree import function_scope

    for call in (each for name in _FORMATTING for each in file.module.calls_named(name)):
        device = keyword_of(call, "device")
        frame = file.ev.frame_of(function_scope(file.tree.scope_of(call)))
        if device is None or not is_cuda(file.ev, file.ev.values(device, frame)):
            continue
        owners = file.ev.values(getattr(call.func, "value", call.func), frame)
        for loader in file.loaders:
            chains = [step for value in loader.values("dataset") for step in chain_of(file.ev, value)]
            is_given = any(
                step.call is call or (last_name(call.func) == "set_format" and step in owners) for step in chains
            )
            if is_given and loader.has_workers is not False and chains[-1].library.startswith("datasets."):
                yield Formatted(call, loader)
                break


def check(found: WorkerCall | Formatted, file: File) -> Iterator[Finding]:
    if isinstance(found, Formatted):
        from dataloader_lint.pipeline.loaders import loader_steps

        problem = "the loader's workers make tensors on the GPU: forked ones raise, spawned ones need a CUDA context"
        steps = loader_steps.made(found.loader, "num_workers")
        yield Finding(found.call, problem, "leave `device` out, move batches in the loop", because=steps)
        return
    function = found.function
    problem = (
        f"{found.way} run by `{function.path[0].label}` can raise in forked workers "
        "and costs spawned ones a CUDA context"
    )
    advice = "move batches in the training loop"
    if found.way == "`.pin_memory()`":
        advice = "use `DataLoader(pin_memory=True)`"
    yield Finding(found.call, problem, advice, because=file.steps_to(function), cause=f"{function.label}:{advice}")
