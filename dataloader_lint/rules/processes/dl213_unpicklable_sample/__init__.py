"""A sample or batch that cannot be pickled never reaches the main process, and the loader waits forever.

## What it does
Reports a `__getitem__`, `__iter__` or `collate_fn` that returns or yields one of these, alone or inside a tuple, list
or dict, which may be filled step by step, or in a field of a dataclass, a named tuple or a `SimpleNamespace`:

- a generator; a `__getitem__` or `collate_fn` that yields is a generator function and returns one
- a lambda or nested function, or a `map` or `filter` of one
- an open handle
- the `keys()`, `values()` or `items()` of a dict
- the output of a network, or a part of a parameter or of the `weight` of a layer, that still has its graph

Where a base class returns what a method of its subclass gives, as in `return self.load(path)`, that method is reported.

## Why is this bad?
A worker puts its batches into a queue, and a thread of the queue pickles them. A batch that cannot be pickled is
dropped there with a traceback. The worker goes on, and the main process waits for the batch forever, under every
start method. With a `timeout` it raises at last. If the default `collate_fn` gets such a sample, it raises instead.

## Known limits
- Silent if all DataLoaders found in the project have no workers.
- Silent for samples that a `collate_fn` of the project gets first, since it may convert them.
- The output of a network counts only if the network is known to have parameters and the code uses no `no_grad`,
  `inference_mode` or `requires_grad`.

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
No fix.

## When to ignore it
If the Dataset is only ever read with `num_workers=0`.

## Error messages
- `TypeError: cannot pickle 'generator' object`
- `TypeError: cannot pickle 'dict_keys' object`
- `RuntimeError: DataLoader timed out after ... seconds`
- `RuntimeError: Cowardly refusing to serialize non-leaf tensor which requires_grad`

## References
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
- [What can be pickled](https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes.dl213_unpicklable_sample.unpicklable_samples import UnpicklableSample

RULE = Rule("DL213", "unpicklable-sample", Entity.SAMPLE, Level.ERROR, Claim.MAY)


def find(file: File) -> Iterable[UnpicklableSample]:
    from dataloader_lint.rules.processes.dl213_unpicklable_sample.unpicklable_samples import unpicklable_samples

    return unpicklable_samples(file.reach, file.module)


def check(sent: UnpicklableSample, file: File) -> Iterator[Finding]:
    verb = "yields" if sent.is_yield else "returns"
    problem = f"`{sent.function}` {verb} {sent.what}: workers cannot send it, and the loader hangs or raises"
    advice = "use `torch.no_grad()`" if sent.what.endswith("graph") else "return the data itself"
    if sent.what == "a generator":
        advice = "make it a list"
    yield Finding(sent.node, problem, advice)
