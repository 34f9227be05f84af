"""DL612: a transform that is set on one split is ignored, or reaches the other split too."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

HEAD = """
import probe
from torch.utils.data import Dataset, Subset, random_split


class Numbers(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 10

    def __getitem__(self, index):
        return self.transform(index)


def augment(index):
    return "augmented"


def plain(index):
    return "plain"


if __name__ == "__main__":
    full = Numbers(augment)
    train, val = random_split(full, [8, 2])
"""
SAY = """
    probe.say(train=train[0], val=val[0])
"""

PROOF = Proof(
    rule="DL612",
    symptom="training samples are not augmented either once the transform of the validation split is set",
    cure="training samples are augmented, validation samples are not",
    before=HEAD + "    val.dataset.transform = plain" + SAY,
    after=HEAD + "    val = Subset(Numbers(plain), val.indices)" + SAY,
)
IGNORED = Proof(
    rule="DL612",
    symptom="validation samples are augmented although their transform was set",
    cure="training samples are augmented, validation samples are not",
    before=HEAD + "    val.transform = plain" + SAY,
    after=PROOF.after,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {"train": "plain", "val": "plain"}
    assert PROOF.run_after(tmp_path).values == {"train": "augmented", "val": "plain"}


def test_the_split_itself_ignores_it(tmp_path: Path) -> None:
    assert IGNORED.codes(IGNORED.programs()[0], tmp_path / "linted") == {"DL612"}
    assert IGNORED.run_before(tmp_path).values == {"train": "augmented", "val": "augmented"}
