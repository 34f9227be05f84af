"""DL604: a Dataset that returns None for a sample that it cannot read."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

BEFORE = """
import sys

import probe
import torch
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        try:
            with open(self.paths[index]) as file:
                return torch.tensor(int(file.read()))
        except OSError:
            return None


def read_all(paths, workers):
    loader = DataLoader(Files(paths), batch_size=4, num_workers=workers)
    return [number for batch in loader for number in batch.tolist()]


if __name__ == "__main__":
    paths = [f"{number}.txt" for number in range(8)]
    for number, path in enumerate(paths):
        with open(path, "w") as file:
            file.write(str(number))
    paths[int(sys.argv[1])] = "missing.txt"

    def without_workers():
        return read_all(paths, 0)

    def with_workers():
        return read_all(paths, 1)

    probe.attempt(without_workers, with_workers)
"""

PROOF = Proof(
    rule="DL604",
    symptom="one missing file of 8 ends the epoch: TypeError: default_collate: batch must contain tensors, ...",
    cure="the other 7 samples come",
    before=BEFORE,
    after=BEFORE.replace("Dataset\n", "Dataset, default_collate\n", 1)
    .replace(
        "def read_all(",
        "def collate_present(samples):\n"
        "    return default_collate([sample for sample in samples if sample is not None])\n\n\n"
        "def read_all(",
    )
    .replace("num_workers=workers)", "num_workers=workers, collate_fn=collate_present)"),
)

FIRST = "TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "


@pytest.mark.parametrize(
    ("missing", "here", "in_worker"),
    [
        (0, FIRST, FIRST),
        (
            1,
            "TypeError: expected Tensor as element 1 in argument 0, but got NoneType",
            "AttributeError: 'NoneType' object has no attribute 'numel'",
        ),
    ],
)
def test_symptom_goes_away(missing: int, here: str, in_worker: str, tmp_path: Path) -> None:
    before = PROOF.run_before(tmp_path, str(missing)).values
    assert before["without_workers"].startswith(here)
    assert in_worker in before["with_workers"]
    present = [number for number in range(8) if number != missing]
    assert PROOF.run_after(tmp_path, str(missing)).values == {"without_workers": present, "with_workers": present}
