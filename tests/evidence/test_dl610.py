"""DL610: `get_worker_info()` is None in the main process."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

BEFORE = """
import sys

import probe
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Lines(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        info = get_worker_info()
        yield from self.lines[info.id :: info.num_workers]


if __name__ == "__main__":
    for workers in map(int, sys.argv[1:]):
        loader = DataLoader(Lines(list(range(8))), batch_size=None, num_workers=workers)
        probe.say(lines=sorted(loader))
"""

PROOF = Proof(
    rule="DL610",
    symptom="AttributeError: 'NoneType' object has no attribute 'id', with num_workers=0",
    cure="all 8 lines come once, with workers and without",
    before=BEFORE,
    after=BEFORE.replace(
        "        yield from self.lines[info.id :: info.num_workers]\n",
        "        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)\n"
        "        yield from self.lines[worker::workers]\n",
    ),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_before(tmp_path, "2", "0"), PROOF.run_after(tmp_path, "2", "0")
    all_lines = {"lines": list(range(8))}
    assert before.said == [all_lines]  # with workers
    assert str(before.raised) == "AttributeError: 'NoneType' object has no attribute 'id'"
    assert after.error is None and after.said == [all_lines, all_lines]
