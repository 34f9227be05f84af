"""DL621: each worker drops the rest of its stream."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROGRAM = """
import probe
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Numbers(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = get_worker_info()
        start, step = (info.id, info.num_workers) if info else (0, 1)
        yield from range(start, self.count, step)


if __name__ == "__main__":
    loader = DataLoader(Numbers(1000), batch_size=128, num_workers=8{more})
    probe.say(samples=sum(len(batch) for batch in loader))
"""

PROOF = Proof(
    rule="DL621",
    symptom="of 1,000 numbers, none comes",
    cure="all of them come",
    before=PROGRAM.format(more=", drop_last=True"),
    after=PROGRAM.format(more=""),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {"samples": 0}
    assert PROOF.run_after(tmp_path).values == {"samples": 1000}
