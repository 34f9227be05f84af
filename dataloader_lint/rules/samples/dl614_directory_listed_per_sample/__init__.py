"""A whole directory is listed again for every sample.

## What it does
Reports calls in `__getitem__`, `__getitems__` or `collate_fn`, and in what these call, that list a directory which is
the same for all samples.

**What is recognized**

- `os.listdir`, `os.scandir`, `os.walk`
- `glob.glob`, `glob.iglob` and the methods `glob`, `rglob` and `iterdir` of a path
- patterns that name the file of the sample: in `self.folder.glob(f"{name}.*")` only the pattern changes, so all names
  in the directory are read to find one

## Why is this bad?
The cost grows with the directory, and all workers ask the file system at once. Measured on a busy machine with two
cores, for one call: 1.4 ms (`os.listdir`) to 3.8 ms (`glob.glob`) with 1,000 files, 18 to 41 ms with 10,000;
`os.path.exists` takes 0.005 ms. On network file systems each listing is a series of requests.

## Known limits
- Silent if the directory may depend on the sample, if only by a test: a folder of frames for each video.
- Silent if the result is stored in an attribute, a container or behind `functools.cache`, and if the call is under a
  condition that may depend on such storage.
- Iterable Datasets list a directory once for each epoch and are not reported.

## Example
```python
from pathlib import Path
from PIL import Image
from torch.utils.data import Dataset

class Pictures(Dataset):
    def __init__(self, names, folder):
        self.names = names
        self.folder = Path(folder)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        found = list(self.folder.glob(self.names[index] + ".*"))
        return Image.open(found[0])
```

## Use instead
```python
from pathlib import Path
from PIL import Image
from torch.utils.data import Dataset

class Pictures(Dataset):
    def __init__(self, names, folder):
        self.names = names
        self.folder = Path(folder)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return Image.open(self.folder / f"{self.names[index]}.jpg")
```

If the suffix differs from file to file, list the directory once in `__init__`.

## Fix safety
No fix: you decide where the names should be stored.

## When to ignore it
If files are added or removed while workers run, or if the directory holds a handful of files.

## Error messages
None: it is only slow.

## References
- [os.listdir](https://docs.python.org/3/library/os.html#os.listdir)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl614_directory_listed_per_sample.directory_listings import DirectoryListing

RULE = Rule("DL614", "directory-listed-per-sample", Entity.WORKER_CODE, Level.SPEED, Claim.MAY)


def find(file: File) -> Iterable[DirectoryListing]:
    from dataloader_lint.rules.samples.dl614_directory_listed_per_sample.directory_listings import directory_listings

    return directory_listings(file.workers, file.module)


def check(listing: DirectoryListing, file: File) -> Iterator[Finding]:
    problem = f"`{listing.function.label}` lists the same directory with `{listing.name}` for every {listing.each}"
    steps = file.steps_to(listing.function)
    yield Finding(listing.call, problem, "list it once in `__init__`", because=steps, cause=listing.function.label)
