"""A lambda or local function that a Dataset keeps cannot be pickled, so spawned workers cannot be started.

## What it does
Reports lambdas, functions that are defined inside another one, and wrappers made by calling `functools.lru_cache` or
`functools.cache`, wherever a Dataset keeps them: bound to an attribute, as the default of a parameter that is stored,
in a list or dict, as an argument of a transform (`Lambda`, `Compose`) or of another object that it keeps, however many
hops away. What a script gives to a Dataset (`transform=...`), or stores into it afterwards (`data.transform = ...`),
counts where that object reaches a DataLoader that may have workers. The report stands on the lambda, or on the
expression that names the local function. Several in one list or dict are one report.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the Dataset pickled
with everything in it. Functions are pickled by name; a lambda has none, and a name inside another function cannot be
imported: the first iteration raises. Under fork nothing is pickled, which is why the same code works on Linux up to
Python 3.13.

## Known limits
Silent where all loaders in sight that the Dataset reaches have no workers or fork them, and for objects whose class
defines `__getstate__` or `__reduce__`. A lambda that is used and dropped inside one call (`sorted(key=...)`,
`DataFrame.apply`) is no finding. Of a library's objects only those whose name begins with a capital letter are taken
to keep what they are given. Functions defined inside others are looked for in files that define a Dataset, make a
loader or hold a lambda.

Nothing is reported where the program expects that pickling fails, as in `pytest.raises(AttributeError)`.

## Example
```python
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

def make(root):
    to_range = transforms.Lambda(lambda image: image * 2 - 1)
    images = datasets.ImageFolder(root, transform=transforms.Compose([transforms.ToTensor(), to_range]))
    return DataLoader(images, num_workers=4)
```

## Use instead
```python
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

def to_range(image):
    return image * 2 - 1

def make(root):
    transform = transforms.Compose([transforms.ToTensor(), transforms.Lambda(to_range)])
    return DataLoader(datasets.ImageFolder(root, transform=transform), num_workers=4)
```

A function that needs values from around it becomes `functools.partial(function, name=value)`, or a class at module
level with `__call__`.

## Fix safety
Safe for a lambda that takes nothing from the function around it: it becomes a function at module level. Unsafe
otherwise, since what it took from around it is bound when the object is made. There is no fix in a notebook.

## When to ignore it
Where the program is pinned to fork, by the start method and by the Python version, or the Dataset never has workers.

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
from dataloader_lint.gate import MEMOISING, TRANSFORMS
from dataloader_lint.rules.base import Entity, Finding, FixLevel, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.processes.unpicklable import KeptFunction

RULE = Rule(
    "DL204",
    "lambda-in-dataset",
    Entity.MODULE,
    fix=FixLevel.SOMETIMES_SAFE,
    spawning=True,
    subjects=(TRANSFORMS, MEMOISING),
)


def check(file: Analysis) -> Iterator[Finding]:
    for kept in file.kept_functions:
        if kept.loader is not None and kept.loader.is_pickling_error_expected:
            continue
        more = f" (and {kept.others} more beside it)" if kept.others else ""
        through = f" inside a `{kept.through}`" if kept.through and kept.through != kept.keeper else ""
        problem = (
            f"`{kept.keeper}` keeps {_subject(kept)}{more}{through}, which cannot be pickled, so starting workers "
            "fails on macOS, Windows and, from Python 3.14 on, Linux"
        )
        if kept.is_notebooks_own:
            problem = (
                f"`{kept.keeper}` keeps `{kept.name}`{more}{through}, which is defined in this notebook, where a "
                "spawned worker cannot find it, so workers die on macOS, Windows and, from Python 3.14 on, Linux"
            )
        yield Finding(kept.node, problem, _advice(kept), None if kept.is_in_notebook else partial(fix, kept))


def _subject(kept: KeptFunction) -> str:
    if kept.is_lambda:
        return "this lambda"
    return f"the local function `{kept.name}`" if kept.function is not None else f"the result of `{kept.name}(...)`"


def _advice(kept: KeptFunction) -> str:
    if kept.is_notebooks_own:
        return f"move `{kept.name}` to a .py file and import it from there"
    if kept.is_lambda and kept.is_in_notebook:
        return "define it with `def` in a .py file and import it from there"
    if kept.is_lambda:
        return "define it with `def` at module level" if not kept.others else "define them with `def` at module level"
    if kept.function is not None:
        where = "to a .py file, at module level," if kept.is_in_notebook else "to module level"
        return f"move `{kept.name}` {where} and bind what it needs with `functools.partial`"
    return "use it as a decorator, so that the name of the function leads to the wrapper"


def fix(kept: KeptFunction, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, hoist_lambda, lift_function
    from dataloader_lint.edits.captures import captured_names

    if kept.function is None or kept.others or kept.function.node not in editor.tree:
        return None
    if kept.is_lambda:
        captured = captured_names(editor, kept.function.node, kept.function.node)
        name, edits = hoist_lambda(editor, kept.function.node, kept.role)
        safety = Safety.UNSAFE if captured else Safety.SAFE
        return Repair(safety, f"Make the lambda a function at module level, `{name}`", edits)
    name, edits = lift_function(editor, kept.function.node)
    return Repair(Safety.UNSAFE, f"Move `{name}` to module level", edits)
