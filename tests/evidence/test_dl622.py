"""DL622: an epoch that is counted in workers which end with it."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROGRAM = """
import probe
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __init__(self, size):
        self.size = size
        self.epoch = 0

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.epoch)
        self.epoch += 1
        info = get_worker_info()
        start, step = (info.id, info.num_workers) if info else (0, 1)
        order = torch.randperm(self.size, generator=generator).tolist()
        yield from order[start::step]


def orders():
    loader = DataLoader(Stream(64), batch_size=None, num_workers=1{more})
    return len({{tuple(loader) for _ in range(3)}})


if __name__ == "__main__":
    probe.attempt(orders)
"""

PROOF = Proof(
    rule="DL622",
    symptom="three epochs have one order",
    cure="they have three",
    before=PROGRAM.format(more=""),
    after=PROGRAM.format(more=", persistent_workers=True"),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    for before, after in PROOF.attempt_each(tmp_path).values():
        assert before == {"orders": 1}
        assert after == {"orders": 3}
