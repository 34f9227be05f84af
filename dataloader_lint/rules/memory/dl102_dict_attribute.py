"""A dict or set that stores the samples of a Dataset is copied to every worker.

## What it does
Reports a Dataset attribute that holds a dict or set which grows with the data and is read for every sample in the
workers.

**What is recognized as a dict**

- `dict`, `set`, `defaultdict`, `Counter` and `OrderedDict` whose keys come from a loop over samples or files
- an object that is known to hold such dicts: the `COCO` index of pycocotools
- what a file of JSON holds, if it is asked for keys of samples: `self.matrices[ref["scan_id"]]`
- what `pickle.load`, `joblib.load`, `torch.load`, `yaml.safe_load` or `np.load(...).item()` returns, also through a
  helper function, if it is asked for what only a dict has: the id of the record at the index
  (`self.scans[ref["scan_id"]]`), the name of a file, a text made for the sample, its own keys, `.get(...)`

**Reads that count**

- a lookup of the sample index, or of what stands at that index in another container
- a test whether the sample index, or what stands at that index, is in a set
- a lookup of a file's name: `os.path.basename(path)`, `path.stem`
- a lookup of the file, scan or document that the record is about: `row["image_id"]`, `ref.scan_id`
- `len()` of it as the length of the Dataset
- any lookup by the sample in a dict of growing lists
- a lookup by a part of the sample, if the dict is made of the samples: `{row["id"]: row for row in self.rows}`

**Level**: `memory` if each worker copies about 64 MB or more, else a note, as for DL101: the number of samples comes
from the setting `samples` or from a well-known data set that the class, its file or the project is named after. All
dicts of one class are one finding.

## Why is this bad?
The classic case is a dict of several gigabytes from `pickle.load` that each worker asks for the id of its sample.
Reading an entry changes the reference counts of key and value. Under fork each worker therefore gets its own copy of
every memory page that it touches. Measured with torch 2.13, two workers and a dict of two million entries: 445 MB
more after one shuffled epoch. Under spawn and forkserver (macOS, Windows, Linux from Python 3.14 on) each worker
starts with a full copy.

## Known limits
- Lookup tables whose size does not follow the data (class names, speakers, vocabularies) are not reported.
- A parameter that is only annotated as a dict is reported if its length is that of the Dataset.
- What counts is the container that the sample index goes into. A small dict of lists that a file of JSON holds,
  `self.info["images"][index]`, is reported as a list (DL101).
- A pickled object that is indexed with a number or an unknown key may be a dict or an array, and is not reported.
- Dicts that another Dataset holds are not reported.

## Example
```python
import json
import numpy as np
from torch.utils.data import Dataset

class Captions(Dataset):
    def __init__(self, path):
        self.captions = {}
        with open(path) as lines:
            for line in lines:
                row = json.loads(line)
                self.captions[row["id"]] = row["text"]
        self.ids = np.array(list(self.captions))

    def __len__(self):
        return len(self.captions)

    def __getitem__(self, index):
        return self.captions[self.ids[index]]
```

## Use instead
```python
import numpy as np
from torch.utils.data import Dataset

class Captions(Dataset):
    def __init__(self, ids, texts):
        order = np.argsort(ids)
        self.ids = np.asarray(ids)[order]
        self.texts = np.array(texts, dtype=np.dtypes.StringDType())[order]

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return self.texts[index]
```

Alternatives:

- a sorted array of keys and an array of values
- for the `COCO` index of pycocotools: arrays of what workers read, made in `__init__`; the index itself is not kept
- one serialized buffer with offsets (the page of DL101 has the code)
- a DataFrame with Arrow strings
- a database such as LMDB that each worker opens itself

## Fix safety
No fix: the right replacement depends on the data.

## When to ignore it
If the data set is small, or is only ever read with `num_workers=0`.

## Error messages
- `DataLoader worker (pid ...) is killed by signal: Killed`
- `RuntimeError: DataLoader worker (pid(s) ...) exited unexpectedly`

## References
- [pytorch issue 13246](https://github.com/pytorch/pytorch/issues/13246)
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.memory._shared.dataset import StoringDataset

RULE = Rule("DL102", "dict-attribute", Entity.DATASET, Level.MEMORY, Claim.MAY)


# By whether it is known to be large.
_ADVICE = {True: "use sorted key and value arrays, or LMDB", False: "if large, use sorted key and value arrays"}


def find(file: File) -> Iterable[StoringDataset]:
    from dataloader_lint.rules.memory._shared.dataset import storing_datasets

    return storing_datasets(file)


def check(dataset: StoringDataset, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.memory._shared.stored_fields import sample_dicts

    dicts = sample_dicts(dataset)
    if not dicts or dataset.is_read_by_own_code:
        return
    from dataloader_lint.rules.memory._shared.weights import notes_on, weigh

    for stored, weight in zip(dicts, weigh(dataset, dicts, file), strict=True):
        is_columns = stored.is_dict_of_lists
        what = "dict of lists that grow" if is_columns else f"{stored.kind} that grows"
        advice = "use one array or tensor per key" if is_columns else _ADVICE[weight.level is Level.MEMORY]
        if weight.is_small:
            advice = "keep it as long as it stays small"
        if stored.is_index:
            advice = "read what workers need into arrays, and drop the index"
        advice = weight.advice or advice
        notes = notes_on(weight.workers, stored.reading, stored.bytes_each, before=", ")
        article = "an" if what.lstrip("`").startswith("Ordered") else "a"
        problem = weight.message(f"`{stored.owner}.{stored.name}`: {article} {what} with the data", notes, advice)
        steps = (*weight.steps, *stored.steps)
        yield Finding(stored.node, problem, advice, because=steps, level=weight.level, cause=weight.cause)
