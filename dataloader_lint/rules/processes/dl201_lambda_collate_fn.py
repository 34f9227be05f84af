"""A lambda as `collate_fn` cannot be pickled, so spawned workers cannot be started.

## What it does
Reports a lambda that is used as the `collate_fn` of a DataLoader.

**What is recognized**: a lambda that is

- written in the call
- bound to a name
- stored in a keyword dict
- one arm of a conditional expression
- the default of a parameter
- wrapped in `functools.partial`
- assigned to `loader.collate_fn` afterwards

**Where**: at the lambda. The lambdas of one function or class are one finding, as are those at module level.

The `data_collator` of a `Trainer` of Hugging Face counts if its `dataloader_num_workers` is known to be above 0.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the `collate_fn`
pickled. Functions are pickled by name, and a lambda has none: the first iteration raises. This holds for a lambda
that is bound to a name at module level too, since its own name is `<lambda>`. Under fork nothing is pickled, so the
same code works on Linux up to Python 3.13.

## Known limits
- Silent if the call says `num_workers=0` or `multiprocessing_context="fork"`.
- If the number of workers is left out, it is a note: the loader fails as soon as somebody adds workers.
- In a notebook there is no fix, since a function at module level does not help there (see
  [DL202](#dl202-local-function-collate-fn)).
- Nothing is reported if the program expects that pickling fails, as in `pytest.raises(AttributeError)`.

## Example
```python
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, num_workers=4, collate_fn=lambda batch: batch)
```

## Use instead
```python
from torch.utils.data import DataLoader

def keep_as_list(batch):
    return batch

def make(dataset):
    return DataLoader(dataset, num_workers=4, collate_fn=keep_as_list)
```

Variables of the enclosing function become arguments of `functools.partial(function, name=value)`, which can be
pickled.

## Fix safety
Safe: the lambda becomes a module-level function that does the same.

A lambda that only calls a function of the module, an imported one, or a method of a local object (`tokenizer.pad`) is
replaced by that function, or by a `functools.partial` of it. That is unsafe if a string of the module holds the name of
the function, which may be patched, or if the module stores an attribute that is bound.

It is unsafe as well where the loader is made at module level without a main guard: workers fail until DL206 is fixed.

There is no fix if the lambda uses something that cannot be pickled either, such as a lock or an open file, if the class
of the Dataset stands in a function, or if the loader has no number of workers yet.

## When to ignore it
If the program only ever forks its workers: by its start method, and on a Python before 3.14.

## Error messages
- `AttributeError: Can't pickle local object 'make.<locals>.<lambda>'`
- `AttributeError: Can't get local object 'make.<locals>.<lambda>'` (Python 3.13)
- `_pickle.PicklingError: Can't pickle <function <lambda>>: attribute lookup <lambda> on __main__ failed`

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
from dataloader_lint.rules.wording import HOLDS_UNPICKLABLE, define_function, has_number_of_workers, pickling_fails

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.pipeline.loaders.callbacks import Callback

RULE = Rule(
    "DL201",
    "lambda-collate-fn",
    Entity.CALLBACK,
    Level.WARNING,
    Claim.MAY,
    fix=FixLevel.SOMETIMES_SAFE,
    codemod="HoistCollateLambda",
    spawning=True,
)


def find(file: File) -> Iterable[Callback]:
    return file.callbacks_of("collate_fn")


def check(callback: Callback, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.processes._shared.guarded_fixes import with_guard
    from dataloader_lint.semantics.syntax.outermost import outermost_definition

    loader = callback.loader
    if not callback.is_lambda or callback.function.node not in file.tree or not loader.pickles_its_functions:
        return
    if loader.is_pickling_error_expected:
        return
    effect = pickling_fails(loader)
    in_partial = " in a `partial`" if callback.in_partial else ""
    problem = f"the `{loader.kind.spelling('collate_fn')}` of `{loader.name}` is a lambda{in_partial}: {effect}"
    advice = define_function(callback.is_in_notebook)
    has_workers = has_number_of_workers(loader)
    repair = (
        partial(with_guard, [callback.loader], partial(fix, callback))
        if has_workers and not callback.is_in_notebook
        else None
    )
    cause = outermost_definition(callback.function.node, file.tree) or "module"
    level = None if has_workers else Level.NOTE
    if not has_workers:
        cause += ":without workers"  # that those have no fix keeps none from the others
    yield Finding(callback.function.node, problem, advice, repair, callback.steps, level, cause)


def fix(callback: Callback, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, direct_callee, hoist_lambda
    from dataloader_lint.rules.processes._shared.signatures import signature
    from dataloader_lint.rules.processes._shared.unpicklable_captures import captures_unpicklable, has_local_dataset

    if captures_unpicklable(callback.loader.ev, callback.function):
        raise RefusedError(HOLDS_UNPICKLABLE)
    if has_local_dataset(callback.loader):
        raise RefusedError("the Dataset's class is local, too")
    known = partial(signature, callback.loader.ev, callback.function)
    direct = direct_callee(editor, callback.function.node, known, callback.loader.call)
    if direct is not None:
        safety = Safety.SAFE if direct.is_sure else Safety.UNSAFE
        return Repair(safety, f"Pass `{direct.code}` instead of the lambda", direct.edits)
    name, edits = hoist_lambda(editor, callback.function.node, "collate_fn")
    return Repair(Safety.SAFE, f"Turn the lambda into a module-level function, `{name}`", edits)
