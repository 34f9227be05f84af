"""`torch.cat` in each round of a loop copies all earlier batches again.

## What it does
Reports `x = torch.cat([x, ...])`, or the same with `np.concatenate`, `torch.stack` and `vstack`, in a loop over a
DataLoader, if nothing else in the loop reads `x`. The rule is opt-in.

## Why is this bad?
Each round copies what all rounds before have collected: twice the batches copy four times as much. By counting, 4,000
batches of 64 x 10 numbers copy 20 GB for a result of 10 MB; a list and one `torch.cat` copy 10 MB.

## Known limits
- Silent if the loop reads the tensor, as in a memory of earlier samples.

## Example
```python
import torch
from torch.utils.data import DataLoader

def predict(model, dataset):
    found = torch.empty(0)
    for batch in DataLoader(dataset, batch_size=64):
        found = torch.cat([found, model(batch).cpu()])
    return found
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader

def predict(model, dataset):
    found = []
    for batch in DataLoader(dataset, batch_size=64):
        found.append(model(batch).cpu())
    return torch.cat(found)
```

## Fix safety
No fix: the tensor before the loop and what follows it have to change as well.

## When to ignore it
If there are few batches.

## Error messages
None: the loop gets slower.

## References
- [torch.cat](https://docs.pytorch.org/docs/stable/generated/torch.cat.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import EVALUATIONS
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File

RULE = Rule("DL628", "grown-by-cat", Entity.LOOP, Level.SPEED, Claim.MAY, default=False, subjects=(EVALUATIONS,))

_JOINING = (
    *("torch.cat", "torch.concat", "torch.hstack", "torch.vstack"),
    *("numpy.append", "numpy.concatenate", "numpy.hstack", "numpy.vstack"),
)


def find(file: File) -> Iterator[tuple[cst.Call, str]]:
    import libcst as cst

    from dataloader_lint.pipeline.library_calls import library_calls
    from dataloader_lint.semantics.syntax.names import dotted

    tree = file.tree
    for call, _, _ in library_calls(file, *_JOINING):
        kept = tree.parent(call)
        if not isinstance(kept, cst.Assign) or len(kept.targets) != 1 or not call.args:
            continue
        name = dotted(kept.targets[0].target)
        given = call.args[0].value
        parts = [each.value for each in given.elements] if isinstance(given, cst.List | cst.Tuple) else [given]
        loop = next((above for above in tree.ancestors(call) if isinstance(above, cst.For)), None)
        if loop is None or not name or name not in map(dotted, parts) or not _is_over_batches(loop, file):
            continue
        uses = [each for each in tree.walk(loop.body) if dotted(each) == name]
        if all(tree.is_inside(each, kept) for each in uses):
            yield call, name


def _is_over_batches(loop: cst.For, file: File) -> bool:
    """True if a loop goes over what is a loader, or is called like one."""
    from dataloader_lint.pipeline.loaders.epochs import loaders_behind
    from dataloader_lint.semantics.syntax.tree import function_scope

    if any(word.lower().endswith("loader") for word in file.tree.words(loop.iter).split()):
        return True
    frame = file.ev.frame_of(function_scope(file.tree.scope_of(loop)))
    return any(loaders_behind(file.ev, file.ev.values(loop.iter, frame)))


def check(found: tuple[cst.Call, str], file: File) -> Iterator[Finding]:
    call, name = found
    problem = f"`{name}` grows by concatenation: each iteration copies all earlier batches"
    yield Finding(call, problem, "append to a list, and concatenate it once after the loop")
