"""Worker code that starts a process raises `daemonic processes are not allowed to have children`.

## What it does
Reports the first call in a function of worker code that starts a process.

**Worker code**: `__getitem__`, `__iter__`, transforms, `collate_fn`, `worker_init_fn` and the functions that they
call.

**What is recognized**

- `Pool`, `Process` and `Manager` of `multiprocessing` and `torch.multiprocessing`, also of `get_context(...)`
- `concurrent.futures.ProcessPoolExecutor`
- `torch.multiprocessing.spawn` and `tqdm.contrib.concurrent.process_map`
- a DataLoader with `num_workers` above 0

## Why is this bad?
The workers of a DataLoader are daemonic processes. Python does not let these start processes of
`multiprocessing`: the worker raises `AssertionError: daemonic processes are not allowed to have children`. The same
code works with `num_workers=0`.

Measured with one worker: a `Pool`, a `ProcessPoolExecutor`, a `Process`, a `Manager` and a nested DataLoader with a
worker raise, for every start method.

## Known limits
- Silent if all DataLoaders found in the project that the Dataset reaches have no workers.
- Silent if an unknown flag decides whether the call, or one on the way to it, runs.
- Silent if a test asks for the worker or the process.
- Silent about `joblib`, which goes on without processes in a worker, and about `subprocess`, which may be used.

## Example
```python
from multiprocessing import Pool
from torch.utils.data import DataLoader, Dataset

def decode(path):
    return len(path)

class Clips(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with Pool(2) as pool:
            return pool.map(decode, self.paths[index])

def make(clips):
    return DataLoader(Clips(clips), num_workers=4)
```

## Use instead
```python
from concurrent.futures import ThreadPoolExecutor
from torch.utils.data import DataLoader, Dataset

def decode(path):
    return len(path)

class Clips(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(decode, self.paths[index]))

def make(clips):
    return DataLoader(Clips(clips), num_workers=4)
```

Better still, leave the parallel work to the DataLoader: more workers instead of processes inside of each.

## Fix safety
No fix: you decide whether threads, more workers or work before the training replace the processes.

## When to ignore it
If the Dataset is only ever read with `num_workers=0`.

## Error messages
- `AssertionError: daemonic processes are not allowed to have children`

## References
- [Process.daemon](https://docs.python.org/3/library/multiprocessing.html#multiprocessing.Process.daemon)
- [pytorch issue 15950](https://github.com/pytorch/pytorch/issues/15950)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes._shared.calls_in_workers import WorkerCall

RULE = Rule("DL214", "process-started-in-worker", Entity.WORKER_CODE, Level.ERROR, Claim.MAY)


def find(file: File) -> Iterable[WorkerCall]:
    from dataloader_lint.rules.processes.dl214_process_started_in_worker.nested import processes_in_workers

    return processes_in_workers(file.reach, file.module)


def check(found: WorkerCall, file: File) -> Iterator[Finding]:
    function = found.function
    problem = f"`{found.way}` run by `{function.path[0].label}` raises in workers: they must not start processes"
    advice = "use threads, or more workers"
    yield Finding(found.call, problem, advice, because=file.steps_to(function), cause=function.label)
