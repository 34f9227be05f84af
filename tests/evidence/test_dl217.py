"""DL217: a lock of the fork context in spawned workers."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

CLASS = """
import multiprocessing

import probe
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self):
        self.epoch = {made}

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.epoch.value


def batches():
    loader = DataLoader(Samples(), num_workers=1, multiprocessing_context="spawn")
    loader.dataset.epoch.value = 3
    return [int(batch) for batch in loader]


if __name__ == "__main__":
    probe.attempt(batches)
"""

PROOF = Proof(
    rule="DL217",
    symptom="RuntimeError: A SemLock created in a fork context is being shared with a process in a spawn context",
    cure="workers read the shared value",
    before=CLASS.format(made='multiprocessing.Value("i", 0)'),
    after=CLASS.format(made='multiprocessing.get_context("spawn").Value("i", 0)'),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert (
        PROOF.run_before(tmp_path)
        .values["batches"]
        .startswith("RuntimeError: A SemLock created in a fork context is being shared with a")
    )
    assert PROOF.run_after(tmp_path).values == {"batches": [3, 3]}
