"""A Dataset that catches every exception and tries another sample never stops if all samples fail.

## What it does
Reports worker code with a handler for all exceptions (`except:`, `except Exception:`) that tries again without a bound.

**What is recognized**

- `while True:` around a `try` whose handler goes on
- `while sample is None:` around a `try` that sets it
- a handler that calls the method again: `return self[index + 1]`, `return self.__getitem__(random_index)`; the first if
  there are several
- a `__getitem__` that does so where it has loaded something that is no good, `if not boxes:`: a note

## Why is this bad?
It is meant for one broken file. If all files fail, because the folder is wrong, a disk is full or a library is missing,
the loop hangs without a message, in a worker, where nobody sees it. The recursive form ends in RecursionError after
some hundred samples, or in an IndexError at the end of the data, and the real error is lost. Bugs in the code of the
transform are hidden as well. Run with torch 2.13 and a folder that does not exist: the loop was still running after the
time limit; the recursion raised `RecursionError: maximum recursion depth exceeded`; with a bound the worker raised
FileNotFoundError.

## Known limits
- Handlers for named exceptions (`except OSError:`) are not reported.
- Silent if the handler counts, raises, or has a condition on which it tries again, and in `for attempt in range(10)`.

## Example
```python
import random
from PIL import Image
from torch.utils.data import Dataset

class Pictures(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        while True:
            try:
                return Image.open(self.paths[index]).convert("RGB")
            except Exception:
                index = random.randrange(len(self.paths))
```

## Use instead
```python
import random
from PIL import Image
from torch.utils.data import Dataset

class Pictures(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        for attempt in range(10):
            try:
                return Image.open(self.paths[index]).convert("RGB")
            except OSError as error:
                failed = error
                index = random.randrange(len(self.paths))
        raise failed
```

## Fix safety
No fix: how many failures are too many is for you to say.

## When to ignore it
Never: a bound costs nothing.

## Error messages
- `RecursionError: maximum recursion depth exceeded`

## References
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl616_unbounded_retry.retries import Retry

RULE = Rule("DL616", "unbounded-retry", Entity.WORKER_CODE, Level.ERROR, Claim.MAY)


def find(file: File) -> Iterable[Retry]:
    from dataloader_lint.rules.samples.dl616_unbounded_retry.retries import unbounded_retries

    return unbounded_retries(file.workers, file.module)


def check(retry: Retry, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.samples.dl616_unbounded_retry.retries import Kind

    cost = {
        Kind.LOOP: "tries again after any exception: it hangs if all samples fail",
        Kind.AFTER_ERROR: "calls itself after any exception: RecursionError if many samples fail",
        Kind.REJECTED: "calls itself for a sample that it rejects: RecursionError after several hundred",
    }[retry.kind]
    problem = f"`{retry.function.label}` {cost}"
    level = Level.NOTE if retry.kind is Kind.REJECTED else None
    steps = file.steps_to(retry.function)
    yield Finding(retry.node, problem, "count the attempts, then raise", because=steps, level=level)
