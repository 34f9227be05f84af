"""`get_worker_info()` is None in the main process, so code that does not check it fails without workers.

## What it does
Reports `.id`, `.num_workers`, `.seed` and other attributes of `get_worker_info()` in Dataset code or in a
`collate_fn`. Nothing in the function checks whether the result is None.

## Why is this bad?
With `num_workers=0`, the default and the usual setting to debug, the main process reads the Dataset itself. There
`get_worker_info()` returns None: AttributeError at the first sample.

## Known limits
- Any condition on the result, an assertion, or a `try` around it counts as a check, anywhere in the function.
- Functions that only run as a `worker_init_fn` are always in a worker and not reported.

## Example
```python
from torch.utils.data import IterableDataset, get_worker_info

class Lines(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        info = get_worker_info()
        yield from self.lines[info.id :: info.num_workers]
```

## Use instead
```python
from torch.utils.data import IterableDataset, get_worker_info

class Lines(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        info = get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        yield from self.lines[worker::workers]
```

## Fix safety
No fix: you decide what the main process should do.

## When to ignore it
If the data set is never read without workers.

## Error messages
- `AttributeError: 'NoneType' object has no attribute 'id'`
- `AttributeError: 'NoneType' object has no attribute 'num_workers'`

## References
- [torch.utils.data.get_worker_info](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.get_worker_info)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl610_worker_info_not_checked.unchecked_infos import UncheckedInfo

RULE = Rule("DL610", "worker-info-not-checked", Entity.WORKER_CODE, Level.ERROR, Claim.MUST)

_ADVICE = "treat None as a single worker"


def find(file: File) -> Iterable[UncheckedInfo]:
    from dataloader_lint.rules.samples.dl610_worker_info_not_checked.unchecked_infos import unchecked_infos

    return unchecked_infos(file.workers, file.module)


def check(info: UncheckedInfo, file: File) -> Iterator[Finding]:
    problem = (
        f"`{info.function.label}` reads `.{info.attribute}` of `get_worker_info()`, which is None in the main "
        "process: AttributeError with `num_workers=0`"
    )
    yield Finding(info.use, problem, _ADVICE)
