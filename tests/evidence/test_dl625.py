"""DL625: results that are stored by the number of a batch that comes in any order."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROGRAM = """
import os
import time

import probe
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        while index == 0 and not os.path.exists("last"):
            time.sleep(0.01)  # the first sample comes after the other worker's last
        if index == 7:
            open("last", "w").close()
        return index


def results():
    found = [0] * 8
    loader = DataLoader(Numbers(), batch_size=None, num_workers=2, prefetch_factor={ahead}{more})
    for number, sample in enumerate(loader):
        found[number] = sample
    return found


if __name__ == "__main__":
    probe.say(right=results() == list(range(8)))
"""

PROOF = Proof(
    rule="DL625",
    symptom="results are not at the places of their samples",
    cure="they are",
    before=PROGRAM.format(ahead=4, more=", in_order=False"),
    after=PROGRAM.format(ahead=4, more=""),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path, timeout=60).values == {"right": False}
    assert PROOF.run_after(tmp_path, timeout=60).values == {"right": True}
