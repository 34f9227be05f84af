"""A lock or shared value that multiprocessing made for forked processes cannot be sent to spawned workers.

## What it does
Reports a `Lock`, `Value`, `Array`, `Queue`, `Event`, `Condition`, `Semaphore` or `Barrier` of `multiprocessing` (or
`torch.multiprocessing`) that a Dataset keeps, if its DataLoader asks for workers that are not forked:
`multiprocessing_context="spawn"` or `"forkserver"`.

## Why is this bad?
`multiprocessing.Value` belongs to the default start method, which is fork on Linux up to Python 3.13. Measured with
torch 2.13: the first iteration raises `RuntimeError: A SemLock created in a fork context is being shared with a process
in a spawn context`. With `get_context("spawn").Value` it works.

A shared value is the usual way to tell persistent workers something new (see DL609), so this error often follows.

## Known limits
- Silent if the program sets the start method for all processes, which these objects then follow.
- Silent for values without a lock (`lock=False`).

## Example
```python
import multiprocessing

from torch.utils.data import DataLoader, Dataset

class Curriculum(Dataset):
    def __init__(self, samples):
        self.samples = samples
        self.epoch = multiprocessing.Value("i", 0)

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index] * self.epoch.value

def make(samples):
    return DataLoader(Curriculum(samples), num_workers=4, multiprocessing_context="spawn")
```

## Use instead
```python
import multiprocessing

from torch.utils.data import DataLoader, Dataset

class Curriculum(Dataset):
    def __init__(self, samples):
        self.samples = samples
        self.epoch = multiprocessing.get_context("spawn").Value("i", 0)

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index] * self.epoch.value

def make(samples):
    return DataLoader(Curriculum(samples), num_workers=4, multiprocessing_context="spawn")
```

Or a tensor after `share_memory_()`, which every start method can send.

## Fix safety
No fix: other processes may use the object as well.

## When to ignore it
If the program never runs on Linux with Python before 3.14.

## Error messages
- `RuntimeError: A SemLock created in a fork context is being shared with a process in a spawn context. This is not
  supported. Please use the same context to create multiprocessing objects and Process.`

## References
- [Contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader
    from dataloader_lint.semantics.syntax.tree import Node
    from dataloader_lint.semantics.values.values import CallResult, Value

RULE = Rule("DL217", "fork-lock-in-spawned-worker", Entity.STORED, Level.ERROR, Claim.MAY)

_LOCKING = (
    *("Array", "Barrier", "BoundedSemaphore", "Condition", "Event", "JoinableQueue", "Lock", "Queue", "RLock"),
    *("Semaphore", "SimpleQueue", "Value"),
)
_NAMES = frozenset(f"{package}.{name}" for package in ("multiprocessing", "torch.multiprocessing") for name in _LOCKING)


@dataclass(frozen=True, slots=True, eq=False)
class ForkLock:
    """An object with a lock of the default context that a loader sends to workers of another one."""

    node: Node
    keeper: str
    what: str
    loader: Loader


def find(file: File) -> Iterator[ForkLock]:
    if not any(file.module.calls_named(name) for name in _LOCKING) and "multiprocessing_context" not in file.tree.code:
        return
    if file.settings.start_method in ("spawn", "forkserver") or _sets_start_method(file):
        return
    seen: set[int] = set()
    for given in file.reach.given(file.module):
        loader = given.loader
        if loader.start_method not in ("spawn", "forkserver") or loader.has_workers is False or not loader.is_reached:
            continue
        for kept in given.held.kept:
            library = _with_lock(kept.value)
            if not library or not kept.path.holdings:
                continue
            node = kept.node if kept.node in file.tree else loader.node
            if id(node) not in seen:
                seen.add(id(node))
                holder = kept.path.holdings[0]
                yield ForkLock(node, f"{_class_name(holder.owner)}.{holder.attribute}", library, loader)


def _sets_start_method(file: File) -> bool:
    """True if this module, or one that imports it, starts all processes in another way than by a fork."""
    from dataloader_lint.pipeline.workers.start_methods import asks_for_spawn

    imports, own = file.session.imports, file.module
    setting = file.project.paths_with(own, "set_start_method")
    importing = (path for path in setting if path == own.path or imports.lead_to([path], {own.path}))
    return any(asks_for_spawn(file.ev, each) for each in file.project.opened(own, importing))


def _class_name(made: CallResult) -> str:
    from dataloader_lint.semantics.values.values import Class

    return made.by.node.name.value if isinstance(made.by, Class) else made.library.rpartition(".")[2]


def _with_lock(value: Value) -> str:
    """The name of what makes an object with a lock of the default context; empty for anything else."""
    from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name
    from dataloader_lint.semantics.values.values import CallResult

    if not isinstance(value, CallResult) or value.library not in _NAMES or value.call is None:
        return ""
    lock = keyword_of(value.call, "lock")
    return "" if lock is not None and last_name(lock) == "False" else value.library.rpartition(".")[2]


def check(found: ForkLock, file: File) -> Iterator[Finding]:
    from dataloader_lint.pipeline.loaders import loader_steps

    method = found.loader.start_method
    problem = f"`{found.keeper}` is a `{found.what}` of the fork context: sending it to workers of {method} raises"
    advice = f'use `get_context("{method}").{found.what}(...)`'
    steps = loader_steps.made(found.loader, "num_workers", "multiprocessing_context")
    yield Finding(found.node, problem, advice, because=steps)
