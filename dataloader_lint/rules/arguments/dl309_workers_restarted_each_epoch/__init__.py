"""Workers are started again for every epoch.

## What it does
Reports a DataLoader with workers, on one branch at least, and without `persistent_workers=True` that a loop over
epochs iterates over repeatedly.

## Why is this bad?
At the end of each epoch the workers end, and the next epoch starts new ones. Under spawn, and under the fork server
of older Python versions, each of them imports torch and the script again. What they had cached is lost.

## Known limits
- Persistent workers keep the Dataset as it was in the first epoch. If the program changes it between epochs (DL609),
  they are wrong. That is why the rule is opt-in.

## Example
```python
from torch.utils.data import DataLoader

def train(dataset, update):
    loader = DataLoader(dataset, num_workers=4)
    for epoch in range(10):
        for batch in loader:
            update(batch)
```

## Use instead
```python
from torch.utils.data import DataLoader

def train(dataset, update):
    loader = DataLoader(dataset, num_workers=4, persistent_workers=True)
    for epoch in range(10):
        for batch in loader:
            update(batch)
```

## Fix safety
Unsafe: persistent workers do not see what the program changes in the Dataset between epochs. There is no fix if the
module assigns to the Dataset or calls a method of it. Nor is there one if `*` or `**` may pass the argument.

## When to ignore it
If epochs are long, or the Dataset changes between them.

## Error messages
- None: the program is slow.

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import TRANSFERS
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule
from dataloader_lint.rules.wording import IN_OTHER_FILE

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.pipeline.loaders.epochs import EpochLoop
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule(
    "DL309",
    "workers-restarted-each-epoch",
    Entity.LOOP,
    Level.SPEED,
    Claim.MUST,
    default=False,
    fix=FixLevel.UNSAFE,
    subjects=(TRANSFERS,),
)


def find(file: File) -> Iterable[EpochLoop]:
    from dataloader_lint.pipeline.epoch_loops import epoch_loops

    return epoch_loops(file)


def check(loop: EpochLoop, file: File) -> Iterator[Finding]:
    from dataloader_lint.pipeline.loaders import loader_steps
    from dataloader_lint.pipeline.loaders.worker_processes import has_workers

    for found in loop.passes:
        loader = found.loader
        persistent = loader.known("persistent_workers")
        if not has_workers(loader.values("num_workers")) or persistent is None or persistent.value is not False:
            continue
        # Where the loader is made, else where this file iterates over it, else the epoch loop around that.
        places = (found.made.call, found.node, loop.loop)
        node = next(each for each in places if each is not None and each in file.tree)
        problem = f"every epoch restarts the workers of `{loader.bound_name}`"
        because = loader_steps.made(loader, "num_workers")
        yield Finding(node, problem, "add `persistent_workers=True`", partial(fix, loop, loader), because)


def fix(loop: EpochLoop, loader: Loader, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, add_argument, replace
    from dataloader_lint.rules.arguments.dl309_workers_restarted_each_epoch.dataset_changes import may_change_dataset
    from dataloader_lint.rules.arguments.dl309_workers_restarted_each_epoch.persistent_code import persistent_code

    code = persistent_code(loader)
    if loader.call not in editor.tree:
        raise RefusedError(IN_OTHER_FILE)
    if may_change_dataset(loader, loop):
        raise RefusedError("the Dataset may change between epochs")
    if not code:
        raise RefusedError("the number of workers is unknown")
    written = loader.argument("persistent_workers")
    if written is not None:
        edit = replace(editor, written.value, code)
    elif any(arg.star for arg in loader.call.args) or loader.before:
        raise RefusedError("a star may bring the argument as well")
    else:
        edit = add_argument(editor, loader.call, f"persistent_workers={code}")
    return Repair(Safety.UNSAFE, "Keep the workers between epochs", (edit,))
