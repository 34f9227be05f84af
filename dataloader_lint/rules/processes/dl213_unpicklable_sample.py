"""A sample or batch that cannot be pickled never reaches the main process, and the loader waits for it for ever.

## What it does
Reports `__getitem__`, `__iter__` and `collate_fn` that hand out a generator, a lambda or local function, an open
handle, or the output of a network that still has its graph, alone or inside a tuple, list or dict. A `__getitem__` or
`collate_fn` that yields is a generator function, and hands out a generator.

## Why is this bad?
A worker puts its batches into a queue that pickles them in a thread of its own. What cannot be pickled is dropped
there with a traceback, the worker goes on, and the main process waits for the batch for ever, under every start method;
with a `timeout` it raises at last. Where the default `collate_fn` gets such a sample, it raises instead.

## Known limits
Silent where all loaders in sight have no workers, and for samples that a `collate_fn` of the project sees first, which
may well make something else of them. The output of a network counts only where it is known to have parameters and no
`no_grad`, `inference_mode` or `requires_grad` is in sight.

## Example
```python
from torch.utils.data import Dataset

class Documents(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __getitem__(self, index):
        return (line.split() for line in self.paths[index].read_text().splitlines())
```

## Use instead
```python
from torch.utils.data import Dataset

class Documents(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __getitem__(self, index):
        return [line.split() for line in self.paths[index].read_text().splitlines()]
```

## Fix safety
There is no fix.

## When to ignore it
When the Dataset is only ever read with `num_workers=0`.

## Error messages
- `TypeError: cannot pickle 'generator' object`
- `RuntimeError: DataLoader timed out after ... seconds`
- `RuntimeError: Cowardly refusing to serialize non-leaf tensor which requires_grad`

## References
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
- [What can be pickled](https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL213", "unpicklable-sample", Entity.MODULE)


def check(file: Analysis) -> Iterator[Finding]:
    for sent in file.unpicklable_samples:
        verb = "yields" if sent.is_yield else "returns"
        problem = (
            f"`{sent.function}` {verb} {sent.what}, which a worker cannot send to the main process, so the loader "
            "waits for it for ever (or raises, where the default `collate_fn` gets it)"
        )
        advice = "call it under `torch.no_grad()`" if sent.what.endswith("graph") else "return the data itself"
        if sent.what == "a generator":
            advice = "make a list of it first"
        yield Finding(sent.node, problem, advice)
