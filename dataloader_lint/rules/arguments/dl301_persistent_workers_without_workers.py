"""`persistent_workers=True` needs worker processes; without them DataLoader raises ValueError.

## What it does
Reports a DataLoader whose `persistent_workers` is known to be true while its `num_workers` is known to be 0.

**Zeros that are recognized**: a `num_workers` that is

- written as 0, or left out (the default is 0)
- a name, or a value in a keyword dict
- the declared default of a parameter, a command-line option or a dataclass field; the message names it

The options of a trainer of Hugging Face count as well: `TrainingArguments(dataloader_persistent_workers=True)`.

## Why is this bad?
The constructor raises `ValueError: persistent_workers option needs num_workers > 0` (torch 2.13). With a declared
default of 0, the program works for users who pass workers and raises for everybody else.

## Known limits
- Values that are computed at run time or come from a configuration file are unknown and not reported.
- Silent in tests (`test_*.py`, `*_test.py`, `conftest.py`, and folders called `tests`), and in functions that only
  tests call: they may be about the error.
- Silent in a `try` whose `except` goes on and in `with suppress(ValueError)`, around the call or all calls of its
  function.

## Example
```python
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, num_workers=0, persistent_workers=True)
```

## Use instead
```python
from torch.utils.data import DataLoader

def make(dataset, workers=0):
    return DataLoader(dataset, num_workers=workers, persistent_workers=workers > 0)
```

## Fix safety
Safe. A literal is removed together with its argument: the call that raised now makes a loader. If the number of
workers has a name, the argument becomes `persistent_workers=NAME > 0`.

## When to ignore it
Never with a literal 0: the call cannot succeed. With a declared default of 0, if nobody runs the program without
passing a number of workers.

## Error messages
- `ValueError: persistent_workers option needs num_workers > 0`

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule
from dataloader_lint.rules.wording import by_default, no_workers, what_raises

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.arguments._shared.constructions import MadeLoader
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL301", "persistent-workers-without-workers", Entity.LOADER, Level.ERROR, Claim.MUST, fix=FixLevel.SAFE)


def raises(loader: Loader) -> bool:
    """True if the loader's constructor is known to raise, and nobody expects the error."""
    from dataloader_lint.rules.arguments._shared.needs_workers import without_workers

    return loader.known("persistent_workers") is not None and bool(without_workers(loader, "persistent_workers"))


def check(loader: Loader, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.arguments._shared.constructions import as_made

    if not loader.is_written_here:
        return
    for made in as_made(loader):
        if raises(made.loader):
            yield _finding(made)
            return


def _finding(made: MadeLoader) -> Finding:
    loader = made.loader
    from dataloader_lint.rules.arguments._shared.needs_workers import cause_of_options, workers_name

    persistent = loader.known("persistent_workers")
    workers = loader.known("num_workers")
    assert persistent is not None and workers is not None
    zero = no_workers(bool(loader.is_passed("num_workers")), workers.default, loader.kind.spelling("num_workers"))
    spelling = loader.kind.spelling("persistent_workers")
    when, advice = "", f"remove `{spelling}`, or add workers"
    if workers.default or persistent.default:
        name = workers_name(loader, "persistent_workers")
        when, advice = " by default", f"use `{spelling}={name} > 0`" if name else "set it only with workers"
    option = f"`{spelling}` is true{by_default(persistent.default)}"
    problem = f"{what_raises(loader, ['persistent_workers'])} raises ValueError{when}: {option} but {zero}{made.suffix}"
    cause = cause_of_options(loader, "persistent_workers")
    return Finding(loader.node, problem, advice, None if made.by else partial(fix, loader), cause=cause)


def fix(loader: Loader, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, follow_workers, remove_option

    def follow(present: str, workers: str) -> str:
        return f"{workers} > 0" if present == "True" else f"{present} and {workers} > 0"

    edit = follow_workers(editor, loader, "persistent_workers", raises, follow)
    if edit is not None:
        return Repair(Safety.SAFE, "Make `persistent_workers` depend on the number of workers", (edit,))
    edit = remove_option(editor, loader, "persistent_workers", raises)
    return Repair(Safety.SAFE, "Remove `persistent_workers`", (edit,))
