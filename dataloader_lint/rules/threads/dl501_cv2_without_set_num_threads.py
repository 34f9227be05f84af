"""OpenCV in worker code may run as many threads as the machine has CPUs, in every worker.

## What it does
Reports the import of `cv2` in a module whose cv2 calls run in worker code, also `from utils import *` where `utils`
imports it. There is one finding per module; it names the function.

**Level**: `speed` where a call is known to start threads (see the [measurements](evidence/opencv-threads.md)): for
example `cvtColor`, `warpAffine`, `GaussianBlur`, and `resize` to more than 256x256 pixels. Other modules that need the
same limit, in the same folder or connected by imports, get notes that name the first one: one call is enough for a
process. Where no such call is known, or where no known loader has workers, if only by default, the finding is a note.

**Worker code**

- `__getitem__`, `__getitems__` or `__iter__` of a Dataset, also of one in another file of the project
- a transform that a Dataset calls, or a `collate_fn`
- a function that one of these calls
- a transform that a decorator puts into a table of the same module (`@register`, `@TRANSFORMS.register_module()`), if a
  Dataset takes it from the table

Constants such as `cv2.INTER_AREA` do not count.

**Not reported**

- modules that call `cv2.setNumThreads`, or import a module that does
- modules whose package calls it in its `__init__.py`, or that are imported by a script which calls it
- Datasets whose DataLoaders in the project are all written with at most one worker

A call in the main function does not reach workers that a DataLoader spawns (`multiprocessing_context="spawn"`): they
run only what imports and their own functions run. Measured with two CPUs after `cv2.setNumThreads(0)` in the main
program: 1 thread in a forked worker, 2 in a spawned one and in one of a fork server.

## Why is this bad?
torch limits itself to one thread in a worker. OpenCV does not know about that: there `cv2.getNumThreads()` is the
number of CPUs. The `num_workers` processes together can have that many times as many threads as there are CPUs.

The cost depends on the machine. On 2 CPUs with 2 workers no difference in speed could be measured; 8 threads for each
of the 2 workers cost 16 % (OpenCV 4.11).

## Known limits
- `cv2.imread`, `imdecode`, `copyMakeBorder`, `flip` and some others start no threads (measured with OpenCV 4.14 and
  5.0), nor does `resize` to 224x224. With these alone the finding is a note. The threads of `VideoCapture` belong to
  FFmpeg.
- Small pictures start none in most functions: `cvtColor` of 256x256 pixels keeps to one thread.
- Calls that compute with a few points, such as `getAffineTransform`, start no threads and do not count.
- `from cv2 import *` binds no name (OpenCV 4.11 and 5.0).
- Transforms in another file than their table are not followed, nor are those of a registry of another library.

## Example
```python
import cv2
from torch.utils.data import Dataset

class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return cv2.cvtColor(cv2.imread(self.paths[index]), cv2.COLOR_BGR2RGB)
```

## Use instead
```python
import cv2
from torch.utils.data import DataLoader, Dataset

def one_thread(worker_id):
    cv2.setNumThreads(0)

class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return cv2.cvtColor(cv2.imread(self.paths[index]), cv2.COLOR_BGR2RGB)

def make_loader(paths):
    return DataLoader(Photos(paths), num_workers=4, worker_init_fn=one_thread)
```

## Fix safety
No fix: a call at the top of the module limits every process that imports it. In one that loads without workers it
halved the speed (31.0 to 16.5 images a second on 2 CPUs). A `worker_init_fn` limits workers only, under every start
method.

## When to ignore it
If the samples are loaded without workers, or with few workers on many CPUs.

## Error messages
None: the program only has more threads than it needs.

## References
- [cv2.setNumThreads](https://docs.opencv.org/4.x/db/de0/group__core__utils.html)
- [torch.utils.data: multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import OPENCV
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.threads._shared.opencv import WorkerCall

RULE = Rule(
    "DL501",
    "cv2-without-set-num-threads",
    Entity.WORKER_CODE,
    Level.SPEED,
    Claim.MAY,
    subjects=(OPENCV,),
)


def find(file: File) -> Iterable[WorkerCall]:
    from dataloader_lint.rules.threads._shared.opencv import opencv

    first = opencv(file).first_call(file.module)
    return [] if first is None else [first]


def check(call: WorkerCall, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.threads._shared.opencv import opencv

    function = call.function
    entry = "" if function.caller is None else f" (from `{function.path[0].label}`)"
    level: Level | None = Level.NOTE
    has_workers = not opencv(file).has_no_workers(call)
    called = f"`{function.label}` calls `{call.name}` in workers{entry}"
    advice = "call `cv2.setNumThreads(0)` in workers"
    if not has_workers:
        called = f"`{function.label}` calls `{call.name}`{entry}, not in workers yet"
        advice = "with workers, call `cv2.setNumThreads(0)` in them"
    does = "each may run a thread per CPU" if call.starts_threads else "it may start no threads, other cv2 calls do"
    problem = f"{called}: {does}"
    if call.starts_threads and has_workers:
        home, others = opencv(file).home(file.module)
        if home is not file.module:
            advice = f"limit them once, as reported for `{os.path.basename(home.path)}`"
        else:
            level = None
            if others:
                more = f"{others} more file{'s' if others > 1 else ''})"
                called = f"{called[:-1]}; {more}" if entry else f"{called} (and {more}"
            problem = f"{called}: {does}"
    steps = file.steps_to(call.function)
    yield Finding(call.import_node, problem, advice, because=steps, level=level)
