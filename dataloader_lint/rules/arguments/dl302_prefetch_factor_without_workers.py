"""`prefetch_factor` needs worker processes; without them DataLoader raises ValueError.

## What it does
Reports a DataLoader in these cases:

- its `prefetch_factor` is known not to be None while its `num_workers` is known to be 0: written as 0, left out, or
  by a declared default
- its `prefetch_factor` is 0 and it has workers

The options of a trainer of Hugging Face count as well: `TrainingArguments(dataloader_prefetch_factor=4)`.

## Why is this bad?
The constructor raises `ValueError: prefetch_factor option could only be specified in multiprocessing` (since torch
2.0; measured with 2.13). With workers, a `prefetch_factor` of 0 passes the constructor and fails with AssertionError
at the first iteration.

## Known limits
- Values that are computed at run time or come from a configuration file are unknown and not reported.
- Silent in tests, and where `try ... except` catches the error (see DL301).

## Example
```python
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, prefetch_factor=4)
```

## Use instead
```python
from torch.utils.data import DataLoader

def make(dataset, workers=0):
    return DataLoader(dataset, num_workers=workers, prefetch_factor=4 if workers > 0 else None)
```

## Fix safety
Safe. A literal is removed together with its argument: the call that raised now makes a loader. If the number of
workers has a name, the argument becomes `prefetch_factor=K if NAME > 0 else None`. In a project that requires torch
before 2.0, which refuses None, it becomes `prefetch_factor=K if NAME > 0 else 2`. A written 2 is removed in any case:
it is the default of every torch version. What a parameter or an option brings is never removed.

## When to ignore it
With a declared default of 0 workers, if nobody runs the program without passing a number of workers.

## Error messages
- `ValueError: prefetch_factor option could only be specified in multiprocessing`
- `ValueError: --dataloader_prefetch_factor can only be set when data is loaded in a different process` (Trainer)
- `AssertionError: prefetch_factor must be greater than 0`

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
    from dataloader_lint.rules.arguments._shared.needs_workers import Unused
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL302", "prefetch-factor-without-workers", Entity.LOADER, Level.ERROR, Claim.MUST, fix=FixLevel.SAFE)


def check(loader: Loader, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.arguments._shared.constructions import as_made
    from dataloader_lint.rules.arguments._shared.needs_workers import cause_of_options, without_workers

    for made in as_made(loader):
        unused = without_workers(made.loader, "prefetch_factor")
        if unused is not None:
            problem = _problem(made.loader, unused) + made.suffix
            cause = cause_of_options(loader, "prefetch_factor")
            yield Finding(
                loader.node, problem, "remove it or add workers", None if made.by else partial(fix, loader), cause=cause
            )
            return
    factor = loader.known("prefetch_factor")
    if factor is not None and factor.value == 0 and factor.value is not False and loader.has_workers:
        is_wanted = loader.is_error_expected("AssertionError", at_use=True)
        if loader.is_written_here and loader.is_reached and not is_wanted:
            problem = (
                f"`{loader.name}` fails at the first iteration: "
                f"`prefetch_factor` is 0{by_default(factor.default)} and there are workers"
            )
            yield Finding(loader.node, problem, "use 1 or more, or leave it out, which means 2")


def _problem(loader: Loader, unused: Unused) -> str:
    default = unused.workers.default
    when = " by default" if default or unused.source else ""
    zero = no_workers(bool(loader.is_passed("num_workers")), default, loader.kind.spelling("num_workers"))
    option = f"`{loader.kind.spelling('prefetch_factor')}` is set{by_default(unused.source)}"
    return f"`{loader.name}` raises ValueError{when}: {option} but {zero}"


def fix(loader: Loader, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, follow_workers, is_passed_in, remove_option
    from dataloader_lint.rules.arguments._shared.needs_workers import is_default_prefetch, prefetch_without_workers

    written = loader.argument("prefetch_factor")
    if is_default_prefetch(loader) and (written is None or not is_passed_in(editor, written.value)):
        superfluous = remove_option(editor, loader, "prefetch_factor", _raises)
        return Repair(Safety.SAFE, "Remove `prefetch_factor`: 2 is the default", (superfluous,))
    following = f"{{}} if {{}} > 0 else {prefetch_without_workers(loader)}"
    edit = follow_workers(editor, loader, "prefetch_factor", _raises, following.format)
    if edit is not None:
        return Repair(Safety.SAFE, "Make `prefetch_factor` depend on the number of workers", (edit,))
    edit = remove_option(editor, loader, "prefetch_factor", _raises)
    return Repair(Safety.SAFE, "Remove `prefetch_factor`", (edit,))


def _raises(loader: Loader) -> bool:
    from dataloader_lint.rules.arguments._shared.needs_workers import without_workers

    return without_workers(loader, "prefetch_factor") is not None
