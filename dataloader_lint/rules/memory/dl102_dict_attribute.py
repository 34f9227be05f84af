"""A dict or set as sample storage is copied into every worker, page by page or whole.

## What it does
Reports an attribute that a Dataset binds to a dict, a set, a `defaultdict`, `Counter` or `OrderedDict`, or an object
that is known to hold such dicts (the `COCO` index of pycocotools), when it grows with the data and worker code reads it
for every sample: its keys come from a loop over samples or files, and it is asked for the index, for what stands at the
index in another container, for the name of the file whose path that is (`os.path.basename(path)`, `path.stem`), for the
file or image that the record there is about (`row["image_id"]`), or its `len()` is the length of the Dataset. A dict of
growing lists counts too, whatever the sample says that it is asked for, and asked for a part of the sample so does one
that has an entry for each file or holds the files of folders, or that a loop over the samples fills under pairs of
their parts (`self.tails[head, relation]`).
A set counts that is asked whether the index, or what stands at the index, is in it.
Where all loaders in sight that read the Dataset are written without workers it says so: nobody copies it there, until
someone adds workers.

## Why is this bad?
Reading an entry changes the reference counts of key and value, so under fork each worker gets its own copy of every
memory page that it touches. Measured with torch 2.13, two workers and a dict of two million entries: 445 MB more after
one shuffled epoch. Under spawn and forkserver (macOS, Windows, Linux from Python 3.14 on) each worker starts with a
full copy.

## Known limits
Look-ups whose size does not follow the data (class names, speakers, vocabularies) are not reported, nor is a parameter
that is only annotated as a dict, nor what another Dataset keeps.

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

A sorted array of keys beside an array of values, one serialised buffer with offsets, a DataFrame with Arrow strings, or
a database such as LMDB that each worker opens for itself.

## Fix safety
No fix: which of the ways out fits is for the author to say.

## When to ignore it
When the data set is small, or is only ever read with `num_workers=0`.

## Error messages
- `DataLoader worker (pid ...) is killed by signal: Killed`
- `RuntimeError: DataLoader worker (pid(s) ...) exited unexpectedly`

## References
- [pytorch issue 13246](https://github.com/pytorch/pytorch/issues/13246)
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.object_state.datasets import LintedDataset

RULE = Rule("DL102", "dict-attribute", Entity.DATASET)


def check(dataset: LintedDataset) -> Iterator[Finding]:
    dicts = dataset.sample_dicts()
    if not dicts or dataset.is_unread:
        return
    yet = ", though no loader in sight reads it with workers yet" if dataset.has_no_workers_yet else ""
    for stored in dicts:
        yield Finding(
            stored.node,
            f"`{stored.owner}.{stored.name}` is a {stored.kind} that grows with the data and that workers "
            f"{stored.reading}, so every worker ends up with a copy of its own{yet}",
            "keep a sorted array of keys beside an array of values, one serialised buffer, or a database such as LMDB",
        )
