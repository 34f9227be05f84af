"""A lambda or nested function that a Dataset holds cannot be pickled, so spawned workers cannot be started.

## What it does
Reports a Dataset that holds a function which cannot be pickled.

**Functions that count**

- lambdas and nested functions
- wrappers made by calling `functools.lru_cache` or `functools.cache`
- functions and classes that a notebook defines: spawned workers cannot import them

**How a Dataset can hold them**

- bound to an attribute, or stored there as the default of a parameter or of a field of a dataclass
- in a list or dict
- as an argument of a transform (`Lambda`, `Compose`) or of another object that the Dataset holds, at any depth
- in a step of a WebDataset, `WebDataset(...).map(...)`
- in `map` or `filter` of a Dataset of Hugging Face that is streamed, in `IterableDataset.from_generator`, and in
  `with_transform` or `set_transform` of one that is not: its `map` runs at once, and keeps nothing
- given to the Dataset by a script (`transform=...`), or assigned afterwards (`data.transform = ...`), if that object
  reaches a DataLoader that may have workers

**Where**: at the lambda, or at the expression that names the nested function. Those of one function or class are one
finding, and so are lambdas that are written alike, since one function serves all of them.

## Why is this bad?
Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the Dataset pickled
with everything that it holds. Functions are pickled by name. A lambda has no name, and a nested function cannot be
imported by name: the first iteration raises. Under fork nothing is pickled, so the same code works on Linux up to
Python 3.13.

## Known limits
- Silent if all DataLoaders found in the project that the Dataset reaches have no workers or fork them.
- Silent if every object of the class that a loader gets is constructed with another function in its place.
- Silent for objects whose class defines `__getstate__` or `__reduce__`.
- A lambda that is used within one call only (`sorted(key=...)`, `DataFrame.apply`) is not reported.
- Of the objects of a library, only those whose class name begins with a capital letter are assumed to hold their
  arguments.
- Steps of a WebDataset and Datasets of Hugging Face are reported if the loader has workers, or gets their number from
  an option.
- Nested functions are looked for in files that define a Dataset, make a loader or contain a lambda.
- Nothing is reported if the program expects that pickling fails, as in `pytest.raises(AttributeError)`.

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

A function that needs values of the enclosing function becomes `functools.partial(function, name=value)`, or a
module-level class with `__call__`.

## Fix safety
Safe for a lambda that uses no variables of the enclosing function: it becomes a module-level function. Unsafe
otherwise, since those variables are then bound when the object is made. A function that only calls another one is
replaced by that, or by a `functools.partial` of it: safe if both call their parameters the same. All of it is unsafe at
module level where the file makes loaders there without a main guard: workers fail until DL206 is fixed.

There is no fix in a notebook, for lambdas that no name would tell apart, and for those that use something that cannot
be pickled either, such as a lock or an open file.

## When to ignore it
If the program only ever forks its workers (by its start method, and on a Python before 3.14), or never has any.

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
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes.dl204_lambda_in_dataset.unpicklable import KeptFunction
    from dataloader_lint.semantics.values.values import Evaluator

RULE = Rule(
    "DL204",
    "lambda-in-dataset",
    Entity.FILE,
    Level.WARNING,
    Claim.MAY,
    fix=FixLevel.SOMETIMES_SAFE,
    spawning=True,
    subjects=(TRANSFORMS, MEMOISING),
)


def check(file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.processes._shared.guarded_fixes import with_guard
    from dataloader_lint.rules.processes.dl204_lambda_in_dataset.pipeline_functions import pipeline_functions
    from dataloader_lint.rules.processes.dl204_lambda_in_dataset.unpicklable import kept_functions
    from dataloader_lint.semantics.syntax.outermost import outermost_definition

    found = kept_functions(file.reach, file.module)
    places: dict[str, set[str]] = {}
    for kept in found:
        places.setdefault(_spelled(kept, file), set()).add(outermost_definition(kept.node, file.tree))
    for kept in found:
        if kept.loader is not None and kept.loader.is_pickling_error_expected:
            continue
        more = f" and {kept.others} more" if kept.others else ""
        through = f" in a `{kept.through}`" if kept.through and kept.through != kept.keeper else ""
        if kept.is_notebooks_own:
            problem = f"`{kept.keeper}` holds `{kept.name}`{more}{through} of this notebook: {NOT_IN_WORKERS}"
        else:
            problem = f"`{kept.keeper}` holds {_subject(kept)}{more}{through}: {PICKLING_FAILS}"
        loaders = file.loaders if kept.node in file.tree and file.tree.scope_of(kept.node).function is None else ()
        repair = None if kept.is_in_notebook else partial(with_guard, loaders, partial(fix, kept, file.ev))
        spelled = _spelled(kept, file)
        is_repeated = bool(spelled) and len(places[spelled]) > 1  # one function at module level serves all of them
        cause = spelled if is_repeated else outermost_definition(kept.node, file.tree) or "module"
        yield Finding(kept.node, problem, _advice(kept), repair, kept.steps, cause=cause)
    for each in pipeline_functions(file.ev, file.module, file.loaders):
        subject = "this lambda" if each.is_lambda else f"the nested `{each.name}`"
        problem = f"`{each.pipeline}.{each.step}` holds {subject}: {PICKLING_FAILS}"
        advice = define_function(each.is_in_notebook) if each.is_lambda else move_function(each.is_in_notebook)
        if each.is_notebooks_own:
            problem = f"`{each.pipeline}.{each.step}` holds `{each.name}` of this notebook: {NOT_IN_WORKERS}"
            advice = MOVE_OUT_OF_NOTEBOOK
        cause = outermost_definition(each.node, file.tree) or "module"
        yield Finding(each.node, problem, advice, because=each.steps, cause=cause)


def _spelled(kept: KeptFunction, file: File) -> str:
    """A lambda as it is written, to know it again elsewhere in the file; empty for other functions."""
    from dataloader_lint.semantics.syntax.layout import code

    if not kept.is_lambda or kept.function is None or kept.function.node not in file.tree:
        return ""
    return code(file.tree, kept.function.node)


def _subject(kept: KeptFunction) -> str:
    if kept.is_lambda:
        return "this lambda"
    return f"the nested `{kept.name}`" if kept.function is not None else f"the result of `{kept.name}(...)`"


def _advice(kept: KeptFunction) -> str:
    if kept.is_notebooks_own:
        return MOVE_OUT_OF_NOTEBOOK
    if kept.is_lambda:
        return define_function(kept.is_in_notebook, "them" if kept.others else "it")
    return move_function(kept.is_in_notebook) if kept.function is not None else "use it as a decorator"


def fix(kept: KeptFunction, ev: Evaluator, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, direct_callee, hoist_lambda, lift_function
    from dataloader_lint.edits.captures import captured_names
    from dataloader_lint.rules.processes._shared.signatures import signature
    from dataloader_lint.rules.processes._shared.unpicklable_captures import captures_unpicklable
    from dataloader_lint.semantics.syntax.expressions import parameters

    if kept.function is None:
        raise RefusedError("a decorated function needs another way")
    if kept.others:
        raise RefusedError("it can be one of several functions")
    if kept.function.node not in editor.tree:
        raise RefusedError(IN_OTHER_FILE)
    if captures_unpicklable(ev, kept.function):
        raise RefusedError(HOLDS_UNPICKLABLE)
    known = partial(signature, ev, kept.function)
    if kept.is_lambda:
        direct = direct_callee(editor, kept.function.node, known)
        captured = captured_names(editor, kept.function.node, kept.function.node)
        if direct is not None:
            binds = "(" in direct.code and bool(parameters(kept.function.node))
            safety = Safety.SAFE if direct.is_sure and not binds and not captured else Safety.UNSAFE
            return Repair(safety, f"Use `{direct.code}` instead of the lambda", direct.edits)
        name, edits = hoist_lambda(editor, kept.function.node, kept.role)
        safety = Safety.UNSAFE if captured else Safety.SAFE
        return Repair(safety, f"Turn the lambda into a module-level function, `{name}`", edits)
    direct = direct_callee(editor, kept.function.node, known)
    if direct is not None:
        return Repair(Safety.UNSAFE, f"Use `{direct.code}` instead of `{kept.name}`", direct.edits)
    name, edits = lift_function(editor, kept.function.node)
    return Repair(Safety.UNSAFE, f"Move `{name}` to module level", edits)
