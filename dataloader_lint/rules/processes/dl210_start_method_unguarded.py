"""A module-level `set_start_method` runs again when a worker imports the script, and raises RuntimeError.

## What it does
Reports `set_start_method("spawn")` and `set_start_method("forkserver")` at module level, outside `if __name__ ==
"__main__":` and without `force=True`.

## Why is this bad?
Workers that are started by spawn or forkserver import the script again. Their start method is already set, so the
call raises RuntimeError (`context has already been set`) in each of them. The first iteration then fails in the main
process.

## Known limits
- Silent in functions, inside `try`, and behind a test of `get_start_method()`.
- Silent in tests and in notebooks.

## Example
```python
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

mp.set_start_method("spawn")

if __name__ == "__main__":
    for batch in DataLoader(range(8), num_workers=2):
        print(batch)
```

## Use instead
```python
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

if __name__ == "__main__":
    mp.set_start_method("spawn")
    for batch in DataLoader(range(8), num_workers=2):
        print(batch)
```

A single loader can have its own start method: `DataLoader(..., multiprocessing_context="spawn")`.

## Fix safety
Unsafe: under the guard an import of the module no longer sets the start method.

## When to ignore it
If the module is never run as a script and never imported by a worker.

## Error messages
- `RuntimeError: context has already been set`

## References
- [Contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
- [Safe importing of the main module](https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.pipeline.workers.start_methods import StartMethod

RULE = Rule("DL210", "start-method-unguarded", Entity.SETTING, Level.WARNING, Claim.MUST, fix=FixLevel.UNSAFE)


def find(file: File) -> Iterable[StartMethod]:
    from dataloader_lint.pipeline.workers.start_methods import start_methods

    return start_methods(file.ev, file.module)


def check(found: StartMethod, file: File) -> Iterator[Finding]:
    if found.at_import and not found.may_be_forced and found.method in ("spawn", "forkserver"):
        problem = f'`set_start_method("{found.method}")` runs again in each worker and raises RuntimeError'
        advice = 'move it under `if __name__ == "__main__":`'
        yield Finding(found.call, problem, advice, partial(fix, found))


def fix(found: StartMethod, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, guard_statement

    return Repair(Safety.UNSAFE, "Move `set_start_method` under the main guard", (guard_statement(editor, found.call),))
