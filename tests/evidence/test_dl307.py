"""DL307: workers load what they may prefetch, however few batches are taken."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

BEFORE = """
import multiprocessing
import time

import probe
import torch
from torch.utils.data import DataLoader, Dataset, SequentialSampler


class Rows(Dataset):
    def __init__(self):
        self.loaded = multiprocessing.Value("i", 0)

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        with self.loaded.get_lock():
            self.loaded.value += 1
        return torch.zeros(16)


class Order(SequentialSampler):
    handed_out = 0

    def __iter__(self):
        for index in super().__iter__():
            self.handed_out += 1
            yield index


def make(dataset, order):
    return DataLoader(dataset, sampler=order, num_workers=2, prefetch_factor=40)


if __name__ == "__main__":
    dataset = Rows()
    order = Order(dataset)
    batches = iter(make(dataset, order))
    next(batches)
    while dataset.loaded.value < order.handed_out:  # until the workers have done all that they were asked for
        time.sleep(0.05)
    probe.say(taken=1, loaded=dataset.loaded.value)
"""

PROOF = Proof(
    rule="DL307",
    symptom="when 1 batch has been taken, 81 have been loaded, and 80 lie in wait",
    cure="when 1 batch has been taken, 5 have been loaded, and 4 lie in wait",
    before=BEFORE,
    after=BEFORE.replace("prefetch_factor=40", "prefetch_factor=2"),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {"taken": 1, "loaded": 81}
    assert PROOF.run_after(tmp_path).values == {"taken": 1, "loaded": 5}
