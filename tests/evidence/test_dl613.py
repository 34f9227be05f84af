"""DL613: a sample that worker code changes where it is stored is another one in the next epoch."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

MAIN = """

if __name__ == "__main__":
    workers, persistent = int(sys.argv[1]), sys.argv[2] == "persistent"
    loader = DataLoader(Images(), batch_size=2, num_workers=workers, persistent_workers=persistent)
    probe.say(brightest=[int(batch.max()) for _ in range(3) for batch in loader])
"""
HEAD = """
import sys

import probe
import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self):
        self.images = torch.ones(2, 3)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
"""

PROOF = Proof(
    rule="DL613",
    symptom="images of ones are 2, 4, 8 over three epochs",
    cure="they are 2, 2, 2",
    before=HEAD + "        image *= 2\n        return image\n" + MAIN,
    after=HEAD + "        return image * 2\n" + MAIN,
)


@pytest.mark.parametrize("arguments", [("0", "no"), ("2", "persistent")])
def test_symptom_goes_away(tmp_path: Path, arguments: tuple[str, str]) -> None:
    assert PROOF.run_before(tmp_path, *arguments).values == {"brightest": [2, 4, 8]}
    assert PROOF.run_after(tmp_path, *arguments).values == {"brightest": [2, 2, 2]}


def test_workers_that_are_forked_anew_hide_it(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path, "2", "no").values == {"brightest": [2, 2, 2]}
