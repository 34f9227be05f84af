"""A script that starts workers outside `if __name__ == "__main__":` fails wherever workers are spawned.

## What it does
Reports the first module-level statement that starts DataLoader workers outside a main guard: it loops over a loader
that is known to have workers (`for`, a comprehension, `iter`, `list`, `enumerate`, `tqdm`, ...), hands it to a
library's trainer (`trainer.fit(model, loader)`), or calls a function or method of the project that does, however many
calls lie between. Loaders that a library makes from a keyword such as `num_workers=4` count too. There is one finding
per file.

## Why is this bad?
On macOS and Windows, and on Linux since Python 3.14, a worker is a new process that imports the script again (from
3.14.1 on, its fork server does so, once). Without a guard that comes to the same statement, and dies; the loader in the
script then raises RuntimeError or EOFError. Under spawn the whole module level runs once more per worker and epoch, 7
times in all for 3 epochs with 2 workers, also where only a part of the script stands under the guard: whatever it loads
is loaded as often.

## Known limits
Loaders whose number of workers is computed at run time or read from a file are unknown, and the rule says nothing; an
option of the command line counts whose default is in no declaration (`parser.set_defaults(**json.load(file))`).
Modules that set the start method to `"fork"`, notebooks and files that pytest runs are left alone: workers import
nothing of a notebook, so that it needs no guard (but see [DL208](#dl208-local-dataset-class)). A guard inside a
decorator or a function with another name is not recognised; a function that is merely called `main` is none.

## Example
```python
from torch.utils.data import DataLoader

from project.data import Images

loader = DataLoader(Images("train"), batch_size=32, num_workers=4)

for images, labels in loader:
    print(images.shape, labels)
```

## Use instead
```python
from torch.utils.data import DataLoader

from project.data import Images

def main():
    loader = DataLoader(Images("train"), batch_size=32, num_workers=4)
    for images, labels in loader:
        print(images.shape, labels)

if __name__ == "__main__":
    main()
```

## Fix safety
The code from the first such statement to the end of the file goes under the guard, and an existing guard takes it in.
All names stay global, and everything runs in the same order. Functions, classes, and the imports and plain constants
that these read, stay where they are. The fix is unsafe where anything in the project, a notebook or an entry point
among it, may import the module, since an import then does less than before; where a function or class reads
something that is bound or changed by what moves, since workers do not find that any more; where a definition inside of
an `if` or `try` moves too; and where an import stays that comes after code that moves. There is no fix where a
decorator, default or class body needs what would move, or where a condition at module level asks for `__name__` in
another way.

## When to ignore it
When the script only ever runs where workers are forked: on Linux, with a Python before 3.14.

## Error messages
- `RuntimeError: An attempt has been made to start a new process before the current process has finished its
  bootstrapping phase.`
- `RuntimeError: DataLoader worker (pid(s) ...) exited unexpectedly`
- `EOFError: unexpected EOF` (Linux, from Python 3.14.1 on)

## References
- [Platform-specific behaviors of torch.utils.data](https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors)
- [Safe importing of the main module](https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Entity, Finding, FixLevel, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.processes.unguarded_starts import Start

RULE = Rule(
    "DL206",
    "missing-main-guard",
    Entity.MODULE,
    fix=FixLevel.SOMETIMES_SAFE,
    spawning=True,
    subjects=(TRANSFERS,),
)

ADVICE = (
    'move it under `if __name__ == "__main__":`, at best into a `main()` with all that loads data or touches CUDA, '
    "since what stays at module level is done again in every worker"
)


def check(analysis: Analysis) -> Iterator[Finding]:
    start = analysis.start
    if start is None:
        return
    where = "on macOS, Windows, and Linux with Python 3.14"
    if start.method:
        where = f"with the start method `{start.method}`"
    condition = f", as soon as `{start.option}` is above 0" if start.option else ""
    problem = (
        f"{_what_starts(start)} outside a main guard{condition}: {where} each worker imports this script again "
        "and dies here with RuntimeError (`... before the current process has finished its bootstrapping phase`)"
    )
    yield Finding(start.statement, problem, ADVICE, partial(fix, analysis, start))


def fix(analysis: Analysis, start: Start, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, guard_from

    edits, is_safe = guard_from(editor, start.statement)
    safety = Safety.SAFE if is_safe and not analysis.may_be_imported else Safety.UNSAFE
    return Repair(safety, "Put what starts workers, and all code after it, under the main guard", edits)


def _what_starts(start: Start) -> str:
    """`test()` starts the 12 workers of `loader` through `model.inference()`."""
    through = f" through `{start.calls[-1]}()`" if len(start.calls) > 1 else ""
    subject = f"`{start.calls[0]}()`" if start.calls else "this statement"
    return f"{subject} starts {_workers(start)}{through}"


def _workers(start: Start) -> str:
    count = start.count
    number = f"{count.value} worker{'' if count.value == 1 else 's'}" if count is not None else "workers"
    if not start.is_sure and count is not None:
        number = f"up to {number}"
    elif start.name:
        number = f"the {number}"
    owner = f" of `{start.name}`" if start.name else ""
    source = f" ({count.default})" if count is not None and count.default else ""
    return number + owner + source
