"""DL614: a Dataset that lists the whole directory again for every sample."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

HEAD = """
import os
import sys
from pathlib import Path

import numpy as np
import probe
from torch.utils.data import DataLoader, Dataset

SAMPLES = int(sys.argv[1])
listed = []


def watch(event, arguments):
    if event in ("os.listdir", "os.scandir"):
        listed.append(arguments)

"""
MAIN = """

if __name__ == "__main__":
    os.mkdir("texts")
    names = [f"{number:04d}" for number in range(SAMPLES)]
    for name in names:
        Path("texts", name + ".txt").write_text(name)
    texts = Texts(names, "texts")
    sys.addaudithook(watch)
    samples = sum(len(batch) for batch in DataLoader(texts, batch_size=8))
    probe.say(samples=samples, listed=len(listed))
"""

PROOF = Proof(
    rule="DL614",
    symptom="the directory is listed 32 times for 32 samples",
    cure="it is not listed once",
    before=HEAD
    + """
class Texts(Dataset):
    def __init__(self, names, folder):
        self.names = np.array(names)
        self.folder = Path(folder)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        found = list(self.folder.glob(str(self.names[index]) + ".*"))
        return found[0].read_text()
"""
    + MAIN,
    after=HEAD
    + """
class Texts(Dataset):
    def __init__(self, names, folder):
        self.names = np.array(names)
        self.folder = Path(folder)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return (self.folder / f"{self.names[index]}.txt").read_text()
"""
    + MAIN,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_before(tmp_path, "32").values, PROOF.run_after(tmp_path, "32").values
    assert (before["samples"], before["listed"]) == (32, 32)
    assert (after["samples"], after["listed"]) == (32, 0)
