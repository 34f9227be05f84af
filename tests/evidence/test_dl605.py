"""DL605: a Dataset that reads the same whole file again for every sample."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

HEAD = """
import sys
import time

import numpy as np
import probe
from torch.utils.data import DataLoader, Dataset

SAMPLES = int(sys.argv[1])
ROWS = int(sys.argv[2])
opened = []


def watch(event, arguments):
    if event == "open" and arguments[0] == "prices.npy":
        opened.append(arguments[0])

"""
MAIN = """

if __name__ == "__main__":
    np.save("prices.npy", np.zeros((ROWS, 16)))
    sys.addaudithook(watch)
    loader = DataLoader(Prices("prices.npy"), batch_size=8)
    start = time.perf_counter()
    samples = sum(len(batch) for batch in loader)
    probe.say(samples=samples, opened=len(opened), seconds=time.perf_counter() - start)
"""

PROOF = Proof(
    rule="DL605",
    symptom="the file is opened and read 32 times for 32 samples",
    cure="the file is opened and read once",
    before=HEAD
    + """
class Prices(Dataset):
    def __init__(self, path):
        self.path = path

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        table = np.load(self.path)
        return table[index % ROWS]
"""
    + MAIN,
    after=HEAD
    + """
class Prices(Dataset):
    def __init__(self, path):
        self.rows = np.load(path)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.rows[index % ROWS]
"""
    + MAIN,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_before(tmp_path, "32", "100").values, PROOF.run_after(tmp_path, "32", "100").values
    assert (before["samples"], before["opened"]) == (32, 32)
    assert (after["samples"], after["opened"]) == (32, 1)
