"""DL623: samplers that differ by rank."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROGRAM = """
from collections import Counter

import probe
from torch.utils.data import DataLoader, DistributedSampler


def samples(rank):
    sampler = DistributedSampler(range(1000), num_replicas=2, rank=rank, seed={seed})
    return [int(number) for batch in DataLoader(range(1000), batch_size=50, sampler=sampler) for number in batch]


if __name__ == "__main__":
    counted = Counter([*samples(0), *samples(1)])
    probe.say(twice=sum(count > 1 for count in counted.values()), never=1000 - len(counted))
"""

PROOF = Proof(
    rule="DL623",
    symptom="of 1,000 samples on two ranks, 240 come twice and 240 never",
    cure="each comes once",
    before=PROGRAM.format(seed="rank"),
    after=PROGRAM.format(seed="0"),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before = PROOF.run_before(tmp_path).values
    assert before["twice"] == before["never"] > 200
    assert PROOF.run_after(tmp_path).values == {"twice": 0, "never": 0}
