"""DL609: persistent workers keep the copy of the Dataset that they got in the first epoch."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

BEFORE = """
import probe
import torch
from torch.utils.data import DataLoader, Dataset


class Curriculum(Dataset):
    def __init__(self):
        self.difficulty = 0

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return int(self.difficulty)


def seen():
    dataset = Curriculum()
    loader = DataLoader(dataset, num_workers=1, persistent_workers=True)
    found = []
    for epoch in range(3):
        dataset.difficulty = epoch
        found.append(sorted({int(difficulty) for difficulty in loader}))
    return found


if __name__ == "__main__":
    probe.attempt(seen)
"""

PROOF = Proof(
    rule="DL609",
    symptom="workers see 0, 0, 0 where the main process sets 0, 1, 2",
    cure="workers see 0, 1, 2",
    before=BEFORE,
    after=BEFORE.replace("self.difficulty = 0", "self.difficulty = torch.zeros(1).share_memory_()").replace(
        "dataset.difficulty = epoch", "dataset.difficulty[0] = epoch"
    ),
)

NOT_KEPT = Proof(
    rule="DL609",
    symptom=PROOF.symptom,
    cure=PROOF.cure,
    before=BEFORE,
    after=BEFORE.replace(", persistent_workers=True", ""),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    for before, after in PROOF.attempt_each(tmp_path).values():
        assert before == {"seen": [[0], [0], [0]]}
        assert after == {"seen": [[0], [1], [2]]}


def test_workers_that_are_started_anew_see_the_change(tmp_path: Path) -> None:
    assert NOT_KEPT.codes(NOT_KEPT.programs()[1], tmp_path / "repaired") == set()
    assert NOT_KEPT.run_after(tmp_path).values == {"seen": [[0], [1], [2]]}
