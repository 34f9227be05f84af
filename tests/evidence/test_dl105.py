"""DL105: a container of which the linter cannot tell whether it grows; where it does, workers copy it."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

MAIN = """

def make_loader(count):
    images = Images(Index(count))
    sampler = RandomSampler(images, replacement=True)
    return DataLoader(images, batch_size=1000, sampler=sampler, num_workers=2, persistent_workers=True)


if __name__ == "__main__":
    probe.say(growth=probe.bytes_per_sample(make_loader))
"""
HEAD = """
import numpy as np
import probe
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Index:
    def __init__(self, count):
        self.count = count
        self.method = "extend"

    def fill(self, names):
        add = getattr(names, self.method)
        add(f"{number:016d}.png" for number in range(self.count))

"""
PROOF = Proof(
    rule="DL105",
    symptom="two forked workers add more than 120 bytes a sample in an epoch",
    cure="they add less than 40",
    before=HEAD
    + """
class Images(Dataset):
    def __init__(self, index):
        self.names = []
        index.fill(self.names)
        self.length = index.count

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.read(index)

    def read(self, place):
        return len(self.names[place])

"""
    + MAIN,
    after=HEAD
    + """
class Images(Dataset):
    def __init__(self, index):
        names = []
        index.fill(names)
        self.names = np.array(names, dtype=np.dtypes.StringDType())

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return len(self.names[index])

"""
    + MAIN,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_each(tmp_path, start_methods=["fork"])["fork"]
    assert before.values["growth"] > 120
    assert after.values["growth"] < 40
