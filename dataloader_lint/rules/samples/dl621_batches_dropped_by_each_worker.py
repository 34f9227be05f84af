"""With an IterableDataset, `drop_last=True` drops the rest of every worker, which can be all there is.

## What it does
Reports a DataLoader with `drop_last=True` over an IterableDataset that splits a known number of samples among its
workers, if a tenth of them or more is dropped.

## Why is this bad?
Each worker makes batches of its own samples, so each has a rest of its own. Measured with torch 2.13, 1,000 numbers
and a batch size of 128: 896 come without workers, 768 with 2, and **none** with 8, as each of these has 125 numbers.
There is no message.

## Known limits
- Silent if the number of samples, of workers or the batch size is not known. The number of samples is that of a
  constant `__len__`, or of the `range` that `__iter__` goes over.
- Silent for Datasets of libraries, though those of Hugging Face and WebDataset lose samples in the same way.

## Example
```python
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Numbers(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        start, step = (info.id, info.num_workers) if info else (0, 1)
        yield from range(start, 1000, step)

def make():
    return DataLoader(Numbers(), batch_size=128, num_workers=8, drop_last=True)
```

## Use instead
```python
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Numbers(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        start, step = (info.id, info.num_workers) if info else (0, 1)
        yield from range(start, 1000, step)

def make():
    return DataLoader(Numbers(), batch_size=128, num_workers=8)
```

Or fewer workers. Or make batches of the stream in the main process.

## Fix safety
No fix: the code may need batches of one size.

## When to ignore it
If the lost samples do not matter.

## Error messages
None: the samples do not come.

## References
- [pytorch issue 33413](https://github.com/pytorch/pytorch/issues/33413)
- [datasets issue 7441](https://github.com/huggingface/datasets/issues/7441)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader
    from dataloader_lint.semantics.values.values import CallResult, Class, Values

RULE = Rule("DL621", "batches-dropped-by-each-worker", Entity.LOADER, Level.ERROR, Claim.MUST)


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """How many of its samples a loader gives."""

    loader: Loader
    given: int
    count: int
    workers: int
    size: int


def find(file: File) -> Iterator[Loss]:
    from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind
    from dataloader_lint.semantics.values.values import CallResult, Class

    for loader in file.loaders:
        drops, size, workers = (_number(loader, name) for name in ("drop_last", "batch_size", "num_workers"))
        if not drops or not size or size < 2 or not workers or workers < 2 or not loader.is_reached:
            continue
        for made in loader.values("dataset"):
            if not isinstance(made, CallResult) or not isinstance(made.by, Class):
                continue
            if dataset_kind(file.ev, made.by) == "iterable":
                count = _count(file, made, made.by)
                each = [count // workers + (number < count % workers) for number in range(workers)]
                given = sum(samples // size * size for samples in each)
                if count and given <= 0.9 * count:
                    yield Loss(loader, given, count, workers, size)


def _number(loader: Loader, name: str) -> int | None:
    known = loader.known(name)
    return known.value if known is not None and isinstance(known.value, int) and not known.default else None


def _count(file: File, made: CallResult, klass: Class) -> int:
    """How many samples all workers of a stream have together, if they split a known number; else 0."""
    import libcst as cst

    from dataloader_lint.semantics.classes import classes
    from dataloader_lint.semantics.syntax.expressions import last_name

    own = file.ev.bases(klass).classes
    iterate = classes.find_method(file.ev, own, "__iter__")
    if iterate is None or not any(last_name(call.func) == "get_worker_info" for call in iterate.scope.within(cst.Call)):
        return 0
    length = classes.find_method(file.ev, own, "__len__")
    if length is not None:
        frame = file.ev.method_frame(length.scope, made)
        returned = [each.value for each in length.scope.own(cst.Return) if each.value is not None]
        return _whole(file.ev.values(returned[0], frame)) if len(returned) == 1 else 0
    frame = file.ev.method_frame(iterate.scope, made)
    ranges = [call for call in iterate.scope.within(cst.Call) if last_name(call.func) == "range"]
    if len(ranges) != 1 or len(ranges[0].args) != 3:
        return 0
    return _whole(file.ev.values(ranges[0].args[1].value, frame))


def _whole(found: Values) -> int:
    from dataloader_lint.semantics.values.values import constant

    known = constant(found)
    return known.value if known is not None and type(known.value) is int and not known.default else 0


def check(found: Loss, file: File) -> Iterator[Finding]:
    from dataloader_lint.pipeline.loaders import loader_steps

    name = found.loader.bound_name
    lost = f"each of {found.workers} workers drops its incomplete batch"
    problem = f"`{name}` gives {found.given} of {found.count} samples: {lost}"
    steps = loader_steps.made(found.loader, "batch_size", "num_workers", "drop_last")
    yield Finding(found.loader.node, problem, "use `drop_last=False`, or fewer workers", because=steps)
