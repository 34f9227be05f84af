"""A lambda as `collate_fn` cannot be pickled, so no worker can be started by spawn or forkserver.

## What it does
Reports a lambda that reaches a DataLoader as its `collate_fn`: written in the call, bound to a name, kept in a keyword
dict, one arm of a conditional expression, the default of a parameter, wrapped in `functools.partial`, or assigned to
`loader.collate_fn` afterwards. The report stands on the lambda.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the `collate_fn`
pickled, and a lambda has no name by which it could be found again: the first iteration raises. Under fork nothing is
pickled, which is why the same code works on Linux up to Python 3.13. A lambda bound to a name at module level fails as
well: its own name is `<lambda>`.

## Known limits
Silent where `num_workers=0` is written out, and where the call says `multiprocessing_context="fork"`. Where the number
of workers is left out the rule reports: the loader works until somebody adds workers. In a notebook a function at
module level is no help (see [DL202](#dl202-local-function-collate-fn)), so there is no fix.

Nothing is reported where the program expects that pickling fails, as in `pytest.raises(AttributeError)`.

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

Values that the lambda takes from around it become arguments of `functools.partial(function, name=value)`, which can be
pickled.

## Fix safety
Safe: the lambda becomes a function at module level that does the same.

## When to ignore it
Where the program is pinned to fork, by the start method and by the Python version.

## Error messages
- `AttributeError: Can't pickle local object 'make.<locals>.<lambda>'`
- `AttributeError: Can't get local object 'make.<locals>.<lambda>'` (Python 3.13)
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
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.loaders.callbacks import Callback

RULE = Rule("DL201", "lambda-collate-fn", Entity.MODULE, fix=FixLevel.SAFE, codemod="HoistCollateLambda", spawning=True)


def check(file: Analysis) -> Iterator[Finding]:
    for handed in file.callbacks_of("collate_fn"):
        loader = handed.loader
        if not handed.is_lambda or handed.function.node not in file.tree or not loader.pickles_its_functions:
            continue
        if loader.is_pickling_error_expected:
            continue
        problem = (
            f"the lambda given to `{loader.name}` as `collate_fn` cannot be pickled, so starting workers fails on "
            "macOS, Windows and, from Python 3.14 on, Linux"
        )
        if loader.is_passed("num_workers") is False:
            problem += " as soon as the loader gets any"
        advice = "define it with `def` at module level"
        if handed.is_in_notebook:
            advice = "define it with `def` in a .py file and import it from there"
        if handed.in_partial:
            advice += " and keep the `functools.partial` around it"
        yield Finding(handed.function.node, problem, advice, None if handed.is_in_notebook else partial(fix, handed))


def fix(handed: Callback, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, hoist_lambda

    name, edits = hoist_lambda(editor, handed.function.node, "collate_fn")
    return Repair(Safety.SAFE, f"Make the lambda a function at module level, `{name}`", edits)
