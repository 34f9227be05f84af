"""The iterator of a DataLoader has no method `next`: `iter(loader).next()` raises AttributeError.

## What it does
Reports a call of `.next()` on the iterator of a DataLoader.

## Why is this bad?
The method was there for Python 2, and torch 1.13 took it away. Measured with torch 2.13:
`AttributeError: '_SingleProcessDataLoaderIter' object has no attribute 'next'`. Where a bare `except:` catches it to
start the loader again, as around `batch = batches.next()`, each step starts the workers anew.

## Known limits
- Silent if the object may be of a class of the project.
- Silent if the program names the error that it expects, as in `try ... except AttributeError`.

## Example
```python
from torch.utils.data import DataLoader

def first(dataset):
    return iter(DataLoader(dataset, batch_size=4)).next()
```

## Use instead
```python
from torch.utils.data import DataLoader

def first(dataset):
    return next(iter(DataLoader(dataset, batch_size=4)))
```

## Fix safety
Safe: `next(iterator)` works with every version of torch. Unsafe where the object may be another one as well, as an
element of a list that somebody else fills, too.

## When to ignore it
Never with torch 1.13 or newer: the call cannot succeed.

## Error messages
- `AttributeError: '_SingleProcessDataLoaderIter' object has no attribute 'next'`
- `AttributeError: '_MultiProcessingDataLoaderIter' object has no attribute 'next'`

## References
- [next](https://docs.python.org/3/library/functions.html#next)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import ITERATIONS
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File

RULE = Rule(
    "DL316",
    "removed-iterator-next",
    Entity.LOOP,
    Level.ERROR,
    Claim.MUST,
    fix=FixLevel.SOMETIMES_SAFE,
    subjects=(ITERATIONS,),
)


def find(file: File) -> Iterator[cst.Call]:
    import libcst as cst

    from dataloader_lint.semantics.errors.expected_errors import is_error_expected
    from dataloader_lint.semantics.evaluation.loader_calls import loader_of
    from dataloader_lint.semantics.syntax.tree import function_scope
    from dataloader_lint.semantics.values.values import Iterator as Iterated
    from dataloader_lint.semantics.values.values import Unknown

    for call in file.module.calls_named("next"):
        if not isinstance(call.func, cst.Attribute) or call.args:
            continue
        frame = file.ev.frame_of(function_scope(file.tree.scope_of(call)))
        owners = [each for each in file.ev.values(call.func.value, frame) if not isinstance(each, Unknown)]
        if not owners or not all(
            isinstance(each, Iterated) and loader_of(file.ev, each.of) is not None for each in owners
        ):
            continue
        if not is_error_expected(file.ev, call, frame, ("AttributeError",), by_name=True):
            yield call


def check(call: cst.Call, file: File) -> Iterator[Finding]:
    import libcst as cst

    from dataloader_lint.semantics.syntax.names import dotted
    from dataloader_lint.semantics.syntax.outermost import outermost_definition

    assert isinstance(call.func, cst.Attribute)
    problem = "the iterator of a DataLoader has no `next` method: AttributeError (torch 1.13+)"
    name = dotted(call.func.value)
    cause = f"{outermost_definition(call, file.tree)}:{name}" if name else ""
    yield Finding(call, problem, "use `next(...)`", partial(fix, call, file), cause=cause)


def fix(call: cst.Call, file: File, editor: Editor) -> Repair | None:
    import libcst as cst

    from dataloader_lint.edits import RefusedError, Repair, replace
    from dataloader_lint.semantics.syntax.names import resolve
    from dataloader_lint.semantics.syntax.tree import function_scope
    from dataloader_lint.semantics.values.values import Unknown

    assert isinstance(call.func, cst.Attribute)
    if any(resolve(each, file.tree) for each in file.tree.named(file.tree.root.node, "next")):
        raise RefusedError("the file has a `next` of its own")
    edit = replace(editor, call, f"next({editor.code(call.func.value)})")
    owners = file.ev.values(call.func.value, file.ev.frame_of(function_scope(file.tree.scope_of(call))))
    is_sure = not any(isinstance(each, Unknown) for each in owners)
    return Repair(Safety.SAFE if is_sure else Safety.UNSAFE, "Replace `.next()` by `next(...)`", (edit,))
