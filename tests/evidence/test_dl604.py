"""DL604: a Dataset that returns None for a sample that it cannot read."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, run

BEFORE = """
import os
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
    for path in paths:
        with open(path, "w") as file:
            file.write(path.removesuffix(".txt"))

    def without_workers():
        return read_all(paths, 0)

    def with_workers():
        return read_all(paths, 1)

    for missing in sys.argv[1:]:
        os.rename(f"{missing}.txt", "missing")
        probe.attempt(without_workers, with_workers)
        os.rename("missing", f"{missing}.txt")
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
LATER = "TypeError: expected Tensor as element 1 in argument 0, but got NoneType"
LATER_IN_WORKER = "AttributeError: 'NoneType' object has no attribute 'numel'"


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_before(tmp_path, "0", "1"), PROOF.run_after(tmp_path, "0", "1")
    assert before.error is None
    errors = [text for line in before.said for text in line.values()]
    assert errors[0].startswith(FIRST)
    assert FIRST in errors[1]
    assert errors[2].startswith(LATER)
    assert LATER_IN_WORKER in errors[3]
    assert after.error is None
    read = [numbers for line in after.said for numbers in line.values()]
    assert read == [[1, 2, 3, 4, 5, 6, 7]] * 2 + [[0, 2, 3, 4, 5, 6, 7]] * 2


def test_where_samples_are_numbers(tmp_path: Path) -> None:
    before, _ = PROOF.programs()
    program = before.replace("torch.tensor(int(file.read()))", "int(file.read())")
    assert program != before
    errors = run(program, tmp_path, "1").values
    assert errors["without_workers"] == "RuntimeError: Could not infer dtype of NoneType"
    assert "RuntimeError: Could not infer dtype of NoneType" in errors["with_workers"]
