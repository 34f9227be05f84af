"""Pickles each handle that a Dataset may keep, and reads with it in two forked workers: docs/evidence/handles.md.

    python -m benchmarks.handles            all; the page says which package is missing
    python -m benchmarks.handles --only lmdb.open

Each handle has a program of its own, because some hang. The Dataset opens it in `__init__`; each of its 200 samples is
read through it and compared with what was written. Nothing is measured in time.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

from benchmarks import processes

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "evidence" / "handles.md"
LIMIT = 90  # seconds for a program, of which most goes into the imports of torch, one more in a spawned worker

PROGRAM = """
import json
import pickle

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

COUNT = 200
KEPT = []


def prepare():
{prepare}


def make():
{make}


def read(handle, index):
{read}


def short(errors):
    # Paths say nothing to a reader.
    return " ".join(word for word in errors[0].split() if "/" not in word)[:90] if errors else ""


class Kept(Dataset):
    def __init__(self):
        self.handle = make()

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        try:
            return int(read(self.handle, index) == index)
        except Exception as error:
            return f"{{type(error).__name__}}: {{error}}"


if __name__ == "__main__":
    prepare()
    kept = Kept()
    try:
        pickle.dumps(kept.handle)
        pickled = "yes"
    except Exception as error:
        pickled = f"{{type(error).__name__}}: {{error}}"
    print(json.dumps({{"pickled": pickled}}), flush=True)
    if pickled == "yes":
        options = {{"num_workers": 1, "multiprocessing_context": "spawn", "timeout": 60}}
        try:
            found = list(DataLoader(kept, batch_size=None, sampler=range(20), **options))
        except Exception as error:
            found = [f"{{type(error).__name__}}: {{error}}"]
        errors = [each for each in found if isinstance(each, str)] + ["wrong data"] * found.count(0)
        print(json.dumps({{"arrived": short(errors)}}), flush=True)
        kept = Kept()  # some are broken by being pickled
    loader = DataLoader(kept, batch_size=None, num_workers=2, multiprocessing_context="fork", timeout=10)
    found = []
    try:
        found = list(loader)
    except Exception as error:
        found.append(f"{{type(error).__name__}}: {{error}}")
    errors = [each for each in found if isinstance(each, str)]
    wrong = sum(1 for each in found if each == 0)
    first = short(errors)
    print(json.dumps({{"reads": len(found), "wrong": wrong, "raised": len(errors), "first": first}}), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Handle:
    """A way to open something: the package it needs, and the bodies of the functions of its program."""

    name: str
    package: str  # on PyPI; empty for Python itself
    prepare: str
    make: str
    read: str


_ROWS = """with open("rows.bin", "wb") as file:
    for i in range(COUNT):
        file.write(i.to_bytes(4, "little") * 1000)"""
_SEEK = 'handle.seek(4000 * index)\nreturn int.from_bytes(handle.read(4), "little")'
_FILM = """import av
with av.open("a.mp4", "w") as out:
    stream = out.add_stream("mpeg4", rate=25)
    stream.width = stream.height = 64
    for i in range(COUNT):
        picture = np.full((64, 64, 3), i, dtype="uint8")
        out.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
    out.mux(stream.encode())"""
_MEMBER = "return int(handle.open(str(index)).read())"


def _file(name: str, opened: str, written: str) -> Handle:
    return Handle(name, "", written, f"return {opened}", _SEEK)


HANDLES = [
    _file("open", 'open("rows.bin", "rb")', _ROWS),
    *(
        _file(
            f"{name}.open",
            f'__import__("{name}").open("rows.z", "rb")',
            f'import {name}\nfile = {name}.open("rows.z", "wb")\nfile.write(b"".join(i.to_bytes(4, "little") * 1000 '
            "for i in range(COUNT)))\nfile.close()",
        )
        for name in ("gzip", "bz2", "lzma")
    ),
    Handle(
        "zipfile.ZipFile",
        "",
        'import zipfile\nwith zipfile.ZipFile("a.zip", "w") as file:\n    for i in range(COUNT):\n'
        "        file.writestr(str(i), str(i))",
        'import zipfile\nreturn zipfile.ZipFile("a.zip")',
        _MEMBER,
    ),
    Handle(
        "tarfile.open",
        "",
        'import io, tarfile\nwith tarfile.open("a.tar", "w") as file:\n    for i in range(COUNT):\n'
        "        info = tarfile.TarInfo(str(i))\n        info.size = len(str(i))\n"
        "        file.addfile(info, io.BytesIO(str(i).encode()))",
        'import tarfile\nreturn tarfile.open("a.tar")',
        "return int(handle.extractfile(str(index)).read())",
    ),
    Handle(
        "sqlite3.connect",
        "",
        'import sqlite3\nbase = sqlite3.connect("a.db")\nbase.execute("create table t (i integer)")\n'
        'base.executemany("insert into t values (?)", [(i,) for i in range(COUNT)])\nbase.commit()\nbase.close()',
        'import sqlite3\nreturn sqlite3.connect("a.db")',
        'return handle.execute("select i from t where rowid = ?", (index + 1,)).fetchone()[0]',
    ),
    Handle(
        "mmap.mmap",
        "",
        _ROWS,
        'import mmap\nwith open("rows.bin", "rb") as file:\n'
        "    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)",
        'return int.from_bytes(handle[4000 * index : 4000 * index + 4], "little")',
    ),
    Handle(
        "numpy.memmap",
        "",
        'np.arange(COUNT, dtype="<i4").tofile("a.bin")',
        'return np.memmap("a.bin", dtype="<i4", mode="r")',
        "return int(handle[index])",
    ),
    Handle(
        "numpy.load (.npz)",
        "",
        'np.savez("a.npz", **{str(i): i for i in range(COUNT)})',
        'return np.load("a.npz")',
        "return int(handle[str(index)])",
    ),
    Handle(
        "io.BytesIO",
        "",
        "pass",
        'import io\nreturn io.BytesIO(b"".join(i.to_bytes(4, "little") * 1000 for i in range(COUNT)))',
        _SEEK,
    ),
    Handle(
        "queue.Queue",
        "",
        "pass",
        "import queue\nfound = queue.Queue()\nfor i in range(4 * COUNT):\n    found.put(i)\nreturn found",
        "handle.get(timeout=2)\nreturn index",
    ),
    Handle("threading.Lock", "", "pass", "import threading\nreturn threading.Lock()", "with handle:\n    return index"),
    Handle(
        "threading.Event",
        "",
        "pass",
        "import threading\nfound = threading.Event()\nfound.set()\nreturn found",
        "handle.wait(2)\nreturn index",
    ),
    Handle(
        "threading.Thread (started)",
        "",
        "pass",
        "import threading, time\nfound = threading.Thread(target=time.sleep, args=(600,), daemon=True)\n"
        "found.start()\nreturn found",
        "return index if handle.is_alive() else -1",
    ),
    Handle(
        "ThreadPoolExecutor (unused before)",
        "",
        "pass",
        "from concurrent.futures import ThreadPoolExecutor\nreturn ThreadPoolExecutor(2)",
        "return handle.submit(abs, index).result()",
    ),
    Handle(
        "ThreadPoolExecutor (used before)",
        "",
        "pass",
        "from concurrent.futures import ThreadPoolExecutor\nfound = ThreadPoolExecutor(2)\n"
        "list(found.map(abs, range(9)))\n"
        "return found",
        "return handle.submit(abs, index).result()",
    ),
    Handle(
        "multiprocessing.Pool",
        "",
        "pass",
        "import multiprocessing\nreturn multiprocessing.Pool(1)",
        "return handle.apply_async(abs, (index,)).get(5)",
    ),
    Handle(
        "socket.create_connection",
        "",
        "pass",
        "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "KEPT.append(server)\nreturn socket.create_connection(server.getsockname())",
        "return index if handle.getpeername() else -1",
    ),
    Handle(
        "requests.Session",
        "requests",
        "pass",
        "import requests\nreturn requests.Session()",
        "return index if handle.headers else -1",
    ),
    Handle(
        "h5py.File",
        "h5py",
        'import h5py\nwith h5py.File("a.h5", "w") as file:\n    file["x"] = np.arange(COUNT)',
        'import h5py\nreturn h5py.File("a.h5")',
        'return int(handle["x"][index])',
    ),
    Handle(
        "lmdb.open",
        "lmdb",
        'import lmdb\nbase = lmdb.open("a.lmdb")\nwith base.begin(write=True) as txn:\n    for i in range(COUNT):\n'
        "        txn.put(str(i).encode(), str(i).encode())\nbase.close()",
        'import lmdb\nreturn lmdb.open("a.lmdb", readonly=True)',
        "with handle.begin() as txn:\n    return int(txn.get(str(index).encode()))",
    ),
    Handle(
        "duckdb.connect",
        "duckdb",
        'import duckdb\nbase = duckdb.connect("a.duck")\nbase.execute("create table t as select range as i from '
        'range(200)")\nbase.close()',
        'import duckdb\nreturn duckdb.connect("a.duck", read_only=True)',
        'return handle.execute("select i from t where i = ?", [index]).fetchone()[0]',
    ),
    Handle(
        "boto3.client",
        "boto3",
        "pass",
        'import boto3\nreturn boto3.client("s3", region_name="us-east-1", aws_access_key_id="a", '
        'aws_secret_access_key="b")',
        'return index if handle.generate_presigned_url("get_object", Params={"Bucket": "b", "Key": "k"}) else -1',
    ),
    Handle(
        "pymongo.MongoClient",
        "pymongo",
        "pass",
        'import pymongo\nreturn pymongo.MongoClient("127.0.0.1", serverSelectionTimeoutMS=10)',
        "return index if handle.HOST else -1",
    ),
    Handle(
        "redis.Redis",
        "redis",
        "pass",
        "import redis\nreturn redis.Redis()",
        "return index if handle.connection_pool else -1",
    ),
    Handle(
        "soundfile.SoundFile",
        "soundfile",
        'import soundfile\nsoundfile.write("a.wav", np.arange(COUNT, dtype="int16"), 8000)',
        'import soundfile\nreturn soundfile.SoundFile("a.wav")',
        'handle.seek(index)\nreturn int(handle.read(1, dtype="int16")[0])',
    ),
    Handle(
        "tifffile.TiffFile",
        "tifffile",
        'import tifffile\ntifffile.imwrite("a.tif", np.arange(COUNT, dtype="int32").reshape(COUNT, 1, 1).repeat(64, 1)'
        '.repeat(64, 2), photometric="minisblack")',
        'import tifffile\nreturn tifffile.TiffFile("a.tif")',
        "return int(handle.pages[index].asarray()[0, 0])",
    ),
    Handle(
        "pyarrow.parquet.ParquetFile",
        "pyarrow",
        'import pyarrow, pyarrow.parquet\npyarrow.parquet.write_table(pyarrow.table({"x": list(range(COUNT))}), '
        '"a.parquet", row_group_size=1)',
        'import pyarrow.parquet\nreturn pyarrow.parquet.ParquetFile("a.parquet")',
        'return handle.read_row_group(index)["x"][0].as_py()',
    ),
    Handle(
        "pyarrow.dataset.dataset",
        "pyarrow",
        'import pyarrow, pyarrow.parquet\npyarrow.parquet.write_table(pyarrow.table({"x": list(range(COUNT))}), '
        '"a.parquet")',
        'import pyarrow.dataset\nreturn pyarrow.dataset.dataset("a.parquet")',
        'return handle.take([index])["x"][0].as_py()',
    ),
    Handle(
        "netCDF4.Dataset",
        "netCDF4",
        'import netCDF4\nwith netCDF4.Dataset("a.nc", "w") as file:\n    file.createDimension("i", COUNT)\n'
        '    file.createVariable("x", "i4", ("i",))[:] = np.arange(COUNT)',
        'import netCDF4\nreturn netCDF4.Dataset("a.nc")',
        'return int(handle["x"][index])',
    ),
    Handle(
        "xarray.open_dataset",
        "xarray",
        'import xarray\nxarray.Dataset({"x": ("i", np.arange(COUNT))}).to_netcdf("a.nc")',
        'import xarray\nreturn xarray.open_dataset("a.nc")',
        'return int(handle["x"][index])',
    ),
    Handle(
        "av.open",
        "av",
        _FILM,
        'import av\nreturn av.open("a.mp4")',
        "video = handle.streams.video[0]\nwanted = int(index / 25 / video.time_base)\n"
        "handle.seek(wanted, stream=video)\n"
        "for frame in handle.decode(video):\n    if frame.pts >= wanted:\n"
        '        return index if abs(int(frame.to_ndarray(format="rgb24").mean()) - index) < 4 else -1',
    ),
    *(
        Handle(
            f"torchcodec.decoders.VideoDecoder{more}",
            "torchcodec",
            _FILM,
            f'from torchcodec.decoders import VideoDecoder\nreturn VideoDecoder("a.mp4"{threads})',
            "return index if abs(int(handle[index].float().mean()) - index) < 4 else -1",
        )
        for more, threads in (("", ""), (" (4 threads)", ", num_ffmpeg_threads=4"))
    ),
    Handle(
        "torchcodec.decoders.AudioDecoder",
        "torchcodec",
        'import wave\nwith wave.open("a.wav", "wb") as out:\n    out.setparams((1, 2, 8000, 0, "NONE", ""))\n'
        '    out.writeframes(np.repeat(np.arange(COUNT) * 100, 800).astype("<i2").tobytes())',
        'from torchcodec.decoders import AudioDecoder\nreturn AudioDecoder("a.wav")',
        "heard = handle.get_samples_played_in_range(index / 10 + 0.04, index / 10 + 0.06).data\n"
        "return round(float(heard.mean()) * 32768 / 100)",
    ),
    Handle(
        "zarr.open (a folder)",
        "zarr",
        'import zarr\nzarr.save("a.zarr", np.arange(COUNT))',
        'import zarr\nreturn zarr.open("a.zarr", mode="r")',
        "return int(handle[index])",
    ),
    Handle(
        "zarr.open (a zip file)",
        "zarr",
        'import zarr\nstore = zarr.storage.ZipStore("a.zarr.zip", mode="w")\narray = zarr.create_array(store, '
        "data=np.arange(COUNT), chunks=(1,))\nstore.close()",
        'import zarr\nreturn zarr.open(zarr.storage.ZipStore("a.zarr.zip", mode="r"), mode="r")',
        "return int(handle[index])",
    ),
    Handle(
        "pyfaidx.Fasta",
        "pyfaidx",
        'open("a.fa", "w").write("".join(f">{i}\\n{chr(65 + i % 26) * 60}\\n" for i in range(COUNT)))\n'
        'import pyfaidx\npyfaidx.Fasta("a.fa")',
        'import pyfaidx\nreturn pyfaidx.Fasta("a.fa")',
        "return index if str(handle[str(index)][:1]) == chr(65 + index % 26) else -1",
    ),
    Handle(
        "pysam.FastaFile",
        "pysam",
        'open("a.fa", "w").write("".join(f">{i}\\n{chr(65 + i % 26) * 60}\\n" for i in range(COUNT)))\n'
        'import pysam\npysam.FastaFile("a.fa")',
        'import pysam\nreturn pysam.FastaFile("a.fa")',
        "return index if handle.fetch(str(index), 0, 1) == chr(65 + index % 26) else -1",
    ),
    Handle(
        "PIL.Image.open",
        "pillow",
        'from PIL import Image\nImage.fromarray(np.arange(COUNT, dtype="uint8").reshape(1, COUNT)).save("a.png")',
        'from PIL import Image\nreturn Image.open("a.png")',
        "return handle.getpixel((index, 0))",
    ),
    Handle(
        "diskcache.Cache",
        "diskcache",
        'import diskcache\nwith diskcache.Cache("a.cache") as cache:\n    for i in range(COUNT):\n        cache[i] = i',
        'import diskcache\nreturn diskcache.Cache("a.cache")',
        "return handle[index]",
    ),
    Handle(
        "cv2.VideoCapture",
        "opencv-python-headless",
        'import cv2\nout = cv2.VideoWriter("a.avi", cv2.VideoWriter_fourcc(*"MJPG"), 25, (64, 64))\n'
        "for i in range(COUNT):\n    out.write(np.full((64, 64, 3), i, dtype='uint8'))\nout.release()",
        'import cv2\nreturn cv2.VideoCapture("a.avi")',
        "import cv2\nhandle.set(cv2.CAP_PROP_POS_FRAMES, index)\nok, frame = handle.read()\n"
        "return index if ok and abs(int(frame.mean()) - index) < 4 else -1",
    ),
]


def run(handle: Handle, python: str) -> dict[str, object]:
    """Runs the program of a handle: what pickling gave, and how many reads came, were wrong, and raised."""
    bodies = {name: indent(dedent(getattr(handle, name)), "    ") for name in ("prepare", "make", "read")}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "program.py"
        script.write_text(PROGRAM.format(**bodies), encoding="utf-8")
        hung = False
        with processes.started([python, script.name], cwd=folder, seconds=LIMIT) as running:
            try:
                running.wait()
            except TimeoutError:
                hung = True
            out, err = running.out.decode(), running.err.decode()
    found: dict[str, object] = {"hung": hung}
    for line in out.splitlines():
        if line.startswith("{"):
            found.update(json.loads(line))
    if "pickled" not in found:
        found["error"] = (err.strip().splitlines() or ["no output"])[-1]
    return found


def row(handle: Handle, found: dict[str, object]) -> str:
    """The row of the page."""
    if "error" in found:
        reason = f"install {handle.package}" if "No module named" in str(found["error"]) else found["error"]
        return f"| `{handle.name}` | not run: {reason} | |"
    pickled = "yes" if found["pickled"] == "yes" else f"no: `{found['pickled']}`"
    if found.get("arrived"):
        pickled = f"yes, but a spawned worker cannot read: `{found['arrived']}`"
    if found["hung"] or "reads" not in found:
        read = "hangs"
    elif str(found["first"]).startswith("RuntimeError: DataLoader timed out"):
        read = "hangs: `DataLoader timed out`"
    else:
        read = f"{found['wrong']} wrong and {found['raised']} raised of {found['reads']}"
        read += f": `{found['first']}`" if found["first"] else ""
    return f"| `{handle.name}` | {pickled} | {read} |"


HEAD = """<!-- Made by `python -m benchmarks.handles`: run it again instead of editing. -->

# Handles that a Dataset keeps

Each handle was opened in the `__init__` of a Dataset, pickled, and then read by a DataLoader with two forked workers:
200 samples, each compared with what was written. What could be pickled was read in a spawned worker, too: 20 samples.
That nothing went wrong in 200 reads does not show that nothing can: whether two reads meet is chance. The rule is
DL205.

| Handle | Can be pickled | Read in two forked workers |
|---|---|---|
"""


def main() -> None:
    """Runs all programs and writes the page; with `--only`, it prints the rows instead."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="")
    options.add_argument("--python", default=sys.executable, help="the interpreter with the packages")
    given = options.parse_args()
    rows = []
    for handle in HANDLES:
        if given.only in handle.name:
            rows.append(row(handle, run(handle, given.python)))
            print(rows[-1], flush=True)
    if not given.only:
        PAGE.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
