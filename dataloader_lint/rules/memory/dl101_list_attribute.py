"""A Python list as sample storage is copied into every worker, page by page or whole.

## What it does
Reports an attribute that a Dataset binds to a Python list (or a tuple of that size) while it is constructed, when
worker code reads it as the storage of the samples: indexed with what comes from the index argument, measured by
`__len__`, gone through by an IterableDataset that makes one sample of each element, or picked from by chance where
what is picked is a record or a file that the worker opens.
Lists show by literals that are grown in a loop or by methods which whoever made the Dataset calls, comprehensions,
`list`, `sorted`, `glob`, `os.listdir`, `readlines`, `split`, `tolist`, `json.load` and what stands in it under a name,
the `map` of a pool, joblib's `Parallel`, an annotation (of a parameter, or of a field of a dataclass), or by what every
construction of the class in sight passes. A list of the files of each folder counts when it is indexed with a part of
the sample, too.
The list may be filled under another name: an alias, a bound method (`add = self.files.append`), a callback, a function
or a thread that is given the list, a nested function. The attribute may be set by `setattr` or `self.__dict__`, in the
class body, by a class method, by a `cached_property`, by whoever makes the Dataset, or in a helper object that the
Dataset keeps (`self.index.files[index]`).
The report stands on the first binding that shows the list and lasts. Where all loaders in sight that read the Dataset
are written without workers it says so: nobody copies the list there, until someone adds workers. Nothing is said where
a script that makes no loaders only goes through the Dataset itself, or where a trainer is told to have no workers
beside all that make one.

## Why is this bad?
Reading an element changes its reference count, so under fork each worker gets its own copy of every memory page that
it touches. Measured with torch 2.13, two workers and a list of two million short strings: 307 MB more after one
shuffled epoch, against 0 for a numpy array of `StringDType`. Rule of thumb: number of workers times about 80 bytes for
each short string. Under spawn and forkserver (macOS, Windows, Linux from Python 3.14 on) each worker starts with a full
copy, of a numpy array too; only torch tensors are shared there.

Forkserver cannot start a worker at all when the Dataset holds more than about 240 separate tensors.

## Known limits
Whether the list is large is not known: some thousand samples cost nothing that anybody would notice. Lists that are
written out, slots that are filled with images later, and lists of unknown type are not reported. Integers below 257,
booleans and None do not grow.

## Example
```python
import glob
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, folder):
        self.paths = sorted(glob.glob(folder + "/*.png"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.paths[index]
```

## Use instead
```python
import glob
import numpy as np
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, folder):
        self.paths = np.array(sorted(glob.glob(folder + "/*.png")), dtype=np.dtypes.StringDType())

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.paths[index]
```

For records of several fields keep one array for each field. Where workers are spawned, keep torch tensors: numbers as
they are, everything else serialised into one `uint8` tensor with an array of offsets.

## Fix safety
Unsafe. The list becomes `np.array(..., dtype=np.dtypes.StringDType())` for strings, `np.array(...)` for numbers, where
every element is known to be a string, an integer or a float, and the class and its bases only index, measure and run
through it. Strings stay `str` (numpy 2.0 or later; nothing is changed where the project demands an older one), numbers
become numpy scalars: of an integer `isinstance(x, int)` is false and `json.dumps` raises, of a float `torch.tensor`
makes float64. File names that are not valid Unicode raise `UnicodeEncodeError`. There is no fix where a file that
imports this one uses an attribute of that name.

## When to ignore it
When the data set is small, or is only ever read with `num_workers=0`.

## Error messages
- `DataLoader worker (pid ...) is killed by signal: Killed`
- `RuntimeError: DataLoader worker (pid(s) ...) exited unexpectedly`
- `ValueError: too many fds`

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
    from dataloader_lint.facts.object_state.datasets import LintedDataset
    from dataloader_lint.facts.object_state.sample_storage import SampleStorage

RULE = Rule("DL101", "list-attribute", Entity.DATASET, fix=FixLevel.UNSAFE)

_ADVICE = {
    "str": "keep it as a numpy array of `StringDType`, or packed into torch tensors where workers are spawned",
    "int": "keep it as a numpy array, or as a torch tensor where workers are spawned",
    "float": "keep it as a numpy array, or as a torch tensor where workers are spawned",
    "tensor": "stack them into one tensor, which workers share",
}


def check(dataset: LintedDataset) -> Iterator[Finding]:
    lists = dataset.sample_lists()
    if not lists or dataset.is_unread:
        return
    yet = ", though no loader in sight reads it with workers yet" if dataset.has_no_workers_yet else ""
    for stored in lists:
        kind = stored.element_kind
        of = f" of {kind}" if kind in ("str", "int", "float") else ""
        grow = " (numbers below 257 do not grow)" if kind == "int" else ""
        things = "images" if kind == "image" else "arrays" if not kind and stored.holds_files else ""
        if things:
            of, grow = f" of {things}", f" (a forked one only of the objects around the {things}, a spawned one of all)"
        cost = f"so every worker ends up with a copy of its own{grow}"
        if kind == "tensor":
            of = " of tensors"
            cost = (
                "so a forked worker ends up with a copy of the objects around them, and a spawned one needs a file "
                "descriptor for each (forkserver starts none with more than about 240: `too many fds`)"
            )
        sort = "tuple" if stored.kind == "tuple" else "list"
        problem = f"`{stored.owner}.{stored.name}` is a Python {sort}{of} that workers {stored.reading}, {cost}{yet}"
        yield Finding(
            stored.node,
            problem,
            _ADVICE.get(kind, "keep one numpy array or tensor for each field, or all records serialised in one tensor"),
            partial(fix, dataset, stored),
        )


def fix(dataset: LintedDataset, stored: SampleStorage, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, to_array

    edits = to_array(editor, dataset, stored.container.binding)
    return Repair(Safety.UNSAFE, f"Keep `{stored.owner}.{stored.name}` as a numpy array", edits)
