"""With `in_order=False` the number of a batch says nothing about its samples.

## What it does
Reports a loop `for number, batch in enumerate(loader)` over a DataLoader with workers and `in_order=False`, if the
number is an index of something else than the batch. The rule is opt-in.

## Why is this bad?
Batches come as soon as a worker has them. Measured with torch 2.13, two workers and a slow first sample: the samples
come as 1, 3, 4, 5, 6, 7, 0, 2. Results that are stored by the number of the batch belong to other samples.

## Known limits
- Only numbers of `enumerate` that are used as an index are recognized.

## Example
```python
from torch.utils.data import DataLoader

def predict(model, dataset, names):
    loader = DataLoader(dataset, num_workers=4, in_order=False)
    return {names[number]: model(batch) for number, batch in enumerate(loader)}

def store(model, dataset, results):
    loader = DataLoader(dataset, num_workers=4, in_order=False)
    for number, batch in enumerate(loader):
        results[number] = model(batch)
```

## Use instead
```python
from torch.utils.data import DataLoader

def store(model, dataset, results):
    loader = DataLoader(dataset, num_workers=4)
    for number, batch in enumerate(loader):
        results[number] = model(batch)
```

Or let each sample hold its index.

## Fix safety
No fix: samples that hold their index are another way.

## When to ignore it
If the order of the results does not matter.

## Error messages
None: the results are mixed up.

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL625", "ids-by-position", Entity.LOOP, Level.ERROR, Claim.MAY, default=False)


def find(file: File) -> Iterator[tuple[cst.Subscript, Loader]]:
    import libcst as cst

    from dataloader_lint.pipeline.library_calls import library_calls
    from dataloader_lint.pipeline.loaders.epochs import loaders_behind
    from dataloader_lint.semantics.syntax.expressions import last_name

    if "in_order" not in file.tree.code:
        return
    tree = file.tree
    for call, frame, _ in library_calls(file, "builtins.enumerate"):
        loop = tree.parent(call)
        if not isinstance(loop, cst.For | cst.CompFor) or not isinstance(loop.target, cst.Tuple) or not call.args:
            continue
        number = last_name(loop.target.elements[0].value)
        for _, loader in loaders_behind(file.ev, file.ev.values(call.args[0].value, frame)):
            in_order = loader.known("in_order")
            if not loader.has_workers or in_order is None or in_order.value is not False or in_order.default:
                continue
            around = loop if isinstance(loop, cst.For) else tree.parent(loop)
            for use in tree.find(around, cst.Subscript) if around is not None else ():
                if tree.words(use.slice[0]) == number and len(use.slice) == 1:
                    yield use, loader
                    break


def check(found: tuple[cst.Subscript, Loader], file: File) -> Iterator[Finding]:
    from dataloader_lint.pipeline.loaders import loader_steps

    use, loader = found
    effect = "batches come in any order, so a position does not say which samples it holds"
    problem = f"`{loader.bound_name}` has `in_order=False`: {effect}"
    yield Finding(use, problem, "return the index with each sample", because=loader_steps.made(loader, "in_order"))
