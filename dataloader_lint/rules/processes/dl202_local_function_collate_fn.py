"""A function inside another one, or in a notebook, reaches no spawned worker as `collate_fn`.

## What it does
Reports a function that is defined inside a function or method and reaches a DataLoader as its `collate_fn`: by its
name, through a keyword dict or `functools.partial`, returned by a factory function of the project, or assigned to
`loader.collate_fn` afterwards. The report stands on the argument that hands it over. In a notebook every function is
reported that is defined in one of its cells and given to a loader with workers.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the `collate_fn`
pickled by its name, and a name inside another function cannot be imported: the first iteration raises. Under fork
nothing is pickled, which is why the same code works on Linux up to Python 3.13.

A function of a notebook is pickled as `__main__.collate`, and the `__main__` of a spawned worker is not the notebook:
nothing can be imported from one. The workers die with AttributeError (`Can't get attribute 'collate'`), and the loader
raises RuntimeError (`DataLoader worker (pid(s) ...) exited unexpectedly`). What a notebook imports from a .py file is
found.

## Known limits
Silent where `num_workers=0` is written out, and where the call says `multiprocessing_context="fork"`. Functions at
module level, bound methods, callable objects and `functools.partial` of a module-level function can be pickled and are
not reported.

Nothing is reported where the program expects that pickling fails, as in `pytest.raises(AttributeError)`.

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
Unsafe: the function moves to module level, and what it took from around it is bound when the loader is made instead of
when a batch is collated. There is no fix in a notebook.

## When to ignore it
Where the program is pinned to fork, by the start method and by the Python version.

## Error messages
- `AttributeError: Can't pickle local object 'make.<locals>.collate'`
- `AttributeError: Can't get local object 'make.<locals>.collate'` (Python 3.13)
- `AttributeError: Can't get attribute 'collate' on <module '__main__' (built-in)>`

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

RULE = Rule(
    "DL202",
    "local-function-collate-fn",
    Entity.MODULE,
    fix=FixLevel.UNSAFE,
    codemod="LiftCollateFunction",
    spawning=True,
)


def check(file: Analysis) -> Iterator[Finding]:
    for handed in file.callbacks_of("collate_fn"):
        loader = handed.loader
        is_wrong = handed.is_local or handed.is_notebooks_own
        if not is_wrong or handed.node not in file.tree or not loader.pickles_its_functions:
            continue
        if loader.is_pickling_error_expected:
            continue
        if not handed.is_local:
            problem = (
                f"`{handed.name}` is defined in this notebook, where a spawned worker cannot find it, so with it as "
                f"`collate_fn` the workers of `{loader.name}` die on macOS, Windows and, from Python 3.14 on, Linux"
            )
            yield Finding(handed.node, problem, f"move `{handed.name}` to a .py file and import it from there")
            continue
        problem = (
            f"`{handed.name}` is defined inside another function, so as `collate_fn` it cannot be pickled and starting "
            "workers fails on macOS, Windows and, from Python 3.14 on, Linux"
        )
        if loader.is_passed("num_workers") is False:
            problem += " as soon as the loader gets any"
        where = "to a .py file, at module level," if handed.is_in_notebook else "to module level"
        advice = f"move `{handed.name}` {where} and bind what it needs with `functools.partial`"
        yield Finding(handed.node, problem, advice, None if handed.is_in_notebook else partial(fix, handed))


def fix(handed: Callback, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, lift_function

    name, edits = lift_function(editor, handed.function.node)
    return Repair(Safety.UNSAFE, f"Move `{name}` to module level", edits)
