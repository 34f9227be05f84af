"""The sharing strategy `file_system` makes each shared tensor a file that can outlive the program.

## What it does
Reports `torch.multiprocessing.set_sharing_strategy("file_system")`.

## Why is this bad?
It is the usual answer to `Too many open files`, and it works. But each shared tensor is then a file in `/dev/shm`.
Measured with torch 2.13: 28 files while a loader runs, and none left after a normal end or after the processes are
killed. 24 were left if the daemon that removes them is killed too, as happens when a whole container is killed.

## Known limits
- Only calls whose argument is known are reported.

## Example
```python
import torch.multiprocessing

torch.multiprocessing.set_sharing_strategy("file_system")

from torch.utils.data import DataLoader
```

## Use instead
```python
import resource

_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

from torch.utils.data import DataLoader
```

If you keep batches, keep copies (`batch.clone()`): a batch from a worker holds its descriptors as long as it lives.

## Fix safety
No fix.

## When to ignore it
If the limit on open files cannot be raised, or a Dataset holds more tensors than forkserver can send.

## Error messages
- `RuntimeError: Too many open files. Communication with the workers is no longer possible.`
- `RuntimeError: received 0 items of ancdata`

## References
- [Sharing strategies](https://docs.pytorch.org/docs/stable/multiprocessing.html#sharing-strategies)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File

RULE = Rule("DL608", "file-system-sharing", Entity.SETTING, Level.MEMORY, Claim.MAY, default=False)


_STRATEGY = "torch.multiprocessing.set_sharing_strategy"


def find(file: File) -> Iterator[cst.Call]:
    from dataloader_lint.semantics.syntax.tree import function_scope
    from dataloader_lint.semantics.values.values import Library, constant

    for call in file.module.calls_named(_STRATEGY.rpartition(".")[2]):
        frame = file.ev.frame_of(function_scope(file.tree.scope_of(call)))
        if file.ev.values(call.func, frame) == (Library(_STRATEGY),) and call.args:
            known = constant(file.ev.values(call.args[0].value, frame))
            if known is not None and known.value == "file_system":
                yield call


def check(call: cst.Call, file: File) -> Iterator[Finding]:
    problem = '"file_system" sharing makes each tensor from a worker a file, which stays if the container is killed'
    yield Finding(call, problem, "raise the limit on open files, and clone kept batches")
