"""A script that starts workers outside `if __name__ == "__main__":` fails if workers are spawned.

## What it does
Reports the first module-level statement that starts DataLoader workers outside a main guard.

**What is recognized as a start**, for a loader that is known to have workers

- a loop over it: `for`, a comprehension, `iter`, `list`, `enumerate`, `tqdm`, ...
- a call that passes it to a library's trainer: `trainer.fit(model, loader)`
- a call of a function or method of the project that does this, at any depth

Loaders that a library makes from a keyword such as `num_workers=4` count too. There is one finding per file. It names
the lines that belong under the guard: from the first statement that does more than to import, to define or to set a
constant, because a spawned worker would run that again. Functions and classes among them stay outside.

## Why is this bad?
On macOS and Windows, and on Linux since Python 3.14, a worker is a new process that imports the script again. (From
3.14.1 on, the fork server does so, once.) Without a guard the import reaches the same statement and dies. The loader
in the script then raises RuntimeError or EOFError.

Under spawn the whole module level runs once more per worker and epoch: 7 times in all for 3 epochs with 2 workers.
This holds for all code that stays outside the guard. It is best to move everything that loads data or touches CUDA
into a `main()`.

## Known limits
- Loaders whose number of workers is computed at run time or read from a file are unknown and not reported. A
  command-line option counts if no declaration has its default (`parser.set_defaults(**json.load(file))`).
- Modules that set the start method to `"fork"`, notebooks and files that pytest runs are not reported. Workers import
  nothing from a notebook, so it needs no guard (but see [DL208](#dl208-local-dataset-class)). Scripts of Jupytext and
  Databricks, which comments divide into cells, count as notebooks unless they read a command line.
- A guard inside a decorator, or in a function with another name, is not recognized. A function that is merely called
  `main` is no guard.

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
Unsafe: an import of the module does less than before. All that the script does moves under the guard, from the first
statement on that is no import, definition, constant, path (`os.path.dirname(__file__)`) or setting (`os.environ`,
`sys.path`, `warnings`, `matplotlib.use`). Otherwise each spawned worker would load the data and build the model again.
Several statements become `main()`, unless a name that they bind is also bound above, or is a builtin.

There is no fix if

- functions or classes stand between the statements that would move
- most imports stand below the first of these statements
- a function or class reads something that would move
- another file of the project imports something that would move
- the script tests `__name__` already

## When to ignore it
If the script only ever runs where workers are forked: on Linux, with a Python before 3.14.

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

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes.dl206_missing_main_guard.unguarded_starts import Start

RULE = Rule(
    "DL206",
    "missing-main-guard",
    Entity.SCRIPT,
    Level.WARNING,
    Claim.MAY,
    fix=FixLevel.UNSAFE,
    spawning=True,
    subjects=(TRANSFERS,),
)

GUARD = '`if __name__ == "__main__":`'


def find(file: File) -> Iterable[Start]:
    from dataloader_lint.rules.processes.dl206_missing_main_guard.unguarded_starts import first_start

    start = first_start(file.ev, file.module)
    return [] if start is None else [start]


def check(start: Start, file: File) -> Iterator[Finding]:
    condition = f" once `{start.option}` > 0" if start.option else ""
    failure = f"RuntimeError with start method `{start.method}`" if start.method else "RuntimeError if spawned"
    problem = f"{_what_starts(start)} outside a main guard{condition}: {failure}"
    yield Finding(start.statement, problem, _advice(start, file), partial(fix, file, start))


def _advice(start: Start, file: File) -> str:
    """Which lines belong under the guard: all that a spawned worker would run again, not only what starts it."""
    import libcst as cst

    from dataloader_lint.edits.work import first_work
    from dataloader_lint.semantics.syntax.layout import first_line, last_line

    tree = file.tree
    body: list[cst.CSTNode] = list(tree.module.body)
    first = first_work(body, start.statement)
    line, last = first_line(tree, first), last_line(tree, body[-1])
    if any(isinstance(each, cst.FunctionDef | cst.ClassDef) for each in body[body.index(first) :]):
        return f"put what runs from line {line} on under {GUARD}"
    return f"put lines {line}-{last} under {GUARD}" if line < last else f"put it under {GUARD}"


def fix(file: File, start: Start, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, guard_work
    from dataloader_lint.semantics.project.imports import is_imported

    guarded = guard_work(editor, start.statement, lambda names: is_imported(file.project, file.module, names))
    place = "into `main()`, which the main guard calls" if guarded.has_main else "under the main guard"
    return Repair(Safety.UNSAFE, f"Move all work, from line {guarded.line} to the end, {place}", guarded.edits)


def _what_starts(start: Start) -> str:
    """`test()` starts 12 workers of `loader`."""
    subject = f"`{start.calls[0]}()`" if start.calls else "this statement"
    count = start.count
    number = f"{count.value} worker{'' if count.value == 1 else 's'}" if count is not None else "workers"
    if not start.is_sure and count is not None:
        number = f"up to {number}"
    owner = f" of `{start.name}`" if start.name else ""
    default = " by default" if count is not None and count.default else ""
    return f"{subject} starts {number}{owner}{default}"
