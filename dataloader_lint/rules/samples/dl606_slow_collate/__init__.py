"""Growing a tensor in a loop, or making one from a list of arrays, collates a batch slowly.

## What it does
Reports, in a `collate_fn` and the functions that it calls:

- `out = torch.cat((out, row))` in a loop
- `torch.tensor(rows)`, if `rows` is a list of NumPy arrays

## Why is this bad?
Each round of the loop copies everything that is already there: 31 ms against 0.3 ms for 1,000 rows of 256 numbers.
Below about 100 rows you would not notice it. A list of arrays is converted element by element. Measured: 118 ms against
0.2 ms for 64 arrays of shape (3, 64, 64), 2.9 against 0.4 ms for 1,024 arrays of 16 numbers.

## Known limits
- Only lists whose elements are known to be arrays are reported. Most lists that come from a Dataset are not.

## Example
```python
import numpy as np
import torch
from torch.utils.data import DataLoader

def collate(rows):
    return torch.tensor([np.asarray(row) for row in rows])

def make_loader(dataset):
    return DataLoader(dataset, batch_size=32, num_workers=4, collate_fn=collate)
```

## Use instead
```python
import numpy as np
import torch
from torch.utils.data import DataLoader

def collate(rows):
    return torch.from_numpy(np.stack([np.asarray(row) for row in rows]))

def make_loader(dataset):
    return DataLoader(dataset, batch_size=32, num_workers=4, collate_fn=collate)
```

For tensors that grow, collect the rows in a list and call `torch.cat` or `torch.stack` once.

## Fix safety
Unsafe: `torch.from_numpy` keeps the dtype of the arrays, while `torch.tensor` may have chosen another one. It fails
if the arrays differ in shape. Offered for `torch.tensor` of a list of arrays with no other argument.

## When to ignore it
If batches are small.

## Error messages
- `UserWarning: Creating a tensor from a list of numpy.ndarrays is extremely slow.`

## References
- [torch.from_numpy](https://docs.pytorch.org/docs/stable/generated/torch.from_numpy.html)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl606_slow_collate.slow_collates import SlowCollate

RULE = Rule("DL606", "slow-collate", Entity.WORKER_CODE, Level.SPEED, Claim.MAY, default=False, fix=FixLevel.UNSAFE)


def find(file: File) -> Iterable[SlowCollate]:
    from dataloader_lint.rules.samples.dl606_slow_collate.slow_collates import slow_collates

    return slow_collates(file.workers, file.module)


def check(slow: SlowCollate, file: File) -> Iterator[Finding]:
    if slow.grows:
        problem = f"`{slow.function.label}` copies the whole tensor in each iteration of the loop"
        yield Finding(slow.call, problem, f"collect the parts in a list and call `{slow.name}` once")
    else:
        problem = f"`{slow.function.label}` makes a tensor from a list of arrays element by element"
        advice = "use `torch.from_numpy(np.stack(...))`"
        yield Finding(slow.call, problem, advice, partial(fix, slow))


def fix(slow: SlowCollate, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, need_import, replace

    if slow.arrays is None:
        raise RefusedError("not surely a list of arrays")
    stack = need_import(editor, slow.call, "numpy", "stack", alias="np")
    convert = need_import(editor, slow.call, "torch", "from_numpy")
    arrays = editor.code(slow.arrays)
    edit = replace(editor, slow.call, f"{convert.name}({stack.name}({arrays}))")
    return Repair(Safety.UNSAFE, "Stack the arrays first", (*stack.edits, *convert.edits, edit))
