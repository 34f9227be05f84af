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


STEP = """
import probe
import torch
from torch.utils.data import DataLoader, Dataset


class Curriculum(Dataset):
    def __init__(self):
        self.step = 0

    def __len__(self):
        return 10

    def __getitem__(self, index):
        return int(self.step)


def train():
    dataset = Curriculum()
    loader = DataLoader(dataset, num_workers=1, prefetch_factor=1)
    seen = set()
    for epoch in range(2):
        for step, batch in enumerate(loader):
            dataset.step = step
            seen.add(int(batch))
            torch.ones(1, requires_grad=True).backward()
    return len(seen)


if __name__ == "__main__":
    probe.say(seen=train())
"""
STEPS = Proof(
    rule="DL609",
    symptom="workers see one number in each of two epochs, in which the main process sets 0 to 9",
    cure="workers see several of the numbers",
    before=STEP,
    after=STEP.replace("self.step = 0", "self.step = torch.zeros(1).share_memory_()").replace(
        "dataset.step = step", "dataset.step[0] = step"
    ),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    for before, after in PROOF.attempt_each(tmp_path).values():
        assert before == {"seen": [[0], [0], [0]]}
        assert after == {"seen": [[0], [1], [2]]}


def test_workers_that_are_started_anew_see_the_change(tmp_path: Path) -> None:
    assert NOT_KEPT.codes(NOT_KEPT.programs()[1], tmp_path / "repaired") == set()
    assert NOT_KEPT.run_after(tmp_path).values == {"seen": [[0], [1], [2]]}


def test_running_workers_do_not_see_a_counter(tmp_path: Path) -> None:
    assert STEPS.codes(STEPS.programs()[0], tmp_path / "reported") == {"DL609"}
    assert STEPS.codes(STEPS.programs()[1], tmp_path / "repaired") == set()
    assert STEPS.run_before(tmp_path).values == {"seen": 2}
    assert STEPS.run_after(tmp_path).values["seen"] > 2
