"""A Python list that stores the samples of a Dataset is copied to every worker.

## What it does
Reports a Dataset attribute that holds a Python list, or a tuple of that size, and is read for every sample in the
workers.

**Reads that count**

- indexing with the sample index: `self.paths[index]`, or with numbers around it: `np.arange(index, index + 8)`
- indexing with a place that is searched for the sample index: by `searchsorted`, `bisect`, `digitize`, by a comparison
  of an array (`nonzero`, `argmax`, `sum`), by a loop (`while index >= self.ends[place]: place += 1`), or by a method
  that returns such a place
- `len(self.paths)` in `__len__`
- iterating over it in an IterableDataset that makes one sample of each element
- picking records, or files that the worker opens, at random: `random.choice(self.paths)`

**What is recognized as a list**

- a list literal that is grown in a loop, or by a method that is called on the Dataset after it was made
- comprehensions, `list`, `sorted`, `glob`, `os.listdir`, `readlines`, `split`, `tolist`
- `json.load`, and what stands under a key of its result: `self.info["images"][index]`
- the `map` of a pool and joblib's `Parallel`
- annotated parameters and annotated fields of a dataclass
- arguments that every construction of the class in the project passes as a list
- all of these filled under another name: an alias, a bound method (`add = self.files.append`), a callback, a nested
  function, a function or thread that gets the list
- all of these set by `setattr` or `self.__dict__`, in the class body, by a class method or a `cached_property`, by the
  code that makes the Dataset, or in a helper object that the Dataset stores (`self.index.files[index]`)

**Where**: at the first assignment that makes the list and is not replaced by an array later. All lists of one class are
one finding. A list that a base class declares or reads is reported at the base; a subclass in another file that binds
it again gets a note that names the base.

**Level**: `memory` if each worker copies about 64 MB or more (setting `memory-threshold`), else a note. The size is the
number of samples times the bytes of an element. The number of samples comes from

- the setting `samples`: `samples = "5M"`, or `samples = { "*Caption*" = "3M" }` by class
- a well-known data set that the class, its bases and subclasses, its file, or the folder of the project is named after:
  `CocoDetection`, `datasets/nuscenes_dataset.py`

Where only a name says how many samples there are, strings, numbers and pairs count from four times `memory-threshold`
on: that is what torchvision's own `ImageFolder` keeps for ImageNet.

These are notes, whatever the size:

- all DataLoaders that read the Dataset have no workers: nothing is copied yet
- no DataLoader in the project reads the Dataset
- the class and its file are named after tests, evaluation, inference or demos
- the list is written out in the code

## Why is this bad?
Reading an element changes its reference count. Under fork each worker therefore gets its own copy of every memory
page that it touches. Measured with torch 2.13, two workers and a list of two million short strings: 307 MB more after
one shuffled epoch. A NumPy array of `StringDType` took 0 MB more.

Under spawn and forkserver (macOS, Windows, Linux from Python 3.14 on) each worker starts with a full copy. That holds
for a NumPy array too; only torch tensors are shared there.

| Element, with its place in the list | Bytes |
|---|---|
| int above 256 | 41 |
| string of 60 characters, such as a path | 118 |
| (path, int) | 174 |
| `Path` | 512 |
| dict of three strings, from `json.loads` | 626 |
| tensor or array, without its data | about 400 |

Measured with tracemalloc on Python 3.11.

For a list of tensors or arrays, a forked worker copies the objects around the data, not the data. A spawned worker
gets a full copy of arrays, and needs a file descriptor for each tensor. Forkserver cannot start a worker at all when
the Dataset holds more than about 240 separate tensors.

## Known limits
- The size of the list is estimated, never read. The numbers are those of the usual training split: a filter or a
  subset makes the list smaller.
- A list that is indexed with a searched place only is reported if its elements are known to be texts, containers, or
  arrays in memory: a list of Datasets or of other parts is short.
- Slots that are filled with images later, and lists of unknown type, are not reported. Nor are written-out lists of up
  to 64 elements, unless their length is that of the Dataset.
- Integers below 257, booleans and None do not grow.
- Classes that are only named Dataset, and derive from none, are not reported if no DataLoader in the project reads
  their objects.
- Lists named after classes (`class_names`, `categories`) that are indexed with a label are not reported.

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

Records (dicts, tuples, lists of different lengths) can be serialized once, into one `uint8` tensor with offsets. All
workers share it, forked or spawned:

```python
import json
import pickle
import numpy as np
import torch
from torch.utils.data import Dataset

class Captions(Dataset):
    def __init__(self, path):
        with open(path) as file:
            records = [np.frombuffer(pickle.dumps(each), dtype=np.uint8) for each in json.load(file)]
        self.ends = torch.from_numpy(np.cumsum([len(each) for each in records]))
        self.records = torch.from_numpy(np.concatenate(records))

    def __len__(self):
        return len(self.ends)

    def __getitem__(self, index):
        start = 0 if index == 0 else int(self.ends[index - 1])
        return pickle.loads(self.records[start : int(self.ends[index])].numpy().tobytes())
```

Measured with torch 2.13, two workers and 500,000 dicts of three strings, memory of both workers after one shuffled
epoch: a list 432 MB if forked and 892 MB if spawned, the tensor 24 MB and 290 MB.

- A base class that keeps the list for its subclasses is the place for it: they ask one method of the base for a record.
- A list that is joined (`+`), repeated (`*`), shuffled or changed after construction: convert it when it is complete.
  `+` and `*` of NumPy arrays add and multiply the elements.
- Generators and open files cannot be stored in advance: make them in the worker, when the first sample is read.

## Fix safety
Unsafe, and only if the list is known to be large. It becomes `np.array(..., dtype=np.str_)` for paths, with
`np.dtypes.StringDType()` for all strings if the project requires NumPy 2, and `np.array(...)` for numbers.
Every element must be known to be a string, an integer or a float. The class and its bases must only index it, iterate
over it or take its length.

- Strings stay `str`, or become `np.str_`, which is a `str`. All of them take as much memory as the longest one, so
  texts of any length stay a list before NumPy 2.
- Numbers become NumPy scalars, and samples must keep their dtype: `torch.tensor` makes float32 of a Python float and
  float64 of a NumPy one. So each number must be returned as part of the sample, compared, used as an index, or passed
  to a call that names a type. There is no fix for numbers if this file, or one that imports it, mentions `collate`,
  `transformers` or `torch_geometric`: code that makes batches may test for `int`.
- File names that are not valid Unicode raise `UnicodeEncodeError`.
- There is no fix if a file that imports this one uses an attribute of that name.

## When to ignore it
If the data set is small, or is only ever read with `num_workers=0`. `samples` in the settings says how small it is.

## Error messages
- `DataLoader worker (pid ...) is killed by signal: Killed`
- `RuntimeError: DataLoader worker (pid(s) ...) exited unexpectedly`
- `ValueError: too many fds`

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

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.memory._shared.dataset import StoringDataset
    from dataloader_lint.rules.memory._shared.sample_storage import SampleStorage

RULE = Rule("DL101", "list-attribute", Entity.DATASET, Level.MEMORY, Claim.MAY, fix=FixLevel.UNSAFE)

_ADVICE = {
    "str": "use a NumPy `StringDType` array, or tensors if spawned",
    "int": "use a NumPy array, or a tensor if spawned",
    "float": "use a NumPy array, or a tensor if spawned",
    "tensor": "stack them into one tensor",
}
_OUTSIDE = {"array": "arrays", "image": "images", "tensor": "tensors"}  # whose data lies outside their objects


def find(file: File) -> Iterable[StoringDataset]:
    from dataloader_lint.rules.memory._shared.dataset import storing_datasets

    return storing_datasets(file)


def check(dataset: StoringDataset, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.memory._shared.stored_fields import sample_lists

    lists = sample_lists(dataset)
    if not lists or dataset.is_read_by_own_code:
        return
    from dataloader_lint.rules.memory._shared.weights import copies, notes_on, weigh
    from dataloader_lint.rules.memory.dl101_list_attribute.advice import SERIALIZE, obstacle

    for stored, weight in zip(lists, weigh(dataset, lists, file), strict=True):
        kind = stored.element_kind
        things = _OUTSIDE.get(kind, "") or ("arrays" if not kind and stored.holds_files else "")
        elements = things or (kind if kind in ("str", "int", "float") else "")
        what = ("a tuple" if stored.kind == "tuple" else "a list") + (f" of {elements}" if elements else "")
        advice = weight.advice or obstacle(stored) or _ADVICE.get(kind, SERIALIZE)
        notes = notes_on(weight.workers, stored.reading, stored.bytes_each)
        copied = copies(weight.workers, is_read=True)
        if things:
            notes = [f" {copied}: the objects if forked, all data if spawned", f" {copied}: all data, if spawned"]
        if kind == "tensor":
            notes.insert(0, f" {copied}; spawned ones need a descriptor per tensor (`too many fds`)")
        problem = weight.message(f"`{stored.owner}.{stored.name}`: {what}", notes, advice)
        steps = (*weight.steps, *stored.steps)
        yield Finding(stored.node, problem, advice, partial(fix, dataset, stored), steps, weight.level, weight.cause)


def fix(dataset: StoringDataset, stored: SampleStorage, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, to_array

    edits = to_array(editor, dataset, stored.container.binding)
    return Repair(Safety.UNSAFE, f"Keep `{stored.owner}.{stored.name}` as a NumPy array", edits)
