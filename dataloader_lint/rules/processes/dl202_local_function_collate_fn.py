"""A nested `collate_fn`, or one defined in a notebook, cannot be pickled for spawned workers.

## What it does
Reports a function that is defined inside a function or method and used as the `collate_fn` of a DataLoader.

**What is recognized**: a nested function that is

- passed by its name
- stored in a keyword dict or wrapped in `functools.partial`
- returned by a factory function of the project
- assigned to `loader.collate_fn` afterwards

In a notebook, every `collate_fn` that is defined in a cell is reported if the loader has workers.

**Where**: at the argument. The functions that are defined in one function or class are one finding, at the first loader
that is given one of them.

The `data_collator` of a `Trainer` of Hugging Face counts if its `dataloader_num_workers` is known to be above 0.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the `collate_fn`
pickled by its name. A nested function cannot be imported by name: the first iteration raises. Under fork nothing is
pickled, so the same code works on Linux up to Python 3.13.

A function of a notebook is pickled as `__main__.collate`. The `__main__` of a spawned worker is not the notebook, so
nothing can be imported from there. The workers die with AttributeError (`Can't get attribute 'collate'`), and the
loader raises RuntimeError (`DataLoader worker (pid(s) ...) exited unexpectedly`). Functions that a notebook imports
from a .py file are found.

## Known limits
- Silent if the call says `num_workers=0` or `multiprocessing_context="fork"`.
- If the number of workers is left out, it is a note: the loader fails as soon as somebody adds workers.
- Module-level functions, bound methods, callable objects and `functools.partial` of a module-level function can be
  pickled and are not reported.
- Nothing is reported if the program expects that pickling fails, as in `pytest.raises(AttributeError)`.

## Example
```python
from torch.utils.data import DataLoader

def make(dataset, pad_value):
    def collate(batch):
        return [sample + [pad_value] for sample in batch]

    return DataLoader(dataset, num_workers=4, collate_fn=collate)
```

## Use instead
```python
from functools import partial
from torch.utils.data import DataLoader

def collate(batch, pad_value):
    return [sample + [pad_value] for sample in batch]

def make(dataset, pad_value):
    return DataLoader(dataset, num_workers=4, collate_fn=partial(collate, pad_value=pad_value))
```

## Fix safety
Unsafe: the function moves to module level. The variables that it uses are bound when the loader is made, no longer
when a batch is collated. A function that only calls another one is replaced by that, or by a `functools.partial` of it.
There is no fix in a notebook, if the class of the Dataset stands in a function, or if the loader has no number of
workers yet.

## When to ignore it
If the program only ever forks its workers: by its start method, and on a Python before 3.14.

## Error messages
- `AttributeError: Can't pickle local object 'make.<locals>.collate'`
- `AttributeError: Can't get local object 'make.<locals>.collate'` (Python 3.13)
- `AttributeError: Can't get attribute 'collate' on <module '__main__' (built-in)>`

## References
- [Contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
- [What can be pickled](https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule
from dataloader_lint.rules.wording import (
    HOLDS_UNPICKLABLE,
    MOVE_OUT_OF_NOTEBOOK,
    NOT_IN_WORKERS,
    has_number_of_workers,
    move_function,
    pickling_fails,
)

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.pipeline.loaders.callbacks import Callback

RULE = Rule(
    "DL202",
    "local-function-collate-fn",
    Entity.CALLBACK,
    Level.WARNING,
    Claim.MAY,
    fix=FixLevel.UNSAFE,
    codemod="LiftCollateFunction",
    spawning=True,
)


def find(file: File) -> Iterable[Callback]:
    return file.callbacks_of("collate_fn")


def check(callback: Callback, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.processes._shared.guarded_fixes import with_guard
    from dataloader_lint.semantics.syntax.outermost import outermost_definition

    loader = callback.loader
    is_wrong = callback.is_local or callback.is_notebooks_own
    if not is_wrong or callback.node not in file.tree or not loader.pickles_its_functions:
        return
    if loader.is_pickling_error_expected:
        return
    option = loader.kind.spelling("collate_fn")
    if not callback.is_local:
        role = "" if callback.name == option else f" (`{option}`)"
        problem = f"`{callback.name}`{role} is defined in this notebook: {NOT_IN_WORKERS}"
        cause = callback.name
        yield Finding(callback.node, problem, MOVE_OUT_OF_NOTEBOOK, because=callback.steps, cause=cause)
        return
    effect = pickling_fails(loader)
    problem = f"`{callback.name}` is a nested `{option}`: {effect}"
    advice = move_function(callback.is_in_notebook)
    has_workers = has_number_of_workers(loader)
    repair = (
        partial(with_guard, [callback.loader], partial(fix, callback))
        if has_workers and not callback.is_in_notebook
        else None
    )
    cause = outermost_definition(callback.function.node, callback.function.scope.module.tree)
    level = None if has_workers else Level.NOTE
    if not has_workers:
        cause += ":without workers"  # that those have no fix keeps none from the others
    yield Finding(callback.node, problem, advice, repair, callback.steps, level, cause)


def fix(callback: Callback, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, direct_callee, lift_function
    from dataloader_lint.rules.processes._shared.signatures import signature
    from dataloader_lint.rules.processes._shared.unpicklable_captures import captures_unpicklable, has_local_dataset

    if captures_unpicklable(callback.loader.ev, callback.function):
        raise RefusedError(HOLDS_UNPICKLABLE)
    if has_local_dataset(callback.loader):
        raise RefusedError("the Dataset's class is local, too")
    known = partial(signature, callback.loader.ev, callback.function)
    direct = direct_callee(editor, callback.function.node, known)
    if direct is not None:
        return Repair(Safety.UNSAFE, f"Pass `{direct.code}` instead of `{callback.name}`", direct.edits)
    name, edits = lift_function(editor, callback.function.node)
    return Repair(Safety.UNSAFE, f"Move `{name}` to module level", edits)
