"""The fork start method is combined with CUDA or a package whose threads do not survive a fork.

## What it does
Reports `set_start_method("fork")` and `multiprocessing_context="fork"` in a module that also

- uses CUDA before it, or
- imports a package with its own threads: polars, fsspec and packages built on it (s3fs, gcsfs, adlfs), grpc, decord,
  torchcodec

## Why is this bad?
A forked process has a copy of all locks, but only one of the threads. A lock that another thread held at that moment
stays locked forever, and a worker that waits for it hangs. CUDA cannot be used again in a forked process.

Measured with torch 2.13: an asynchronous file system of fsspec that was made before the fork raises RuntimeError
(`This class is not fork-safe`) in a forked worker. It works in a worker of a fork server. The manual of polars asks
for spawn.

## Known limits
- The rule does not check whether workers use the package.

## Example
```python
import polars
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, num_workers=4, multiprocessing_context="fork")
```

## Use instead
```python
import polars
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, num_workers=4, multiprocessing_context="forkserver")
```

## Fix safety
No fix: another start method needs everything to be picklable.

## When to ignore it
If the package is never used before workers start.

## Error messages
- `RuntimeError: Cannot re-initialize CUDA in forked subprocess`
- `RuntimeError: This class is not fork-safe`

## References
- [Contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
- [Polars: multiprocessing](https://docs.pola.rs/user-guide/misc/multiprocessing/)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes.dl209_fork_forced.forks import ForcedFork

RULE = Rule("DL209", "fork-forced", Entity.SETTING, Level.ERROR, Claim.MAY, default=False)


def find(file: File) -> Iterable[ForcedFork]:
    from dataloader_lint.rules.processes.dl209_fork_forced.forks import forced_forks

    return forced_forks(file)


def check(found: ForcedFork, file: File) -> Iterator[Finding]:
    problem = f"`{found.by}` is used with {found.hostile}: forked workers can hang or fail"
    yield Finding(found.node, problem, 'use "forkserver" or "spawn", which pickle what workers get')
