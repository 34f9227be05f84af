"""`multiprocessing_context` and `timeout` need worker processes; without them DataLoader raises.

## What it does
Reports a DataLoader with a `multiprocessing_context`, or with a `timeout` above 0, while its `num_workers` is known
to be 0: written as 0, left out, or by a declared default.

## Why is this bad?
Without workers, a `multiprocessing_context` makes the constructor raise ValueError. A `timeout` passes the
constructor and fails with AssertionError at the first iteration (torch 2.13).

## Known limits
- `worker_init_fn` and `in_order` are ignored without workers. That does no harm and is not reported.
- Silent in tests, and where `try ... except` catches the error (see DL301).

## Example
```python
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, num_workers=0, multiprocessing_context="spawn")
```

## Use instead
```python
from torch.utils.data import DataLoader

def make(dataset, workers=0):
    return DataLoader(
        dataset, num_workers=workers, multiprocessing_context="spawn" if workers > 0 else None
    )
```

## Fix safety
Safe. A literal is removed together with its argument: the loader that failed now works. If the number of workers has
a name, the argument depends on it. What a parameter or an option brings is never removed.

## When to ignore it
With a declared default of 0 workers, if nobody runs the program without passing a number of workers.

## Error messages
- `ValueError: multiprocessing_context can only be used with multi-process loading (num_workers > 0)`
- For `timeout`: an AssertionError without a text, from `_SingleProcessDataLoaderIter`

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule
from dataloader_lint.rules.wording import by_default, no_workers

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL303", "worker-options-without-workers", Entity.LOADER, Level.ERROR, Claim.MUST, fix=FixLevel.SAFE)

# What the argument has to be without workers, and what torch does when it is not.
_OPTIONS = {
    "multiprocessing_context": ("None", "raises ValueError"),
    "timeout": ("0", "raises AssertionError when iterated"),
}


def check(loader: Loader, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.arguments._shared.constructions import as_made
    from dataloader_lint.rules.arguments._shared.needs_workers import cause_of_options, without_workers

    for name, (_, outcome) in _OPTIONS.items():
        found = ((made, without_workers(made.loader, name)) for made in as_made(loader))
        made, unused = next((each for each in found if each[1] is not None), (None, None))
        if made is None or unused is None:
            continue
        default = unused.workers.default
        when = " by default" if default or unused.source else ""
        zero = no_workers(bool(made.loader.is_passed("num_workers")), default)
        problem = f"`{loader.name}`{when} {outcome}: `{name}` is set{by_default(unused.source)} but {zero}{made.suffix}"
        advice = f"remove `{name}`, or add workers"
        cause = cause_of_options(loader, name)
        yield Finding(loader.node, problem, advice, None if made.by else partial(fix, loader, name), cause=cause)


def fix(loader: Loader, name: str, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, follow_workers, remove_option

    def follow(present: str, workers: str) -> str:
        return f"{present} if {workers} > 0 else {_OPTIONS[name][0]}"

    edit = follow_workers(editor, loader, name, _FAILS[name], follow)
    if edit is not None:
        return Repair(Safety.SAFE, f"Make `{name}` depend on the number of workers", (edit,))
    edit = remove_option(editor, loader, name, _FAILS[name])
    return Repair(Safety.SAFE, f"Remove `{name}`", (edit,))


def _fails(name: str, loader: Loader) -> bool:
    from dataloader_lint.rules.arguments._shared.needs_workers import without_workers

    return without_workers(loader, name) is not None


_FAILS = {name: partial(_fails, name) for name in _OPTIONS}
