"""A lambda or nested function as `worker_init_fn` cannot be pickled, so spawned workers cannot be started.

## What it does
Reports a lambda or a nested function that is used as the `worker_init_fn` of a DataLoader with workers.

**What is recognized**: a lambda or nested function that is

- written in the call, or passed by its name
- stored in a keyword dict or wrapped in `functools.partial`
- passed to a function of the project that makes the loader

In a notebook, every `worker_init_fn` that is defined in a cell is reported (see
[DL202](#dl202-local-function-collate-fn)).

**Where**: at the lambda, or at the argument that passes the function.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the `worker_init_fn`
pickled by its name. A lambda has no name, and a nested function cannot be imported by name: the first iteration
raises. Under fork nothing is pickled, so the same code works on Linux up to Python 3.13.

## Known limits
- Silent if the loader is known to have no workers, or the call says `multiprocessing_context="fork"`.
- `sampler`, `batch_sampler` and `generator` stay in the main process and are never pickled, so they are not checked.
- Nothing is reported if the program expects that pickling fails, as in `pytest.raises(AttributeError)`.

## Example
```python
import os

from torch.utils.data import DataLoader

def make(dataset, priority):
    def lower_priority(worker_id):
        os.nice(priority)

    return DataLoader(dataset, num_workers=4, worker_init_fn=lower_priority)
```

## Use instead
```python
import os
from functools import partial

from torch.utils.data import DataLoader

def lower_priority(worker_id, priority):
    os.nice(priority)

def make(dataset, priority):
    return DataLoader(dataset, num_workers=4, worker_init_fn=partial(lower_priority, priority=priority))
```

## Fix safety
Safe for a lambda: it becomes a module-level function that does the same. Unsafe for a nested function: it moves to
module level, and the variables that it uses are bound when the loader is made. There is no fix in a notebook.

A function that only calls another one with its own arguments is replaced by that. All of it is unsafe where the loader
is made at module level without a main guard: workers fail until DL206 is fixed.

## When to ignore it
If the program only ever forks its workers: by its start method, and on a Python before 3.14.

## Error messages
- `AttributeError: Can't pickle local object 'make.<locals>.lower_priority'`
- `AttributeError: Can't get local object 'make.<locals>.lower_priority'` (Python 3.13)
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
from dataloader_lint.rules.wording import (
    HOLDS_UNPICKLABLE,
    IN_OTHER_FILE,
    MOVE_OUT_OF_NOTEBOOK,
    NOT_IN_WORKERS,
    PICKLING_FAILS,
    define_function,
    move_function,
)

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.pipeline.loaders.callbacks import Callback

RULE = Rule(
    "DL203",
    "unpicklable-worker-argument",
    Entity.CALLBACK,
    Level.WARNING,
    Claim.MAY,
    fix=FixLevel.SOMETIMES_SAFE,
    spawning=True,
)


def find(file: File) -> Iterable[Callback]:
    return file.callbacks_of("worker_init_fn")


def check(callback: Callback, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.processes._shared.guarded_fixes import with_guard
    from dataloader_lint.semantics.syntax.outermost import outermost_definition

    loader = callback.loader
    if loader.has_workers is False or loader.pickles_nothing or loader.is_pickling_error_expected:
        return
    node: cst.CSTNode = callback.node
    if callback.is_lambda and callback.function.node in file.tree:
        in_partial = " in a `partial`" if callback.in_partial else ""
        node, what = callback.function.node, f"the `worker_init_fn` of `{loader.name}` is a lambda{in_partial}"
        advice = define_function(callback.is_in_notebook)
    elif callback.is_local:
        what, advice = f"`{callback.name}` is a nested `worker_init_fn`", move_function(callback.is_in_notebook)
    elif callback.is_notebooks_own and callback.node in file.tree:
        problem = f"`{callback.name}` (`worker_init_fn`) is defined in this notebook: {NOT_IN_WORKERS}"
        yield Finding(node, problem, MOVE_OUT_OF_NOTEBOOK, because=callback.steps, cause=callback.name)
        return
    else:
        return
    repair = None if callback.is_in_notebook else partial(with_guard, [callback.loader], partial(fix, callback))
    defined = callback.function.node
    place = outermost_definition(defined, file.tree) if defined in file.tree else ""
    cause = f"{place}:{'lambda' if callback.is_lambda else callback.name}"
    yield Finding(node, f"{what}: {PICKLING_FAILS}", advice, repair, callback.steps, cause=cause)


def fix(callback: Callback, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, direct_callee, hoist_lambda, lift_function
    from dataloader_lint.rules.processes._shared.signatures import signature
    from dataloader_lint.rules.processes._shared.unpicklable_captures import captures_unpicklable

    function = callback.function.node
    if function not in editor.tree:
        raise RefusedError(IN_OTHER_FILE)
    if captures_unpicklable(callback.loader.ev, callback.function):
        raise RefusedError(HOLDS_UNPICKLABLE)
    known = partial(signature, callback.loader.ev, callback.function)
    if callback.is_lambda:
        if not callback.takes_arguments:
            raise RefusedError("it does not take the worker's number")  # would fail in other words: DL212
        direct = direct_callee(editor, function, known, callback.loader.call)
        if direct is not None:
            safety = Safety.SAFE if direct.is_sure else Safety.UNSAFE
            return Repair(safety, f"Pass `{direct.code}` instead of the lambda", direct.edits)
        name, edits = hoist_lambda(editor, function, "worker_init_fn")
        return Repair(Safety.SAFE, f"Turn the lambda into a module-level function, `{name}`", edits)
    direct = direct_callee(editor, function, known)
    if direct is not None:
        return Repair(Safety.UNSAFE, f"Pass `{direct.code}` instead of `{callback.name}`", direct.edits)
    name, edits = lift_function(editor, function)
    return Repair(Safety.UNSAFE, f"Move `{name}` to module level", edits)
