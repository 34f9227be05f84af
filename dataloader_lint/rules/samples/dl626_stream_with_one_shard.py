"""A stream of Hugging Face with one shard keeps one worker busy, and stops the others.

## What it does
Reports a DataLoader with several workers over what `to_iterable_dataset()` gives with fewer shards than workers; it has
one if `num_shards` is left out.

## Why is this bad?
`datasets` gives each worker whole shards. Measured with datasets 5.2, 4 workers and 100 rows: with one shard all rows
come from worker 0, and the log says `Too many dataloader workers: 4 (max is dataset.num_shards=1). Stopping 3
dataloader workers.`; with `num_shards=4` they come from all four.

## Known limits
- Silent if the number of workers or of shards is not known, and for streams of files.

## Example
```python
from datasets import load_dataset
from torch.utils.data import DataLoader

def make():
    stream = load_dataset("imdb", split="train").to_iterable_dataset()
    return DataLoader(stream, batch_size=32, num_workers=8)
```

## Use instead
```python
from datasets import load_dataset
from torch.utils.data import DataLoader

def make():
    stream = load_dataset("imdb", split="train").to_iterable_dataset(num_shards=64)
    return DataLoader(stream, batch_size=32, num_workers=8)
```

## Fix safety
No fix: a good number of shards is a multiple of the workers of all ranks.

## When to ignore it
If one worker is fast enough. Then say `num_workers=1`.

## Error messages
- `Too many dataloader workers: 8 (max is dataset.num_shards=1). Stopping 7 dataloader workers.`

## References
- [datasets: Dataset or IterableDataset](https://huggingface.co/docs/datasets/about_mapstyle_vs_iterable)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader
    from dataloader_lint.semantics.values.values import Value

RULE = Rule("DL626", "stream-with-one-shard", Entity.LOADER, Level.SPEED, Claim.MUST)

_STREAMING = "to_iterable_dataset"
_STEPS = 6  # of a chain of methods


def find(file: File) -> Iterator[tuple[Loader, int, int]]:
    """The loaders with more workers than their stream has shards, with both numbers."""
    for loader in file.loaders:
        workers = loader.known("num_workers")
        if workers is None or type(workers.value) is not int or workers.value < 2 or workers.default:
            continue
        found = [_shards(file, each) for each in loader.values("dataset")]
        if found and all(0 < shards < workers.value for shards in found) and loader.is_reached:
            yield loader, max(found), workers.value


def _shards(file: File, value: Value) -> int:
    """The number of shards of a stream that was made of a table; 0 if that is unknown."""
    import libcst as cst

    from dataloader_lint.semantics.syntax.expressions import keyword_of, positional_of
    from dataloader_lint.semantics.values.values import CallResult, constant

    for _ in range(_STEPS):
        if not isinstance(value, CallResult) or value.call is None or value.frame is None:
            return 0
        if _STREAMING not in value.library or not value.library.startswith("datasets."):
            return 0
        if value.library.endswith(f".{_STREAMING}"):
            given = keyword_of(value.call, "num_shards") or next(iter(positional_of(value.call)), None)
            if given is None:
                return 0 if any(arg.star for arg in value.call.args) else 1
            known = constant(file.ev.values(given, value.frame))
            return known.value if known is not None and type(known.value) is int and not known.default else 0
        owner = value.call.func.value if isinstance(value.call.func, cst.Attribute) else None
        before = file.ev.values(owner, value.frame) if owner is not None else ()
        if len(before) != 1:
            return 0
        value = before[0]
    return 0


def check(found: tuple[Loader, int, int], file: File) -> Iterator[Finding]:
    from dataloader_lint.pipeline.loaders import loader_steps

    loader, shards, workers = found
    what = "one shard" if shards == 1 else f"{shards} shards"
    stopped = f"{workers - shards} of {workers} workers"
    problem = f"the stream of `{loader.bound_name}` has {what}: {stopped} get nothing and are stopped"
    steps = loader_steps.made(loader, "num_workers")
    yield Finding(loader.node, problem, f"use `{_STREAMING}(num_shards=...)` with more", because=steps)
