"""Where the default device is CUDA, a loader that shuffles with a generator on the CPU raises RuntimeError.

## What it does
Reports, in a module that sets the default device or the default tensor type to CUDA (or that is imported by such a
module)

- `DataLoader(..., shuffle=True)`
- `RandomSampler(...)`
- `random_split(...)`

without a `generator`. The rule is opt-in, as its proof needs CUDA, which was not available.

## Why is this bad?
These draw their order with `torch.randperm(n, generator=generator)`. The generator that they make themselves is on the
CPU; the numbers are asked for on the default device. torch raises `RuntimeError: Expected a 'cuda' device type for
generator but found 'cpu'`. Seen here without a GPU (torch 2.13): `randperm` is among the functions that the default
device applies to, `torch.Generator` is not. The error itself is from eleven public reports.

## Known limits
- Silent if the device is not known, or if the module sets a default on the CPU as well.
- Silent for a CUDA device that is only entered in a `with` block.

## Example
```python
import torch
from torch.utils.data import DataLoader

torch.set_default_device("cuda")

def make(dataset):
    return DataLoader(dataset, batch_size=4, shuffle=True)
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader

torch.set_default_device("cuda")

def make(dataset):
    return DataLoader(dataset, batch_size=4, shuffle=True, generator=torch.Generator(device="cuda"))
```

Better: no default device. Then samples are made on the CPU, and batches are moved.

## Fix safety
No fix: without workers the generator is enough; with workers the default device has to go.

## When to ignore it
If the module runs only where CUDA is not available.

## Error messages
- `RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'`

## References
- [torch.set_default_device](https://docs.pytorch.org/docs/stable/generated/torch.set_default_device.html)
- [yolact issue 664](https://github.com/dbolya/yolact/issues/664)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.syntax.tree import ModuleFacts

RULE = Rule("DL314", "sampler-generator-off-device", Entity.LOADER, Level.ERROR, Claim.MAY, default=False)

_SETTERS = ("set_default_device", "set_default_tensor_type")
_DRAWING = {"torch.utils.data.RandomSampler": 3, "torch.utils.data.random_split": 2}  # the place of `generator`


def find(file: File) -> Iterator[tuple[cst.Call, str]]:
    """The calls that draw an order by a generator on the CPU, where the default device is CUDA."""
    from dataloader_lint.pipeline.library_calls import library_calls
    from dataloader_lint.semantics.control.reachability import is_reached
    from dataloader_lint.semantics.syntax.expressions import keyword_of, positional_of

    if not _default_is_cuda(file):
        return
    for loader in file.loaders:
        shuffle = loader.known("shuffle")
        if shuffle is not None and shuffle.value is True and loader.is_passed("generator") is False:
            if loader.is_passed("sampler") is False and loader.is_written_here and loader.is_reached:
                yield loader.node, f"`{loader.name}(shuffle=True)`"
    for call, frame, name in library_calls(file, *_DRAWING):
        is_starred = any(arg.star for arg in call.args)
        if keyword_of(call, "generator") is None and len(positional_of(call)) <= _DRAWING[name] and not is_starred:
            if is_reached(file.ev, call, frame):
                yield call, f"`{name.rpartition('.')[2]}`"


def _default_is_cuda(file: File) -> bool:
    """True if the module, or one that imports it, sets the default device to CUDA, and neither to anything else."""
    from dataloader_lint.semantics.project.imports import may_import

    own = file.module
    name = own.path.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
    found: list[bool] = []
    for word in _SETTERS:
        found.extend(_sets_cuda(file, own, word))
        for module in file.project.modules_with(own, word):
            if module is not own and may_import(file.project, module, own, name):
                found.extend(_sets_cuda(file, module, word))
    return bool(found) and all(found)


def _sets_cuda(file: File, module: ModuleFacts, name: str) -> Iterator[bool]:
    """For each call of a setter whether it sets the default to CUDA, always or where that is available."""
    from dataloader_lint.pipeline.devices.devices import is_cuda
    from dataloader_lint.semantics.control.reachability import is_reached
    from dataloader_lint.semantics.syntax.tree import function_scope
    from dataloader_lint.semantics.values.values import Const, Library

    ev = file.session.with_cuda
    for call in module.calls_named(name):
        frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
        if Library(f"torch.{name}") not in ev.values(call.func, frame) or not call.args:
            continue
        if not is_reached(ev, call, frame):
            continue
        found = ev.values(call.args[0].value, frame)
        types = [str(each.value) if isinstance(each, Const) else getattr(each, "name", "") for each in found]
        yield is_cuda(ev, found) or any(each.startswith("torch.cuda.") for each in types)


def check(found: tuple[cst.Call, str], file: File) -> Iterator[Finding]:
    call, what = found
    problem = f"{what} has a generator on the CPU, and the default device is CUDA: RuntimeError"
    yield Finding(call, problem, 'pass `generator=torch.Generator(device="cuda")`, or set no default device')
