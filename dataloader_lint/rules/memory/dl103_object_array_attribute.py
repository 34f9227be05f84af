"""An array of Python objects is copied into every worker, page by page, as a list would be.

## What it does
Reports an attribute of a Dataset that worker code reads as the storage of the samples and that only looks like an
array: made with `dtype=object` or `astype(object)`, from dicts, `Path` objects or objects of your own classes, by
`numpy.load(..., allow_pickle=True)`, or a pandas column of lists and dicts (`apply(literal_eval)`, `str.split()`,
`groupby(...).agg(list)`, `converters=...`, `dtype=object`). The report stands on the first binding that shows it. Where
all loaders in sight that read the Dataset are written without workers it says so: nobody copies it there, until someone
adds workers. A file that is mapped (`mmap_mode`) holds no objects.

## Why is this bad?
Such an array holds pointers to Python objects. Reading one changes its reference count, so under fork each worker gets
its own copy of every memory page that it touches. Measured with torch 2.13, two workers and two million short strings:
322 MB more after one shuffled epoch for `dtype=object`, as much for a pandas column of objects, and 307 MB for a plain
list; 0 for an array of fixed-width or `StringDType` strings. Under spawn and forkserver each worker starts with a full
copy.

## Known limits
What is in a file that is loaded with `allow_pickle=True` is not known. Nothing is said where the class treats the array
as one of numbers (several indices, sums), about `.npz` archives, and about tables whose columns are unknown.

## Example
```python
import numpy as np
from torch.utils.data import Dataset

class Sentences(Dataset):
    def __init__(self, lines):
        self.lines = np.array([line.strip() for line in lines], dtype=object)

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        return self.lines[index]
```

## Use instead
```python
import numpy as np
from torch.utils.data import Dataset

class Sentences(Dataset):
    def __init__(self, lines):
        self.lines = np.array([line.strip() for line in lines], dtype=np.dtypes.StringDType())

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        return self.lines[index]
```

For records of several fields keep one array for each field; for lists of different lengths one long array and the
offsets. Where workers are spawned, only torch tensors are shared.

## Fix safety
Unsafe: drops `dtype=object` where all elements are known to be strings or numbers. Strings of very different lengths
then take as much room as the longest of them each, and elements are numpy scalars. There is no fix where an element is
replaced, or used where numpy's numbers differ (`json.dumps`, `isinstance`), nor where a
file that imports this one uses an attribute of that name.

## When to ignore it
When the data set is small, or is only ever read with `num_workers=0`.

## Error messages
- `DataLoader worker (pid ...) is killed by signal: Killed`

## References
- [pytorch issue 13246](https://github.com/pytorch/pytorch/issues/13246)
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Entity, Finding, FixLevel, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.facts.object_state.arrays import KeptArray
    from dataloader_lint.facts.object_state.datasets import LintedDataset

RULE = Rule("DL103", "object-array-attribute", Entity.DATASET, fix=FixLevel.UNSAFE)

_WHAT = {
    "object": "an array of Python objects (`{maker}` with `object`)",
    "dict": "an array of dicts, which numpy keeps as Python objects",
    "Path": "an array of `Path` objects, which numpy keeps as Python objects",
    "instance": "an array of objects of a class, which numpy keeps as Python objects",
    "pickled": "loaded with `allow_pickle=True`, as arrays of Python objects are",
    "column": "a table with a column of Python objects (`{maker}`)",
}


def check(dataset: LintedDataset) -> Iterator[Finding]:
    arrays = [array for array in dataset.arrays() if array.objects]
    if not arrays or dataset.is_unread:
        return
    yet = ", though no loader in sight reads it with workers yet" if dataset.has_no_workers_yet else ""
    for array in arrays:
        what = _WHAT[array.objects].format(maker=array.maker)
        problem = (
            f"`{array.owner}.{array.name}`, which workers read for every sample, is {what}: "
            f"every worker ends up with a copy of its own, as of a list{yet}"
        )
        if array.objects == "Path":
            advice = "keep the paths as strings, in an array of `StringDType`"
        elif array.element_kind in ("int", "float"):
            advice = "leave the `dtype` to numpy"
        elif array.element_kind == "str":
            advice = "make it an array of `StringDType`"
        else:
            advice = "keep one array of numbers or strings for each field"
        yield Finding(array.node, problem, advice, partial(fix, array))


def fix(array: KeptArray, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, check_elements, refuse_uses_elsewhere, remove_argument

    if array.dtype is None or not array.element_kind or array.call not in editor.tree:
        return None
    check_elements(editor, array.name, array.element_kind)
    refuse_uses_elsewhere(editor, array.binding.method.module.path, array.name)
    edit = remove_argument(editor, array.call, array.dtype)
    return Repair(Safety.UNSAFE, "Let numpy choose the `dtype`", (edit,))
