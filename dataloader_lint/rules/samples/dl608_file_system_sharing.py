"""The sharing strategy `file_system` trades file descriptors for files that can outlive the program.

## What it does
Reports `torch.multiprocessing.set_sharing_strategy("file_system")`.

## Why is this bad?
It is the usual answer to `Too many open files`, and it works; but each shared tensor is then a file in `/dev/shm`.
Measured with torch 2.13: 28 files while a loader runs, none left after a normal end or after the processes are killed,
24 left where the daemon that removes them is killed too, as happens when a whole container is.

## Known limits
Only calls whose argument is known are reported.

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

Where batches are kept, keep copies (`batch.clone()`): a batch from a worker holds its descriptors as long as it lives.

## Fix safety
There is no fix.

## When to ignore it
When the limit on open files cannot be raised, or a Dataset holds more tensors than forkserver can hand over.

## Error messages
- `RuntimeError: Too many open files. Communication with the workers is no longer possible.`
- `RuntimeError: received 0 items of ancdata`

## References
- [Sharing strategies](https://docs.pytorch.org/docs/stable/multiprocessing.html#sharing-strategies)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL608", "file-system-sharing", Entity.MODULE, default=False)


def check(analysis: Analysis) -> Iterator[Finding]:
    for call in analysis.samples.shared_by_files:
        problem = (
            'with the sharing strategy "file_system" each tensor from a worker is a file in shared memory, '
            "which stays there if the whole container is killed"
        )
        yield Finding(call, problem, "raise the limit on open files, and keep copies of batches where they are kept")
