"""DL601: an IterableDataset that does not look at its worker hands out every item once for each worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

MAIN = """

if __name__ == "__main__":
    with open("corpus.txt", "w") as file:
        file.write("".join(f"{number}\\n" for number in range(10)))
    lines = [line for batch in make("corpus.txt") for line in batch]
    probe.say(handed_out=len(lines), times=sorted({lines.count(line) for line in lines}), different=len(set(lines)))
"""

PROOF = Proof(
    rule="DL601",
    symptom="10 lines come as 20 with two workers, each of them exactly twice",
    cure="10 lines come as 10, each of them once",
    before="""
import probe
from torch.utils.data import DataLoader, IterableDataset


class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as file:
            for line in file:
                yield line.rstrip()


def make(path):
    return DataLoader(Lines(path), batch_size=4, num_workers=2)
"""
    + MAIN,
    after="""
from itertools import islice

import probe
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        with open(self.path) as file:
            for line in islice(file, first, None, step):
                yield line.rstrip()


def make(path):
    return DataLoader(Lines(path), batch_size=4, num_workers=2)
"""
    + MAIN,
)


@pytest.mark.parametrize("start_method", ["fork", "forkserver"])
def test_symptom_goes_away(start_method: str, tmp_path: Path) -> None:
    before = PROOF.run_before(tmp_path, start_method=start_method)
    after = PROOF.run_after(tmp_path, start_method=start_method)
    assert before.values == {"handed_out": 20, "times": [2], "different": 10}
    assert after.values == {"handed_out": 10, "times": [1], "different": 10}
