"""A file or database handle opened in `__init__` breaks in forked workers and cannot be pickled for others.

## What it does
Reports a handle that a Dataset opens and stores, on itself or on an object that it holds. The code that opens it runs
in `__init__` or `__len__`, directly, in what they call, or in a `cached_property` that they read.

**What is recognized as a handle**

- `open`, `codecs.open`, `gzip.open`, `bz2.open`, `lzma.open`, `zipfile.ZipFile`, `tarfile.open`
- `np.load` of an `.npz` file: the path ends with it, or the code says `"key" in data`, `data.files` or `data.keys()`
- `lmdb.open`, `h5py.File`, `tables.open_file`, `pandas.HDFStore`, `sqlite3.connect`, `sqlalchemy.create_engine`,
  `duckdb.connect`, `netCDF4.Dataset`, `pyarrow.parquet.ParquetFile`, `pyarrow.memory_map`, `mmap.mmap`
- `cv2.VideoCapture`, `decord.VideoReader`, `av.open`, `torchcodec.decoders.VideoDecoder` and `AudioDecoder`,
  `soundfile.SoundFile`, `tifffile.TiffFile`, `rasterio.open`, `gdal.Open`, `openslide.OpenSlide`,
  `openslide.open_slide`
- `PIL.Image.open`, if many are kept: a list or dict that is filled in a loop, without `convert`, `load` or the like
- `pyfaidx.Fasta`, `pysam.FastaFile`, `pysam.AlignmentFile`, `fitsio.FITS`
- `zarr.storage.ZipStore`, also inside of `zarr.open`, and what `zarr.open`, `open_array` and `open_group` make of a
  path that ends with `.zip` (zarr 2; zarr 3.1 raises)
- clients of `boto3`, `pymongo`, `redis`, Google Cloud and Azure storage
- `queue.Queue`, `threading.Thread`, the locks of `threading`, `ThreadPoolExecutor`, `multiprocessing.Pool` and
  `multiprocessing.Manager()`
- generators, such as `os.walk(...)`, `Path(...).iterdir()` and what a function with `yield` gives
- modules: `self.h5py = h5py`, `Images(options)` where `options` is a module

A handle that a script opens and gives to a Dataset counts if the Dataset reaches a DataLoader that may have
workers, also inside of the `with` block that closes the handle.

**In a global**, or in the body of a class: only handles that break in forked workers (files, archives, LMDB with its
lock, videos, sound, pools), if worker code reads them and the main process opens them:

- at module level: `FILE = open("rows.bin", "rb")`
- in a function that the main process calls, or in `__init__`, by `global`
- on first use, if `__init__` or `__len__` of the Dataset is the first to use it

**Where**: at the call that opens it. Where worker code never reads the handle, or the only loader has one worker and
the handle is a zip, `.npz` or tar archive, the message names the pickle alone.

## Why is this bad?
Forked workers share the position of an open file. Measured:

- `open(..., "rb")`, 4 workers, 4,000 reads: 6 to 12 of 100 reads returned bytes of another sample, without an error
- zip archive, 2 workers: 64 of 100 reads raised `BadZipFile`
- `.npz` archive, 2 workers: 27 of 100 reads raised `BadZipFile`
- `zarr.storage.ZipStore`, 2 workers: 63 of 200 reads raised, though it can be pickled (zarr 3.1); so does
  `zarr.open("rows.zip")` (zarr 2.18)
- `decord.VideoReader`, 2 workers: hangs at the first frame (decord 0.6)
- `VideoDecoder` of torchcodec, 2 workers: 3 of 200 samples of 20 frames were wrong, 1 raised; with
  `num_ffmpeg_threads=4` it hangs. `AudioDecoder`: 13 were wrong, 47 raised RuntimeError (torchcodec 0.13)
- tar archive, 2 workers: 2.6 of 100 reads were wrong, without an error
- `cv2.VideoCapture`, `av.open`, 2 workers: 197 and 5 of 200 samples of 20 frames were wrong
- `rasterio.open`, 2 workers: 10 of 200 samples were wrong, and 5 raised `RasterioIOError`
- LMDB environment with its lock, 2 workers: 97 of 100 reads failed with `MDB_READERS_FULL`
- `h5py`: wrong data with HDF5 before 1.12, and none since
- `gzip.open`, 2 workers: 100 of 200 reads were wrong; `bz2.open` and `lzma.open`: 100 of 200 raised EOFError
- `PIL.Image.open` in a list: no read was wrong, but each image keeps a file open. With a limit of 128 open files the
  125th raised `OSError: [Errno 24] Too many open files`
- `ThreadPoolExecutor` that was used before: forked workers hang, as the threads are not there
- with one worker, three epochs of 200 reads: zip, `.npz` and tar archives went right; `gzip.open` returned 200 wrong
  from the second epoch on, `open` one if the main process had read from it; LMDB with its lock raised from the first on

[What became of each handle](evidence/handles.md) is a table of its own.

Workers that are started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) get the Dataset pickled.
None of these handles but `ZipStore` can be pickled: the first iteration raises. A decoder of torchcodec can be, but
raises at its first sample in the worker (`Provided stream index=... was not previously added`), and from then on in the
main process as well.

## Known limits
- Silent if the handle is closed, deleted or set to None or a list again before workers start.
- Silent for classes that define `__getstate__` or `__reduce__`. These do not help under fork, where nothing is
  pickled.
- Silent if all DataLoaders found in the project that the Dataset reaches say `num_workers=0` or fork their workers.
- A handle in a global is silent where workers are spawned: they import the module again, and open their own. It is
  also silent if worker code sets the global as well, or if another module uses it and this one has no worker code.
- In a global, `h5py.File`, `sqlite3.connect`, `duckdb.connect` and what else went right in forked workers is silent.
- Sockets, `np.memmap`, locks of `multiprocessing` and the proxies of a manager are not reported.

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
No fix: no one edit is right for most classes. Of 25 such handles in real repositories,

- 6 could be opened on first use as above, with a `with` block for what `__init__` reads
- 5 were not needed after `__init__`: keep such a handle in a local variable, or do not open it
- 5 had a transaction, cursor or HDF5 dataset beside them, which has to be opened on first use as well
- 9 needed another design: a method opens them that others call too, or a server has to stay

## When to ignore it
If the Dataset is only ever read with `num_workers=0`.

## Error messages
- `TypeError: h5py objects cannot be pickled`
- `TypeError: cannot pickle '_io.BufferedReader' object`
- `TypeError: cannot pickle 'BufferedReader' instances` (from Python 3.12 on)
- `TypeError: cannot pickle 'Environment' object`
- `TypeError: cannot pickle '_thread.lock' object`
- `TypeError: cannot pickle 'generator' object`
- `TypeError: cannot pickle 'mmap.mmap' object`
- `TypeError: cannot pickle 'module' object`
- `PicklingError: Pickling client objects is explicitly not supported`
- `RuntimeError: Provided stream index=... was not previously added`
- `zipfile.BadZipFile: Bad magic number for file header`
- `lmdb.ReadersFullError: MDB_READERS_FULL`
- `OSError: [Errno 24] Too many open files`

## References
- [pytorch issue 11929](https://github.com/pytorch/pytorch/issues/11929)
- [Contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import STORES
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule
from dataloader_lint.rules.wording import PICKLING_FAILS
from dataloader_lint.semantics.libraries.calls import row

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.processes.dl205_handle_opened_in_init.handles import KeptHandle

RULE = Rule("DL205", "handle-opened-in-init", Entity.FILE, Level.ERROR, Claim.MAY, subjects=(STORES,))

_MIXED_UP = "forked workers share its position and mix up their reads"

# What becomes of a handle that forked workers share, by the column `shared` of the tables of library calls. `offset`
# and `archive` need two workers that read at once: each read finds its place anew. With `position` the object keeps a
# buffer or a state, which the worker of the next epoch gets as it was in the main process.
FORKED = {
    "offset": _MIXED_UP,
    "position": _MIXED_UP,
    "archive": "reads in forked workers raise `BadZipFile`",
    "lock table": "reads in forked workers raise `MDB_READERS_FULL`",
    "HDF5": "forked workers read wrong data (HDF5 < 1.12)",
    "thread": "it does not run in forked workers",
    "pool": "forked workers that use it hang",
    "descriptors": "each keeps a file open: OSError at the limit (often 1,024)",
}


def check(file: File) -> Iterator[Finding]:
    yield from _kept_by_datasets(file)
    if file.settings.start_method not in ("spawn", "forkserver"):
        yield from _kept_by_globals(file)


def _kept_by_globals(file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.processes.dl205_handle_opened_in_init.global_handles import global_handles

    for handle in global_handles(file.reach, file.module):
        what = row(handle.kind).opens + (f" (from `{handle.opener}`)" if handle.opener else "")
        problem = f"`{handle.name}` is {what}: {FORKED[row(handle.kind).shared]}"
        advice = "open it in the worker on first use"
        yield Finding(handle.node, problem, advice, because=file.steps_to(handle.use.function))


_PLAIN = ("generator", "module")


def _kept_by_datasets(file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.processes.dl205_handle_opened_in_init.handles import kept_handles

    for handle in kept_handles(file.reach, file.module):
        keeper = f"`{handle.keeper}`" if handle.keeper else "what this Dataset is given"
        what = f"a {handle.kind}" if handle.kind in _PLAIN else row(handle.kind).opens
        if handle.opener == "__len__":
            what += " (from `__len__`)"
        forked = "" if handle.is_safe_forked or not handle.is_read else FORKED.get(row(handle.kind).shared, "")
        pickles = row(handle.kind).pickles
        if pickles and (not forked or file.settings.start_method in ("spawn", "forkserver")):
            continue
        fails = "others cannot read it" if row(handle.kind).arrives_broken else "pickling it fails"
        effect = forked if pickles else f"{forked}, and {fails}" if forked else PICKLING_FAILS
        steps = file.steps_to_loader(handle.kept)
        cause = f"{handle.keeper.partition('.')[0]}:{_advice(handle)}"
        yield Finding(handle.node, f"{keeper} is {what}: {effect}", _advice(handle), because=steps, cause=cause)


def _advice(handle: KeptHandle) -> str:
    if handle.kind == "generator":
        return "create it in the worker"
    if handle.kind == "module":
        return "use the module by its imported name"
    if row(handle.kind).shared == "descriptors":
        return "keep the paths, and open each image when it is read"
    if handle.kind.endswith("Manager"):
        return "keep its proxies, not the manager"
    if handle.kind.startswith(("threading.", "queue.", "concurrent.")):
        return "create it in the worker on first use"
    return "open it in the worker on first use"
