"""DL616: a Dataset that tries again after any exception, where every sample fails."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

HEAD = """
import sys

import probe
from torch.utils.data import DataLoader, Dataset


class Texts(Dataset):
    def __init__(self, folder):
        self.folder = folder

    def __len__(self):
        return 5000

    def __getitem__(self, index):
"""
MAIN = """

if __name__ == "__main__":
    loader = DataLoader(Texts("nowhere"), num_workers=1, timeout=8)
    try:
        next(iter(loader))
    except Exception as error:
        probe.say(raised=type(error).__name__, text=str(error).splitlines()[0])
"""

PROOF = Proof(
    rule="DL616",
    symptom="RecursionError, where the folder does not exist",
    cure="FileNotFoundError, which names the file",
    before=HEAD
    + """
        try:
            return open(f"{self.folder}/{index}.txt").read()
        except Exception:
            return self[(index + 1) % len(self)]
"""
    + MAIN,
    after=HEAD
    + """
        for attempt in range(5):
            try:
                return open(f"{self.folder}/{index}.txt").read()
            except Exception as error:
                failed = error
                index = (index + 1) % len(self)
        raise failed
"""
    + MAIN,
)
LOOP = Proof(
    rule="DL616",
    symptom="the worker never returns, where the folder does not exist",
    cure="FileNotFoundError, which names the file",
    before=HEAD
    + """
        while True:
            try:
                return open(f"{self.folder}/{index}.txt").read()
            except Exception:
                index = (index + 1) % len(self)
"""
    + MAIN,
    after=PROOF.after,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values["raised"] == "RecursionError"
    assert PROOF.run_after(tmp_path).values["raised"] == "FileNotFoundError"


def test_a_loop_hangs(tmp_path: Path) -> None:
    assert LOOP.codes(LOOP.programs()[0], tmp_path / "linted") == {"DL616"}
    expected = {"raised": "RuntimeError", "text": "DataLoader timed out after 8 seconds"}
    assert LOOP.run_before(tmp_path).values == expected
