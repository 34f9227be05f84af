"""Options that need workers are hard-coded, but the number of workers can be set to 0.

## What it does
Reports a DataLoader whose `persistent_workers=True`, `prefetch_factor`, `timeout` or `multiprocessing_context` is a
constant, while its `num_workers` is

- a parameter, an option or a configuration value: `workers`, `args.workers`, `cfg["workers"]`, `self.num_workers`
- an environment variable whose name says `WORKERS`: `int(os.environ.get("NUM_WORKERS", 4))`
- a share of the CPUs that is 0 on a small machine: `os.cpu_count() // 4`, `len(os.sched_getaffinity(0)) - 2`
- 0 on one branch

Keywords that a function passes on are followed to its callers.

A conditional counts if its value needs workers while there may be none: `p if n > 0 else 2`. Silent if there is any
guard: `n > 0`, an `if` around it, `max(1, n)`, a check that raises.

The options of a trainer of Hugging Face count as well: `TrainingArguments(dataloader_num_workers=workers, ...)`.

## Why is this bad?
People set 0 workers to debug. Then `persistent_workers=True`, a `prefetch_factor` that is not None and a
`multiprocessing_context` make the constructor raise ValueError. A `timeout` raises AssertionError at the first
iteration (torch 2.13). `os.cpu_count() // 4` is 0 without anybody's doing on a machine with 2 CPUs. A guard whose
other branch is 0 (`prefetch_factor=2 if n > 0 else 0`) raises as well: only None is allowed there.

## Known limits
- Nothing is reported if every caller in the project passes a constant number of workers.
- Nothing is reported if some test, of whatever it asks, leaves the option out: `4 if train else None`.
- CPUs divided by a number that is not known, such as that of the ranks, are not reported.
- Checks in other programs, such as the schema of a configuration file, are not seen.
- Silent in tests, and where `try ... except` catches the error (see DL301).

## Example
```python
from torch.utils.data import DataLoader

def make(dataset, args):
    return DataLoader(dataset, num_workers=args.workers, persistent_workers=True)
```

## Use instead
```python
from torch.utils.data import DataLoader

def make(dataset, args):
    return DataLoader(dataset, num_workers=args.workers, persistent_workers=args.workers > 0)
```

For the others write `prefetch_factor=4 if args.workers > 0 else None`, `timeout=60 if args.workers > 0 else 0` and
`multiprocessing_context="spawn" if args.workers > 0 else None`.

## Fix safety
Safe if the number of workers is a name or an attribute: with workers nothing changes, without them the loader works.
A written `prefetch_factor` of 2 is removed: it is the default of every torch version. In a project that requires torch
before 2.0, which refuses None, another one ends with `else 2`. What a parameter or an option brings is never removed.

## When to ignore it
If something that the linter cannot see rules out 0 workers.

## Error messages
- `ValueError: persistent_workers option needs num_workers > 0`
- `ValueError: prefetch_factor option could only be specified in multiprocessing`
- `ValueError: multiprocessing_context can only be used with multi-process loading (num_workers > 0)`

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule
from dataloader_lint.rules.wording import what_raises

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.arguments._shared.constructions import MadeLoader
    from dataloader_lint.rules.arguments.dl310_persistent_workers_not_guarded.zero_sources import Zero
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL310", "persistent-workers-not-guarded", Entity.LOADER, Level.ERROR, Claim.MAY, fix=FixLevel.SAFE)


def check(loader: Loader, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.arguments._shared.constructions import as_made

    for made in as_made(loader):
        found = _zero(made.loader)
        if found is not None:
            yield _finding(made, *found)
            return


def _finding(made: MadeLoader, zero: Zero, fixed: list[str]) -> Finding:
    from dataloader_lint.rules.arguments._shared.needs_workers import cause_of_options

    loader = made.loader
    error = "fails at the first iteration" if fixed == ["timeout"] else "raises ValueError"
    if len(fixed) > 1:
        error = "fails"
    when = (
        f"if {zero.source} is 0"
        if zero.source
        else f"on one branch, where `{loader.kind.spelling('num_workers')}` is 0"
    )
    *others, last = (f"`{loader.kind.spelling(name)}`" for name in fixed)
    names = f"{', '.join(others)} and {last} need" if others else f"{last} needs"
    workers = _workers_name(loader, fixed)
    advice = f"set {'them' if others else 'it'} only if " + (f"`{workers} > 0`" if workers else "there are workers")
    if workers and not others:
        advice = f"use `{loader.kind.spelling(fixed[0])}={_following(loader, fixed[0], '...', workers)}`"
    problem = f"{what_raises(loader, fixed)} {error} {when}: {names} workers{made.suffix}"
    cause = cause_of_options(loader, *fixed)
    return Finding(loader.node, problem, advice, None if made.by else partial(fix, loader), cause=cause)


def fix(loader: Loader, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, follow_workers, is_passed_in, remove_option
    from dataloader_lint.rules.arguments._shared.needs_workers import is_default_prefetch

    found = _zero(loader)
    if found is None:
        return None
    edits = []
    options = [*found[1], *_raise_next(loader, found[1])]
    for name in options:

        def follow(present: str, workers: str, name: str = name) -> str:
            if " if " in present:
                raise RefusedError("it has a guard of its own")
            if name == "persistent_workers" and present != "True":
                return f"{present} and {workers} > 0"
            return _following(loader, name, present, workers)

        written = loader.argument(name)
        is_own = written is None or not is_passed_in(editor, written.value)
        if name == "prefetch_factor" and is_own and is_default_prefetch(loader):
            edits.append(remove_option(editor, loader, name, _is_reported))
            continue
        edit = follow_workers(editor, loader, name, _is_reported, follow)
        if edit is None:
            return None
        edits.append(edit)
    names = " and ".join(f"`{name}`" for name in options)
    return Repair(Safety.SAFE, f"Make {names} depend on the number of workers", tuple(edits))


def _raise_next(loader: Loader, fixed: list[str]) -> list[str]:
    """`prefetch_factor` where it is passed beside the others: by its default it would raise as soon as they do not."""
    from dataloader_lint.semantics.values.values import Const

    name = "prefetch_factor"
    written = loader.argument(name)
    if name in fixed or written is None or loader.is_passed(name) is not True:
        return []
    values = loader.values(name)
    is_number = bool(values) and all(isinstance(each, Const) and type(each.value) is int for each in values)
    return [name] if is_number else []


def _following(loader: Loader, name: str, value: str, workers: str) -> str:
    """The code of an argument that follows the number of workers."""
    from dataloader_lint.rules.arguments._shared.needs_workers import prefetch_without_workers

    if name == "persistent_workers":
        return f"{workers} > 0"
    idle = {"prefetch_factor": prefetch_without_workers(loader), "timeout": "0"}.get(name, "None")
    return f"{value} if {workers} > 0 else {idle}"


def _is_reported(loader: Loader) -> bool:
    return _zero(loader) is not None


def _zero(loader: Loader) -> tuple[Zero, list[str]] | None:
    """What can set the number of workers to 0, and the options that need workers; None if nothing is wrong."""
    from dataloader_lint.rules.arguments._shared.needs_workers import is_failure_expected
    from dataloader_lint.rules.arguments.dl310_persistent_workers_not_guarded.zero_workers import fixed_for_workers

    workers = loader.known("num_workers")
    if workers is not None and workers.value == 0:  # DL301 to DL303
        return None
    found = fixed_for_workers(loader)
    if found is None or not loader.is_reached or is_failure_expected(loader, *found[1]):
        return None
    return found


def _workers_name(loader: Loader, options: list[str]) -> str:
    from dataloader_lint.rules.arguments._shared.needs_workers import workers_name

    return workers_name(loader, *options)
