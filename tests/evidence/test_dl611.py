"""DL611: batches that are kept as they came from workers hold a file descriptor for each of their tensors."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, run

BEFORE = """
import resource
import sys

import probe
import torch
from torch.utils.data import DataLoader, TensorDataset

BATCHES = int(sys.argv[1])


def read_all(dataset):
    loader = DataLoader(dataset, batch_size=2, num_workers=1)
    batches = []
    for images, labels in loader:
        batches.append(labels)
    return batches


if __name__ == "__main__":
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, most))
    before = probe.open_files()
    batches = read_all(TensorDataset(torch.zeros(2 * BATCHES, 8), torch.zeros(2 * BATCHES)))
    probe.say(kept=len(batches), opened=probe.open_files() - before)
"""

PROOF = Proof(
    rule="DL611",
    symptom="with a limit of 256 open files: RuntimeError: Too many open files, before 300 batches are kept",
    cure="300 batches are kept and no file stays open",
    before=BEFORE,
    after=BEFORE.replace("batches.append(labels)", "batches.append(labels.clone())"),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    few = PROOF.run_before(tmp_path, "100").values
    assert few["kept"] == 100
    assert 100 <= few["opened"] <= 110
    raised = PROOF.run_before(tmp_path, "300").raised
    assert "Too many open files" in raised.text
    after = PROOF.run_after(tmp_path, "300").values
    assert after["kept"] == 300
    assert after["opened"] <= 10


def test_with_the_usual_limit_some_500_batches_of_two_tensors(tmp_path: Path) -> None:
    before, _ = PROOF.programs()
    kept = "batches.append((images, labels))\n        probe.say(kept=len(batches))"
    program = before.replace("batches.append(labels)", kept).replace("(256, most)", "(1024, most)")
    outcome = run(program, tmp_path, "600")
    assert "Too many open files" in outcome.raised.text
    assert 450 < outcome.said[-1]["kept"] < 512
