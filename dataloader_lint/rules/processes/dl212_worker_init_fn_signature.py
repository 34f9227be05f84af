"""A `worker_init_fn` is called with the worker's number; one that cannot take it raises TypeError in every worker.

## What it does
Reports a function or lambda that is given to a DataLoader as `worker_init_fn` and has no parameter for the worker's
number, or wants more arguments than that one.

## Why is this bad?
Each worker calls it with its number as the only argument. TypeError is raised there, and the first iteration fails.

## Known limits
Functions with decorators and functions of libraries are not looked at.

Nothing is reported where the program expects the error, as in `pytest.raises` or `try ... except` (see DL301).

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
Safe where the name of the function stands nowhere else in the project, be it in another file, a notebook, a string or
a list: a function without any parameter gets `worker_id`. Unsafe where it does: it gets `worker_id=None`, so that what
calls it without an argument goes on. Functions that want more, and those in a `functools.partial`, stay.

## When to ignore it
Never with workers: the call fails.

## Error messages
- `TypeError: seed() takes 0 positional arguments but 1 was given`

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
- [Randomness in multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Entity, Finding, FixLevel, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.loaders.signatures import SignatureMismatch

RULE = Rule("DL212", "worker-init-fn-signature", Entity.MODULE, fix=FixLevel.SOMETIMES_SAFE)


def check(file: Analysis) -> Iterator[Finding]:
    for found in file.signature_mismatches:
        if found.loader.has_workers is False or found.loader.is_error_expected("TypeError", at_use=True):
            continue
        name = found.name if found.name == "the lambda" else f"`{found.name}`"
        if found.takes_none:
            lack, advice = "takes no argument", "give it a parameter `worker_id`"
        else:
            lack, advice = "wants more than one argument", "bind the others with `functools.partial`"
        problem = f"{name} {lack}, but every worker of `{found.loader.name}` calls it with its number: TypeError there"
        yield Finding(found.node, problem, advice, partial(fix, file, found))


def fix(file: Analysis, found: SignatureMismatch, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, add_parameter

    if not found.takes_none or found.scope is None:
        return None
    if found.has_other_users(file.session.project):  # they call it as it is
        edit = add_parameter(editor, found.function, "worker_id", "None")
        return Repair(Safety.UNSAFE, "Add the parameter `worker_id`, with a default", (edit,))
    edit = add_parameter(editor, found.function, "worker_id")
    return Repair(Safety.SAFE, "Add the parameter `worker_id`", (edit,))
