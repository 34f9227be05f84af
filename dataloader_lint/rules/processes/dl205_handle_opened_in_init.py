"""A handle that a Dataset opens before there are workers reaches all of them, and few handles survive that.

## What it does
Reports a handle that is opened in `__init__` of a Dataset, or in what `__init__` or `__len__` runs, and kept on the
object or on another one that it keeps: `open`, `zipfile.ZipFile`, `tarfile.open`, `np.load` of an `.npz` file,
`lmdb.open`, `h5py.File`, `tables.open_file`, `sqlite3.connect`, `cv2.VideoCapture`, `rasterio.open`,
`openslide.OpenSlide`, `multiprocessing.Manager()`, locks of `threading`, and generators, such as `os.walk(...)` and
`Path(...).iterdir()`. That `np.load` gives an archive is told from the end of the path, or from `"key" in data`,
`data.files` and `data.keys()`. A handle that a script opens and gives to a Dataset counts where that reaches a
DataLoader which may have workers, also inside of the `with` block that closes it. The report stands on the call that
opens it.

## Why is this bad?
Forked workers share the position of an open file. In 4,000 reads by 4 workers, 6 to 12 of 100 from an `open(..., "rb")`
returned bytes of another sample, without an error. With 2 workers 64 of 100 from a zip archive raised `BadZipFile`, as
did 27 of 100 from an `.npz` archive; 2.6 of 100 from a tar archive were wrong without an error; an LMDB environment
with its lock failed in 97 of 100 with `MDB_READERS_FULL`. `h5py` returned wrong data with HDF5 before 1.12, and none
since.

Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the Dataset pickled,
and none of these handles can be pickled: the first iteration raises.

## Known limits
Silent where the handle is closed, deleted or set to None or a list again before there are workers, and for classes that
define `__getstate__` or `__reduce__`; these do not help under fork, though, where nothing is pickled. Silent where all
loaders in sight that the Dataset reaches say `num_workers=0` or fork their workers. Sockets, `np.memmap`, locks of
`multiprocessing` and the proxies of a manager are not reported.

## Example
```python
import h5py
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, path):
        self.file = h5py.File(path, "r")

    def __len__(self):
        return len(self.file["images"])

    def __getitem__(self, index):
        return self.file["images"][index]
```

## Use instead
```python
import h5py
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = None
        with h5py.File(path, "r") as file:
            self.length = len(file["images"])

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if self.file is None:
            self.file = h5py.File(self.path, "r")
        return self.file["images"][index]
```

## Fix safety
There is no fix: where to open the handle instead is for the author to say.

## When to ignore it
When the Dataset is only ever read with `num_workers=0`.

## Error messages
- `TypeError: h5py objects cannot be pickled`
- `TypeError: cannot pickle '_io.BufferedReader' object`
- `TypeError: cannot pickle 'BufferedReader' instances` (from Python 3.12 on)
- `TypeError: cannot pickle 'Environment' object`
- `TypeError: cannot pickle '_thread.lock' object`
- `TypeError: cannot pickle 'generator' object`
- `zipfile.BadZipFile: Bad magic number for file header`
- `lmdb.ReadersFullError: MDB_READERS_FULL`

## References
- [pytorch issue 11929](https://github.com/pytorch/pytorch/issues/11929)
- [Contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.facts.libraries.objects import HANDLES
from dataloader_lint.gate import STORES
from dataloader_lint.rules.base import Entity, Finding, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.processes.handles import KeptHandle

RULE = Rule("DL205", "handle-opened-in-init", Entity.MODULE, subjects=(STORES,))

# What becomes of a handle that forked workers share.
FORKED = {
    "builtins.open": "forked workers share its position and read each other's bytes",
    "io.open": "forked workers share its position and read each other's bytes",
    "pathlib.Path.open": "forked workers share its position and read each other's bytes",
    "zipfile.ZipFile": "forked workers share its position, so that many reads raise `BadZipFile`",
    "numpy.load": "forked workers share its position, so that many reads raise `BadZipFile`",
    "tarfile.open": "forked workers share its position and read each other's bytes",
    "tarfile.TarFile": "forked workers share its position and read each other's bytes",
    "lmdb.open": "forked workers share its lock table, so that reads soon raise `MDB_READERS_FULL`",
    "lmdb.Environment": "forked workers share its lock table, so that reads soon raise `MDB_READERS_FULL`",
    "h5py.File": "with HDF5 before 1.12 forked workers read wrong data",
    "h5py.Dataset": "with HDF5 before 1.12 forked workers read wrong data",
}


def check(file: Analysis) -> Iterator[Finding]:
    for handle in file.kept_handles:
        keeper = f"`{handle.keeper}`" if handle.keeper else "what this Dataset is given"
        what = "a generator" if handle.kind == "generator" else HANDLES[handle.kind]
        when = ", opened when the loader asks for the length" if handle.opener == "__len__" else ""
        forked = FORKED.get(handle.kind, "")
        effect = f"{forked}, and it" if forked and not handle.is_safe_forked else "it"
        problem = (
            f"{keeper} is {what}{when}: {effect} cannot be pickled for the workers of macOS, Windows and, from Python "
            "3.14 on, Linux"
        )
        yield Finding(handle.node, problem, _advice(handle))


def _advice(handle: KeptHandle) -> str:
    if handle.kind == "generator":
        return "keep what it is made from, and make it in worker code"
    if handle.kind.endswith("Manager"):
        return "keep only the proxies that it makes, not the manager"
    if handle.kind.startswith("threading."):
        return "make it in worker code when it is first needed"
    return "keep the path, and open it in worker code when it is first needed"
