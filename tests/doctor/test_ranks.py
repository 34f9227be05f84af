"""The doctor under torchrun: a report for each rank."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint.doctor.command import main

PROGRAM = """\
import os
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Rows(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        if os.environ.get("RANK") == "1":
            time.sleep(0.03)
        return torch.tensor(float(index))


if __name__ == "__main__":
    dist.init_process_group("gloo")
    data = Rows()
    loader = DataLoader(data, batch_size=4, num_workers=1, sampler=DistributedSampler(data, shuffle=False))
    for epoch in range(2):
        for batch in loader:
            dist.all_reduce(batch.sum())
    dist.destroy_process_group()
"""


@pytest.mark.evidence
def test_each_rank_has_a_report_that_says_who_waits(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "dataloader_lint"]
    done = processes.run([*command, "doctor", "train.py", "--output-file", "report.txt"], cwd=tmp_path, seconds=300)
    assert done.returncode == 0, done.stderr
    waits = []
    for rank in range(2):
        text = (tmp_path / f"report.rank{rank}.txt").read_text()
        assert text.startswith(f"Rank {rank} of 2 (counted from 0)\n")
        found = re.search(r"(\d+)% waiting for data", text)
        assert found is not None, text
        waits.append(int(found[1]))
    assert waits[1] > waits[0]


def test_trials_are_not_started_by_each_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text("")
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["--prove", str(tmp_path / "train.py")]) == 2
    assert "call it without torchrun" in capsys.readouterr().err
