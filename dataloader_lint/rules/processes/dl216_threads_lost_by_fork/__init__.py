"""Forked workers use an object of the main process whose threads they do not have: they raise or hang.

## What it does
Reports worker code that uses what `__init__` of the Dataset, or the module, made in the main process:

- an asynchronous file system of fsspec: `s3fs`, `gcsfs`, `adlfs`, or `fsspec.filesystem("s3")`, `"gs"`, `"http"`, ...
- a DataFrame of polars that `read_parquet`, `read_csv`, `read_ipc` or `read_ndjson` filled, if a worker calls `filter`,
  `sort`, `join`, `group_by`, `unique`, `sample` or `partition_by` on it

## Why is this bad?
A forked process has a copy of all objects and locks, but only one of the threads. Linux forks workers up to Python
3.13.

- fsspec runs its event loop in a thread. Measured with s3fs 2026.9 and two forked workers: 400 of 400 reads raised
  `RuntimeError: This class is not fork-safe`, whether the main process had used the file system before or not.
- polars has a pool of threads, which reading a file starts. Measured with polars 2.1 and two forked workers: each of
  the methods above hangs after `read_parquet`. `row`, `[index]`, `slice`, `select` and `with_columns` work.

## Known limits
- Only the methods that were measured are reported, and only if they are called on the object itself.
- Silent if the module sets the start method, or if all loaders of the Dataset ask for spawned workers.
- Silent if another method than `__init__` sets the attribute: it may be made in the worker.

## Example
```python
import s3fs
from torch.utils.data import DataLoader, Dataset

class Files(Dataset):
    def __init__(self, pattern, count):
        self.pattern = pattern
        self.count = count
        self.files = s3fs.S3FileSystem()

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.files.cat(self.pattern.format(index))

def make(count):
    return DataLoader(Files("bucket/{}.txt", count), num_workers=4, multiprocessing_context="fork")
```

## Use instead
```python
import s3fs
from torch.utils.data import DataLoader, Dataset

class Files(Dataset):
    def __init__(self, pattern, count):
        self.pattern = pattern
        self.count = count
        self.files = s3fs.S3FileSystem()

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.files.cat(self.pattern.format(index))

def make(count):
    return DataLoader(Files("bucket/{}.txt", count), num_workers=4, multiprocessing_context="forkserver")
```

Or make the file system in the worker, on first use: `s3fs.S3FileSystem(skip_instance_cache=True)`. For polars, another
start method is the only way that keeps these methods in workers.

## Fix safety
No fix: another start method needs everything to be picklable.

## When to ignore it
If the workers are spawned. The setting `start-method = "spawn"` says so for all rules.

## Error messages
- `RuntimeError: This class is not fork-safe`

## References
- [Contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
- [fsspec: async](https://filesystem-spec.readthedocs.io/en/latest/async.html)
- [Polars: multiprocessing](https://docs.pola.rs/user-guide/misc/multiprocessing/)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes._shared.calls_in_workers import WorkerCall

RULE = Rule("DL216", "threads-lost-by-fork", Entity.WORKER_CODE, Level.ERROR, Claim.MAY)

# By how the object fails: what happens, and what to do.
_FAILURES = {
    "loop": (
        "raises `This class is not fork-safe` in forked workers",
        "create the file system in the worker, on first use",
    ),
    "pool": ("hangs in forked workers: polars has no threads there", 'use `multiprocessing_context="forkserver"`'),
}


def find(file: File) -> Iterable[WorkerCall]:
    from dataloader_lint.rules.processes.dl216_threads_lost_by_fork.forked_threads import forked_threads

    return forked_threads(file.reach, file.module)


def check(found: WorkerCall, file: File) -> Iterator[Finding]:
    if file.settings.start_method in ("spawn", "forkserver"):
        return
    failure, advice = _FAILURES[found.way]
    problem = f"`{found.name}` run by `{found.function.path[0].label}` {failure}"
    yield Finding(found.call, problem, advice, because=file.steps_to(found.function))
