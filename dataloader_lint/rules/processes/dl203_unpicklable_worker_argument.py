"""A lambda or local function as `worker_init_fn` cannot be pickled, so spawned workers cannot be started.

## What it does
Reports a lambda, or a function that is defined inside another one, that reaches a DataLoader with workers as its
`worker_init_fn`: written in the call, through a name or a keyword dict, inside `functools.partial`, or handed to a
function of the project that makes the loader. In a notebook every function counts that is defined in one of its cells
(see [DL202](#dl202-local-function-collate-fn)). The report stands on the lambda, or on the argument that hands the
function over.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the `worker_init_fn`
pickled by its name. A lambda has none, and a name inside another function cannot be imported: the first iteration
raises. Under fork nothing is pickled, which is why the same code works on Linux up to Python 3.13.

## Known limits
Silent for loaders that are known to have no workers, and where the call says `multiprocessing_context="fork"`.
`sampler`, `batch_sampler` and `generator` stay in the parent process and are never pickled, so they are not looked at.

Nothing is reported where the program expects that pickling fails, as in `pytest.raises(AttributeError)`.

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
For a lambda safe: it becomes a function at module level that does the same. For a local function unsafe: it moves to
module level, and what it took from around it is bound when the loader is made. There is no fix in a notebook.

## When to ignore it
Where the program is pinned to fork, by the start method and by the Python version.

## Error messages
- `AttributeError: Can't pickle local object 'make.<locals>.lower_priority'`
- `AttributeError: Can't get local object 'make.<locals>.lower_priority'` (Python 3.13)
- `_pickle.PicklingError: Can't pickle <function <lambda>>: attribute lookup <lambda> on __main__ failed`

## References
- [Contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
- [What can be pickled](https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Entity, Finding, FixLevel, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.loaders.callbacks import Callback

RULE = Rule("DL203", "unpicklable-worker-argument", Entity.MODULE, fix=FixLevel.SOMETIMES_SAFE, spawning=True)


def check(file: Analysis) -> Iterator[Finding]:
    for handed in file.callbacks_of("worker_init_fn"):
        loader = handed.loader
        if loader.has_workers is False or loader.pickles_nothing or loader.is_pickling_error_expected:
            continue
        node: cst.CSTNode = handed.node
        if handed.is_lambda and handed.function.node in file.tree:
            node, subject, advice = handed.function.node, "the lambda", "define it with `def` at module level"
            if handed.is_in_notebook:
                advice = "define it with `def` in a .py file and import it from there"
            if handed.in_partial:
                advice += " and keep the `functools.partial` around it"
        elif handed.is_local:
            subject = f"the local function `{handed.name}`"
            where = "to a .py file, at module level," if handed.is_in_notebook else "to module level"
            advice = f"move `{handed.name}` {where} and bind what it needs with `functools.partial`"
        elif handed.is_notebooks_own and handed.node in file.tree:
            problem = (
                f"`{handed.name}` is defined in this notebook, where a spawned worker cannot find it, so with it as "
                f"`worker_init_fn` the workers of `{loader.name}` die on macOS, Windows and, from Python 3.14 on, Linux"
            )
            yield Finding(node, problem, f"move `{handed.name}` to a .py file and import it from there")
            continue
        else:
            continue
        problem = (
            f"{subject} given to `{loader.name}` as `worker_init_fn` cannot be pickled, so starting workers fails on "
            "macOS, Windows and, from Python 3.14 on, Linux"
        )
        yield Finding(node, problem, advice, None if handed.is_in_notebook else partial(fix, handed))


def fix(handed: Callback, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, hoist_lambda, lift_function

    function = handed.function.node
    if function not in editor.tree:
        return None
    if handed.is_lambda:
        if not handed.takes_arguments:
            return None  # as a function it would fail in other words: DL212
        name, edits = hoist_lambda(editor, function, "worker_init_fn")
        return Repair(Safety.SAFE, f"Make the lambda a function at module level, `{name}`", edits)
    name, edits = lift_function(editor, function)
    return Repair(Safety.UNSAFE, f"Move `{name}` to module level", edits)
