"""DL306: without workers the training process loads every sample itself, between two steps."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

BEFORE = """
import os
import sys
import time

import probe
import torch
from torch.utils.data import DataLoader, Dataset

SAMPLES = int(sys.argv[1])
PAUSE = float(sys.argv[2])  # seconds that a sample takes to be read, from a disk or a network


class Rows(Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        time.sleep(PAUSE)
        return torch.full((2,), float(index)), os.getpid()


def train(model):
    loader = DataLoader(Rows(), batch_size=4)
    loaded_here = 0
    for rows, processes in loader:
        model(rows).sum().backward()
        loaded_here += int((processes == os.getpid()).sum())
    return loaded_here


if __name__ == "__main__":
    start = time.perf_counter()
    loaded_here = train(torch.nn.Linear(2, 1))
    probe.say(loaded_here=loaded_here, seconds=time.perf_counter() - start)
"""

PROOF = Proof(
    rule="DL306",
    symptom="the training process loads all samples itself, between its steps",
    cure="the training process loads no sample",
    before=BEFORE,
    after=BEFORE.replace("batch_size=4)", "batch_size=4, num_workers=2)"),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path, "32", "0").values["loaded_here"] == 32
    assert PROOF.run_after(tmp_path, "32", "0").values["loaded_here"] == 0
