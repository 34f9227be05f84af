"""A NumPy array or pandas column of Python objects is copied to every worker, as a list would be.

## What it does
Reports a Dataset attribute that is read for every sample in the workers and looks like an array, but holds pointers
to Python objects.

**What is recognized**

- `dtype=object` and `astype(object)`
- an array made from dicts, `Path` objects or objects of your own classes
- an array of parsed JSON that is asked for fields: `np.array([json.loads(line) for line in file])`, `rows[i]["text"]`
- `numpy.load(..., allow_pickle=True)`, unless it maps the file (`mmap_mode`)
- a pandas column of lists or dicts: `apply(literal_eval)`, `str.split()`, `groupby(...).agg(list)`, `converters=...`,
  `dtype=object`, `table[["left", "top"]].values.tolist()`; also if a table gets such a column first, and the table or
  the column is kept later: `self.boxes = table["box"].values`
- texts that `read_csv` reads, if workers use a value as a path or a text, and the requirements of the project demand a
  pandas before 3

A table that is passed to the Dataset counts as it is where the Dataset is constructed.

**Where**: at the first assignment that makes such an array.

**Level**: `memory` if each worker copies about 64 MB or more, else a note, as for DL101: the number of samples comes
from the setting `samples` or from a well-known data set that the class, its file or the project is named after.

## Why is this bad?
Reading an element changes its reference count. Under fork each worker therefore gets its own copy of every memory
page that it touches. Measured with torch 2.13, two workers and two million short strings: 322 MB more after one
shuffled epoch for `dtype=object`, and as much for a pandas column of objects. A plain list took 307 MB more; an array
of fixed-width or `StringDType` strings took 0. Under spawn and forkserver each worker starts with a full copy.

Two million paths from `read_csv`, two workers: 302 MB with pandas 2.3, 301 MB with pandas 3.1 without pyarrow, 3 MB
with Arrow strings. [Text columns in workers](evidence/text-columns.md) has all figures.

## Known limits
- The content of a file that is loaded with `allow_pickle=True` is not known.
- Nothing is reported if the class treats the array as one of numbers (several indices, sums).
- `.npz` archives, and tables whose columns are unknown, are not reported.
- Texts that `read_csv` reads are Python objects in pandas 1 and 2, and in pandas 3 if pyarrow is not installed. Where
  the requirements (`requirements.txt`, `pyproject.toml`, `setup.py`, ...) do not demand a pandas before 3, what runs is
  unknown, and nothing is reported. Nor is it where the module mentions Arrow or categories.
- A value that stands in an f-string may be a number, and does not count as a text.

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

For records of several fields keep one array for each field. For lists of different lengths keep one long array and
the offsets. For texts of a table use `read_csv(path, dtype_backend="pyarrow")` (from pandas 2 on), or
`np.array(table["path"], dtype=str)`. If workers are spawned, only torch tensors are shared.

## Fix safety
Unsafe: removes `dtype=object` if all elements are known to be numbers of one kind, which become NumPy scalars. Arrays
of strings have no fix, as each string would take as much room as the longest one. There is no fix in these cases:

- an element is replaced, or used where NumPy's numbers differ (`json.dumps`, `isinstance`, `torch.tensor` of a float)
- a file that imports this one uses an attribute of that name, or makes batches in its own way

## When to ignore it
If the data set is small, or is only ever read with `num_workers=0`.

## Error messages
- `DataLoader worker (pid ...) is killed by signal: Killed`

## References
- [pytorch issue 13246](https://github.com/pytorch/pytorch/issues/13246)
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule
from dataloader_lint.rules.wording import IN_OTHER_FILE

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.memory._shared.arrays import KeptArray
    from dataloader_lint.rules.memory._shared.dataset import StoringDataset

RULE = Rule("DL103", "object-array-attribute", Entity.DATASET, Level.MEMORY, Claim.MAY, fix=FixLevel.UNSAFE)

_WHAT = {
    "object": "an `object` array (`{maker}`)",
    "dict": "a NumPy array of dicts",
    "Path": "a NumPy array of `Path` objects",
    "instance": "a NumPy array of objects of a class",
    "pickled": "an array loaded with `allow_pickle=True`",
    "table": "a table with a column of Python objects (`{maker}`)",
    "texts": "a table with Python strings (pandas before 3)",
    "texts of column": "a column of Python strings (pandas before 3)",
    "column": "a pandas column of Python objects (`{maker}`)",
}


def find(file: File) -> Iterable[StoringDataset]:
    from dataloader_lint.rules.memory._shared.dataset import storing_datasets

    return storing_datasets(file)


def check(dataset: StoringDataset, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.memory._shared.arrays import arrays_of

    arrays = [array for array in arrays_of(dataset) if array.objects]
    if not arrays or dataset.is_read_by_own_code:
        return
    from dataloader_lint.rules.memory._shared.weights import notes_on, weigh

    for array, weight in zip(arrays, weigh(dataset, arrays, file), strict=True):
        what = _WHAT[array.objects].format(maker=array.maker)
        if array.objects == "Path":
            advice = "store the paths as strings, in a `StringDType` array"
        elif array.element_kind in ("int", "float"):
            advice = "let NumPy choose the `dtype`"
        elif array.element_kind == "str":
            advice = "use a `StringDType` array"
        elif array.objects.startswith("texts"):
            advice = "use Arrow strings, or one `str` array per column"
        else:
            advice = "use one array of numbers or str per field"
        advice = weight.advice or advice
        notes = notes_on(weight.workers, "read per sample", array.bytes_each)
        problem = weight.message(f"`{array.owner}.{array.name}`: {what}", notes, advice)
        steps = (*weight.steps, *dataset.steps_to(array.use, array.binding))
        cause = f"{weight.cause}.{array.name}"  # some of a class have a fix, and others do not
        yield Finding(array.node, problem, advice, partial(fix, array, file), steps, weight.level, cause)


def fix(array: KeptArray, file: File, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import (
        RefusedError,
        Repair,
        check_elements,
        refuse_own_collation,
        refuse_uses_elsewhere,
        remove_argument,
    )

    # Strings are left alone: each of an array of them takes as much memory as the longest.
    if array.call not in editor.tree:
        raise RefusedError(IN_OTHER_FILE)
    if array.dtype is None or array.element_kind not in ("float", "int"):
        raise RefusedError("not all elements are known to be numbers")
    check_elements(editor, array.name, array.element_kind)
    refuse_uses_elsewhere(file.project, array.binding.method.module, array.name)
    refuse_own_collation(file.project, array.binding.method.module)
    edit = remove_argument(editor, array.call, array.dtype)
    return Repair(Safety.UNSAFE, "Let NumPy choose the `dtype`", (edit,))
