"""A whole file is read again for every sample, which can take milliseconds each time.

## What it does
Reports calls in worker code that read a whole file for each sample or batch, if nothing in the path depends on it.

**What is recognized**

- readers: `pandas.read_csv` and similar, `json.load`, `pickle.load`, `torch.load`, `numpy.load` without `mmap_mode`
- `list(csv.reader(file))`, and all rows of a `csv.DictReader` in a comprehension
- `read()` and `readlines()` of an open file, `read_text()` and `read_bytes()` of a path
- archives: `zipfile.ZipFile`, `tarfile.open`; to find one member, the headers of all are read

## Why is this bad?
Measured on a local disk: 5.3 ms more for each sample with a table of 1.9 MB, 2.9 ms with an array of 4 MB, 4.7 ms
with an `.npz`, 1.8 ms with 20,000 lines of text, 0.1 s for one member of a zip archive of 10,000, and 0.5 s for one of
a tar archive. Opening a file is cheap (0.01 ms for a file, 0.15 ms for h5py) and not reported.

## Known limits
- Silent if the path, or another argument of the reader, may depend on the sample, if only by a test:
  `while index >= self.ends[shard]: shard += 1`.
- Silent if the result is stored in an attribute, a container or behind `functools.cache`.
- Silent if the call is under a condition that may depend on the sample or on such storage.
- Silent if `__len__` returns 1.

## Example
```python
import pandas as pd
from torch.utils.data import Dataset

class Prices(Dataset):
    def __init__(self, path, length):
        self.path = path
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        table = pd.read_csv(self.path)
        return table.iloc[index].to_numpy()
```

## Use instead
```python
import pandas as pd
from torch.utils.data import Dataset

class Prices(Dataset):
    def __init__(self, path):
        self.rows = pd.read_csv(path).to_numpy()

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
```

A file that is too large for memory can be mapped: `numpy.load(path, mmap_mode="r")`. An archive stays open in each
worker, from its first sample on, not from `__init__` on: see [DL205](#dl205-handle-opened-in-init).

## Fix safety
No fix: you decide where the content should be stored.

## When to ignore it
If the file changes while it is read.

## Error messages
None: it is only slow.

## References
- [numpy.load](https://numpy.org/doc/stable/reference/generated/numpy.load.html)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import STORES
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl605_file_read_per_sample.repeated_reads import RepeatedRead

RULE = Rule("DL605", "file-read-per-sample", Entity.WORKER_CODE, Level.SPEED, Claim.MAY, subjects=(STORES,))

_ADVICE = "read it once in `__init__`, or memory-map it"
_OPEN_ARCHIVE = "open it once in each worker, on first use"  # DL205: forked workers must not share an open one


def find(file: File) -> Iterable[RepeatedRead]:
    from dataloader_lint.rules.samples.dl605_file_read_per_sample.repeated_reads import repeated_reads

    return repeated_reads(file.workers, file.module)


def check(reread: RepeatedRead, file: File) -> Iterator[Finding]:
    label = reread.function.label
    problem = f"`{label}` reads {reread.content} with `{reread.reader}` per {reread.each} (milliseconds each)"
    advice = _OPEN_ARCHIVE if reread.is_archive else _ADVICE
    yield Finding(reread.call, problem, advice, because=file.steps_to(reread.function), cause=label)
