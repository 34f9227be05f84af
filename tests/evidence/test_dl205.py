"""DL205: forked workers share the position of a file that was opened before; to spawned ones it cannot be sent."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from evidence.harness import PICKLING, START_METHODS, Proof, run

MAIN = """

def read_all():
    loader = DataLoader(Rows("rows.bin"), batch_size=10, num_workers=2)
    return sum(int((numbers != rows).sum()) for numbers, rows in loader)


if __name__ == "__main__":
    with open("rows.bin", "wb") as file:
        for number in range(400):
            file.write(number.to_bytes(4, "little") * 2500)
    probe.attempt(read_all)
"""
PROOF = Proof(
    rule="DL205",
    symptom="fork: samples hold the bytes of other samples; spawn, forkserver: TypeError before the first batch",
    cure="every start method reads all samples right",
    # The pause is where a disk makes a worker wait, and no two samples share a buffer; else few reads meet.
    before="""
import time

import probe
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        self.file = open(path, "rb")

    def __len__(self):
        return 400

    def __getitem__(self, index):
        self.file.seek(10_000 * index)
        time.sleep(0.005)
        return index, int.from_bytes(self.file.read(4), "little")

"""
    + MAIN,
    after="""
import time

import probe
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = None

    def __len__(self):
        return 400

    def __getitem__(self, index):
        if self.file is None:
            self.file = open(self.path, "rb")
        self.file.seek(10_000 * index)
        time.sleep(0.005)
        return index, int.from_bytes(self.file.read(4), "little")

"""
    + MAIN,
)

# Without any pause, until it goes wrong in the way that the rule's page tells of.
ARCHIVES = """
import io
import tarfile
import zipfile

import numpy as np
import probe
from torch.utils.data import DataLoader, Dataset

ROWS = {f"row{number}": np.full(2000, number, dtype="<u4") for number in range(400)}


class Rows(Dataset):
    def __init__(self, read):
        self.read = read

    def __len__(self):
        return 400

    def __getitem__(self, index):
        try:
            return "right" if int.from_bytes(self.read(f"row{index}"), "little") == index else "wrong"
        except Exception as error:
            return type(error).__name__


class Zip(Rows):
    def __init__(self):
        with zipfile.ZipFile("rows.zip", "w") as archive:
            for name, row in ROWS.items():
                archive.writestr(name, row.tobytes())
        self.file = zipfile.ZipFile("rows.zip")

    def read(self, name):
        return self.file.read(name)[:4]


class Npz(Rows):
    def __init__(self):
        np.savez("rows.npz", **ROWS)
        self.file = np.load("rows.npz")

    def read(self, name):
        return self.file[name].tobytes()[:4]


class Tar(Rows):
    def __init__(self):
        with tarfile.open("rows.tar", "w") as archive:
            for name, row in ROWS.items():
                entry = tarfile.TarInfo(name)
                entry.size = row.nbytes
                archive.addfile(entry, io.BytesIO(row.tobytes()))
        self.file = tarfile.open("rows.tar")
        self.members = self.file.getmembers()

    def read(self, name):
        return self.file.extractfile(name).read()[:4]


if __name__ == "__main__":
    for rows, error in ((Zip(), "BadZipFile"), (Npz(), "BadZipFile"), (Tar(), "wrong")):
        seen = set()
        for epoch in range(200):
            loader = DataLoader(rows, batch_size=20, num_workers=2)
            seen |= {what for batch in loader for what in batch}
            if error in seen:
                break
        probe.say(**{type(rows).__name__: sorted(seen)})
"""

# The same in a global: only what is forked shares it, the others import the module again.
GLOBALS = """
import os
import time

import probe
from torch.utils.data import DataLoader, Dataset

if not os.path.exists("rows.bin"):
    with open("rows.bin", "wb") as file:
        for number in range(400):
            file.write(number.to_bytes(4, "little") * 2500)
FILE = open("rows.bin", "rb")


class Rows(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        FILE.seek(10_000 * index)
        time.sleep(0.005)
        return index, int.from_bytes(FILE.read(4), "little")


if __name__ == "__main__":
    loader = DataLoader(Rows(), batch_size=10, num_workers=2)
    probe.say(wrong=sum(int((numbers != rows).sum()) for numbers, rows in loader))
"""

# Handles of libraries that are too large to be installed for the tests: what opens them, and a file to open.
OF_LIBRARIES = {
    "rasterio": """
import numpy as np
import rasterio

with rasterio.open("rows.tif", "w", driver="GTiff", width=4, height=4, count=1, dtype="uint8") as file:
    file.write(np.zeros((1, 4, 4), "uint8"))
handle = rasterio.open("rows.tif")
""",
    "tables": """
import question_tables

tables.open_file("rows.h5", "w").close()
handle = tables.open_file("rows.h5")
""",
    "openslide": """
import numpy as np
import rasterio
import openslide

with rasterio.open(
    "rows.tif", "w", driver="GTiff", width=64, height=64, count=3, dtype="uint8", tiled=True, blockxsize=16,
    blockysize=16, photometric="RGB",
) as file:
    file.write(np.zeros((3, 64, 64), "uint8"))
handle = openslide.OpenSlide("rows.tif")
""",
}

# All others that the rule's page names, but for the handles of h5py and lmdb.
HANDLES = """
import glob
import multiprocessing
import os
import pathlib
import pickle
import sqlite3
import tarfile
import threading
import zipfile

import cv2
import numpy as np
import probe


def error_of(handle):
    try:
        pickle.dumps(handle)
    except TypeError as error:
        return str(error)


if __name__ == "__main__":
    np.savez("rows.npz", rows=np.zeros(2))
    with tarfile.open("rows.tar", "w"):
        pass
    with multiprocessing.Manager() as manager:
        handles = {
            "file": open("rows.npz", "rb"),
            "zip": zipfile.ZipFile("rows.npz"),
            "tar": tarfile.open("rows.tar"),
            "npz": np.load("rows.npz"),
            "sqlite": sqlite3.connect(":memory:"),
            "video": cv2.VideoCapture(),
            "manager": manager,
            "lock": threading.Lock(),
            "generator": (row for row in ()),
            "walk": os.walk("."),
            "scandir": os.scandir("."),
            "iglob": glob.iglob("*"),
            "iterdir": pathlib.Path().iterdir(),
            "rglob": pathlib.Path().rglob("*"),
        }
        for name, handle in handles.items():
            probe.say(**{name: error_of(handle)})
"""


def test_symptom_goes_away(tmp_path: Path) -> None:
    for start_method, (before, after) in PROOF.attempt_each(tmp_path).items():
        assert after == {"read_all": 0}
        if start_method in PICKLING:
            # "'_io.BufferedReader' object" up to Python 3.11, "'BufferedReader' instances" later.
            assert before["read_all"].startswith("TypeError: cannot pickle ")
            assert "BufferedReader" in before["read_all"]
        else:
            assert before["read_all"] > 0  # how many of the 400 is up to how busy the machine is


@pytest.mark.parametrize("start_method", START_METHODS)
def test_only_forked_workers_share_a_global(start_method: str, tmp_path: Path) -> None:
    wrong = run(GLOBALS, tmp_path, start_method=start_method).values["wrong"]
    assert (wrong > 0) is (start_method == "fork")


def test_archives_fail_too(tmp_path: Path) -> None:
    seen = run(ARCHIVES, tmp_path).values
    assert "BadZipFile" in seen["Zip"]
    assert "BadZipFile" in seen["Npz"]
    assert "wrong" in seen["Tar"]


def test_no_handle_can_be_pickled(tmp_path: Path) -> None:
    errors = run(HANDLES, tmp_path).values
    assert len(errors) == 14
    assert [name for name, error in errors.items() if error is None] == []


@pytest.mark.parametrize("library", OF_LIBRARIES)
def test_handles_of_libraries_cannot_be_pickled(library: str, tmp_path: Path) -> None:
    for needed in {"rasterio" if library == "openslide" else library, library}:
        pytest.importorskip(needed)
    tried = "\nimport pickle\nimport probe\n\nprobe.attempt(lambda: len(pickle.dumps(handle)))\n"
    (said,) = run(OF_LIBRARIES[library] + tried, tmp_path).values.values()
    assert "pickl" in str(said), said


SECONDS = """
import wave

import numpy as np
import probe
from torch.utils.data import DataLoader, Dataset
from torchcodec.decoders import AudioDecoder


class Seconds(Dataset):
    def __init__(self, path):
        self.decoder = AudioDecoder(path)

    def __len__(self):
        return 200

    def __getitem__(self, index):
        try:
            heard = self.decoder.get_samples_played_in_range(index + 0.4, index + 0.6).data
            return int(round(float(heard.mean()) * 32768 / 100) == index)
        except RuntimeError as error:
            return f"RuntimeError: {error}"


def read_all():
    found = list(DataLoader(Seconds("a.wav"), batch_size=None, num_workers=2))
    return {"right": found.count(1), "stream": sum("was not previously added" in str(each) for each in found)}


if __name__ == "__main__":
    with wave.open("a.wav", "wb") as out:
        out.setparams((1, 2, 8000, 0, "NONE", ""))
        out.writeframes(np.repeat(np.arange(200) * 100, 8000).astype("<i2").tobytes())
    probe.attempt(read_all)
"""
TORCHCODEC = Proof(
    rule="DL205",
    symptom="fork: wrong samples and RuntimeError; spawn, forkserver: RuntimeError at every sample",
    cure="every start method reads all samples right",
    before=SECONDS,
    after=SECONDS.replace("self.decoder = AudioDecoder(path)", "self.path, self.decoder = path, None").replace(
        "        try:\n",
        "        if self.decoder is None:\n            self.decoder = AudioDecoder(self.path)\n        try:\n",
    ),
)


def test_decoders_of_torchcodec(tmp_path: Path) -> None:
    before, after = TORCHCODEC.programs()
    assert TORCHCODEC.codes(before, tmp_path / "reported") == {"DL205"}
    assert TORCHCODEC.codes(after, tmp_path / "repaired") == set()
    try:
        importlib.import_module("torchcodec.decoders")
    except Exception as error:  # it needs the libraries of FFmpeg
        pytest.skip(f"torchcodec: {error}")
    for start_method, (old, new) in TORCHCODEC.attempt_each(tmp_path).items():
        assert new["read_all"] == {"right": 200, "stream": 0}
        if start_method == "fork":
            assert old["read_all"]["right"] < 200
        else:
            assert old["read_all"] == {"right": 0, "stream": 200}
