"""DataLoader raises ValueError for two arguments that both define the order or the batches.

## What it does
Reports every combination that the constructor of DataLoader rejects:

- `sampler` with `shuffle=True`
- `batch_sampler` with a `batch_size` other than 1, `shuffle=True`, `sampler` or `drop_last=True`
- an IterableDataset with `shuffle=True`, `sampler` or `batch_sampler`; `webdataset.WebDataset`, mosaicml's
  `StreamingDataset` and `load_dataset(..., split=..., streaming=True)` are such, also after `.map(...)` and the like
- `batch_size=None` with `drop_last=True`

One of the two may depend on a condition while the other is constant, such as a sampler that is made only for
distributed training.

## Why is this bad?
The constructor raises ValueError (torch 2.13). If one argument depends on a condition, the program works only as long
as the condition does not hold.

## Known limits
- Two arguments that both depend on conditions are compared only if the conditions are the same.
- Nothing is reported if one of the values is unknown.
- Silent in tests, and where `try ... except` catches the error (see DL301).

## Example
```python
from torch.utils.data import DataLoader, DistributedSampler

def make(dataset):
    sampler = DistributedSampler(dataset)
    return DataLoader(dataset, batch_size=4, shuffle=True, sampler=sampler)
```

## Use instead
```python
from torch.utils.data import DataLoader, DistributedSampler

def make(dataset, distributed):
    sampler = DistributedSampler(dataset) if distributed else None
    return DataLoader(dataset, batch_size=4, shuffle=sampler is None, sampler=sampler)
```

## Fix safety
Safe, and only if one outcome is certain:

- `drop_last` is removed if there are no batches
- `batch_size` and `drop_last` are removed if a `batch_sampler` makes the batches

What a parameter or an option brings is never removed.

## When to ignore it
Never: the call cannot succeed with these values.

## Error messages
- `ValueError: sampler option is mutually exclusive with shuffle`
- `ValueError: batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last`
- `ValueError: DataLoader with IterableDataset: expected unspecified shuffle option`
- `ValueError: batch_size=None option disables auto-batching and is mutually exclusive with drop_last`

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
- [Loading order and Sampler](https://docs.pytorch.org/docs/stable/data.html#data-loading-order-and-sampler)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule
from dataloader_lint.rules.wording import by_default

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.arguments.dl304_conflicting_sampling_arguments.sampling import Conflict
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL304", "conflicting-sampling-arguments", Entity.LOADER, Level.ERROR, Claim.MAY, fix=FixLevel.SAFE)

_SHOWN = {
    "batch_size": "`batch_size`",
    "batch_sampler": "a `batch_sampler`",
    "dataset": "an IterableDataset",
    "drop_last": "`drop_last=True`",
    "sampler": "a `sampler`",
    "shuffle": "`shuffle=True`",
}
_ADVICE = {
    ("batch_size", "drop_last"): "remove `drop_last`: without batches it has no meaning",
}
# What the other argument makes meaningless.
_SUPERFLUOUS = {
    ("batch_sampler", "batch_size"),
    ("batch_sampler", "drop_last"),
    ("batch_size", "drop_last"),
}


def check(loader: Loader, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.arguments.dl304_conflicting_sampling_arguments.sampling import conflicts_of

    conflict = next(conflicts_of(loader), None)
    if conflict is None:
        return
    first, second = _SHOWN[conflict.first], _SHOWN[conflict.second]
    if (conflict.first, conflict.second) == ("batch_size", "drop_last"):
        first = "`batch_size=None`"
    reason = by_default(conflict.default)
    where = "" if conflict.is_sure and not reason else " on one path" if not reason else " by default"
    problem = f"`{loader.name}` raises ValueError{where}: {second} cannot be combined with {first}{reason}"
    yield Finding(loader.node, problem, _advice(loader, conflict), partial(fix, loader, conflict))


def _advice(loader: Loader, conflict: Conflict) -> str:
    from dataloader_lint.semantics.syntax.names import dotted

    pair = (conflict.first, conflict.second)
    if pair == ("sampler", "shuffle"):
        written = loader.argument("sampler")
        name = dotted(written.value) if written is not None else ""
        return f"use `shuffle={name} is None`" if name else "shuffle only without a sampler"
    if pair in _ADVICE:
        return _ADVICE[pair]
    if conflict.first == "dataset":
        return f"remove `{conflict.second}`: the Dataset sets the order"
    return f"remove `{conflict.second}`: the `batch_sampler` sets it"


def fix(loader: Loader, conflict: Conflict, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, remove_option

    has_it = _HAVE.get((conflict.first, conflict.second))
    if has_it is None:
        raise RefusedError("you choose which argument goes")
    if not conflict.is_sure or conflict.default:
        raise RefusedError("callers may pass another value")
    edit = remove_option(editor, loader, conflict.second, has_it)
    return Repair(Safety.SAFE, f"Remove `{conflict.second}`", (edit,))


def _has(first: str, second: str, loader: Loader) -> bool:
    from dataloader_lint.rules.arguments.dl304_conflicting_sampling_arguments.sampling import Conflict, conflicts_of

    return Conflict(first, second, True, "") in conflicts_of(loader)


_HAVE = {pair: partial(_has, *pair) for pair in _SUPERFLUOUS}
