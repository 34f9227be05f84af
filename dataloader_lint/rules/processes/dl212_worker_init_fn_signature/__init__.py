"""A `worker_init_fn` that cannot take the worker id raises TypeError in every worker.

## What it does
Reports a function or lambda that is the `worker_init_fn` of a DataLoader and

- has no parameter for the worker id, or
- needs more than that one argument

## Why is this bad?
Each worker calls it with its worker id as the only argument. That raises TypeError, and the first iteration fails.

## Known limits
- Functions with decorators and functions of libraries are not checked.
- Silent in tests, and where `try ... except` catches the error (see DL301).

## Example
```python
import random

import torch
from torch.utils.data import DataLoader

def seed():
    random.seed(torch.initial_seed())

def make(dataset):
    return DataLoader(dataset, num_workers=2, worker_init_fn=seed)
```

## Use instead
```python
import random

import torch
from torch.utils.data import DataLoader

def seed(worker_id):
    random.seed(torch.initial_seed())

def make(dataset):
    return DataLoader(dataset, num_workers=2, worker_init_fn=seed)
```

## Fix safety
Unsafe: a function without parameters gets `worker_id`, and others may call it without an argument. If a call in the
project is known, or a string in the file names the function, as in `__all__`, the parameter is `worker_id=None`.
Functions that need more arguments, and those in a `functools.partial`, are not changed.

## When to ignore it
Never with workers: the call fails.

## Error messages
- `TypeError: seed() takes 0 positional arguments but 1 was given`

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
- [Randomness in multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading)
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
    from dataloader_lint.rules.processes.dl212_worker_init_fn_signature.signatures import SignatureMismatch

RULE = Rule("DL212", "worker-init-fn-signature", Entity.CALLBACK, Level.ERROR, Claim.MAY, fix=FixLevel.UNSAFE)


def find(file: File) -> Iterable[SignatureMismatch]:
    from dataloader_lint.rules.processes.dl212_worker_init_fn_signature.signatures import signature_mismatches

    return signature_mismatches(file.callbacks_of("worker_init_fn"), file.loaders)


def check(found: SignatureMismatch, file: File) -> Iterator[Finding]:
    if found.loader.has_workers is False or found.loader.is_error_expected("TypeError", at_use=True):
        return
    name = found.name if found.name == "the lambda" else f"`{found.name}`"
    if found.takes_none:
        lack, advice = "takes no argument", "add a parameter `worker_id`"
    else:
        lack, advice = "needs more than one argument", "bind the others with `functools.partial`"
    problem = f"{name} {lack}, but workers of `{found.loader.name}` pass it their worker id: TypeError"
    yield Finding(found.node, problem, advice, partial(fix, found))


def fix(found: SignatureMismatch, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, add_parameter
    from dataloader_lint.semantics.syntax.expressions import last_name

    if not found.takes_none or found.scope is None:
        raise RefusedError("it takes something else than the worker's number")
    calls = (call for call, _, _ in found.loader.ev.callers(found.scope))
    is_called = any(last_name(call.func) == found.name for call in calls)  # without an argument, as it takes none
    is_called = is_called or any(f"{quote}{found.name}{quote}" in editor.tree.code for quote in ('"', "'"))
    edit = add_parameter(editor, found.function, "worker_id", "None" if is_called else "")
    return Repair(Safety.UNSAFE, "Add the parameter `worker_id`", (edit,))
