"""Reading the same whole file again for every sample can cost milliseconds each time.

## What it does
Reports calls in worker code that read a whole file (`pandas.read_csv` and its kin, `json.load`, `pickle.load`,
`torch.load`, `numpy.load` without `mmap_mode`, `json.loads(path.read_text())`, ...) for each sample, where nothing in
the path depends on the sample.

## Why is this bad?
Measured on a local disk: 5.3 ms more for each sample with a table of 1.9 MB, 2.9 ms with an array of 4 MB, 4.7 ms with
an `.npz`. Opening alone is cheap (0.01 ms for a file, 0.15 ms for h5py) and not reported.

## Known limits
Silent where the path, or anything else that the reader is given, may depend on the sample, where the result is kept in
an attribute, a container or behind `functools.cache`, where the call stands under a condition that may do so, and
where `__len__` returns 1.

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

What is too large to be kept in memory can be mapped: `numpy.load(path, mmap_mode="r")`.

## Fix safety
There is no fix: where the content should live is for the code to say.

## When to ignore it
When the file changes while it is read.

## Error messages
None: it is only slow.

## References
- [numpy.load](https://numpy.org/doc/stable/reference/generated/numpy.load.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import STORES
from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL605", "file-read-per-sample", Entity.MODULE, subjects=(STORES,))

_ADVICE = "read it once, when the Dataset is made, or map it into memory"


def check(analysis: Analysis) -> Iterator[Finding]:
    for reread in analysis.samples.repeated_reads:
        problem = (
            f"`{reread.function.label}` reads a whole file with `{reread.reader}` again for every sample, "
            "though its path does not depend on the sample"
        )
        yield Finding(reread.call, problem, _ADVICE)
