"""DL624: a sampler with one weight for each class."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROGRAM = """
import probe
import torch
from torch.utils.data import DataLoader, WeightedRandomSampler


def seen(dataset, labels):
    weights = 1.0 / torch.bincount(labels).float()
    sampler = WeightedRandomSampler({weights}, len(dataset))
    loader = DataLoader(dataset, batch_size=50, sampler=sampler)
    return len({{int(number) for batch in loader for number in batch}})


if __name__ == "__main__":
    torch.manual_seed(0)
    probe.say(samples=seen(range(1000), torch.arange(1000) % 10 // 9))
"""

PROOF = Proof(
    rule="DL624",
    symptom="of 1,000 samples, two are ever drawn",
    cure="more than 400 are",
    before=PROGRAM.format(weights="weights"),
    after=PROGRAM.format(weights="weights[labels]"),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {"samples": 2}
    assert PROOF.run_after(tmp_path).values["samples"] > 400
