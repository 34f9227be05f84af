"""DL626: a stream with one shard."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

PROGRAM = """
import probe
from datasets import Dataset
from torch.utils.data import DataLoader, get_worker_info


def worker(row):
    info = get_worker_info()
    return {{"worker": info.id if info is not None else -1}}


if __name__ == "__main__":
    stream = Dataset.from_dict({{"row": list(range(100))}}).to_iterable_dataset({shards}).map(worker)
    loader = DataLoader(stream, batch_size=5, num_workers=4)
    probe.say(busy=len({{int(each) for batch in loader for each in batch["worker"]}}))
"""

PROOF = Proof(
    rule="DL626",
    symptom="one of four workers gives all rows",
    cure="four do",
    before=PROGRAM.format(shards=""),
    after=PROGRAM.format(shards="num_shards=4"),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    assert PROOF.run_before(tmp_path).values == {"busy": 1}
    assert PROOF.run_after(tmp_path).values == {"busy": 4}
