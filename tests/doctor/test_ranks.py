"""The doctor under torchrun: a report for each rank."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint.doctor.across_ranks import Group, symptoms_across
from dataloader_lint.doctor.command import main
from dataloader_lint.doctor.records import LoaderRecord, Settings

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
    waits, texts = [], []
    for rank in range(2):
        text = (tmp_path / f"report.rank{rank}.txt").read_text()
        assert text.startswith(f"Rank {rank} of 2 (counted from 0)\n")
        found = re.search(r"(\d+)% waiting for data", text)
        assert found is not None, text
        waits.append(int(found[1]))
        texts.append(" ".join(text.split()))
    assert waits[1] > waits[0]
    assert all("it waits for rank 1 in the step" in text for text in texts)
    assert not any("read the same samples" in text for text in texts)


def record(number: int, wait: float, step: float, indices: list[int], *, shuffles: bool = True) -> LoaderRecord:
    settings = Settings(1, 4, 2, False, False, "", "fork", True, 0.0, False, shuffles)
    made = LoaderRecord(("train.py", 7), settings, "", "Rows", number)
    made.waits, made.steps, made.indices = [wait], [step], indices
    return made


def symptoms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, several: list[LoaderRecord], patience: float = 60.0
) -> list[list[str]]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    groups = [Group(rank, len(several), len(several), "run") for rank in range(len(several))]
    with ThreadPoolExecutor(len(several)) as pool:
        found = list(
            pool.map(lambda rank: symptoms_across(groups[rank], [several[rank]], patience), range(len(several)))
        )
    assert list(tmp_path.iterdir()) == []
    return [[each.title for each in one] for one in found]


def test_ranks_that_read_the_same_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several = [
        record(0, 0.1, 9.9, [*range(20)]),
        record(0, 0.1, 9.9, [*range(20)]),
        record(0, 0.1, 9.9, [*range(40, 60)]),
    ]
    assert (
        symptoms(tmp_path, monkeypatch, several)
        == [["ranks 0 and 1 read the same samples: 100% of 20 in the first epoch"]] * 3
    )


def test_one_rank_that_the_others_wait_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several = [record(0, 0.1, 9.9, [*range(20)]), record(0, 8.0, 2.0, [*range(20, 40)]), record(0, 0.5, 9.5, [])]
    text = "rank 1 waits for batches for 80% of its time, the others for 1% to 5%: they wait for rank 1 in the step"
    assert symptoms(tmp_path, monkeypatch, several) == [[text]] * 3


def test_ranks_that_share_nothing_and_wait_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several = [record(0, 1.0, 9.0, [0, 2, 4, 6, 0]), record(0, 1.2, 8.8, [1, 3, 5, 7, 0])]
    assert symptoms(tmp_path, monkeypatch, several) == [[], []]


def test_a_rank_whose_others_never_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert symptoms_across(Group(0, 2, 2, "run"), [record(0, 9.0, 1.0, [])], patience=0.1) == []


def test_a_folder_of_somebody_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign, here = tmp_path / "foreign", tmp_path / "here"
    foreign.mkdir()
    here.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(here))
    group = Group(0, 2, 2, "run")
    folder = Path(group.folder)

    def refused() -> str:
        assert symptoms_across(group, [record(0, 9.0, 1.0, [])], patience=0.1) == []
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"dataloader-lint: the ranks are not compared: {folder} ")
        return line

    folder.symlink_to(foreign)
    assert refused().endswith("is no folder, or a link")
    assert list(foreign.iterdir()) == [] and folder.is_symlink()
    folder.unlink()
    folder.mkdir()
    folder.chmod(0o777)
    assert refused().endswith("is open to other users") and list(folder.iterdir()) == []
    folder.chmod(0o700)
    monkeypatch.setattr("os.getuid", lambda: here.stat().st_uid + 1)
    Path(group.folder).mkdir(mode=0o700)
    folder = Path(group.folder)
    assert refused().endswith("is open to other users") and list(folder.iterdir()) == []
    (here / "full").touch()
    monkeypatch.setattr("tempfile.tempdir", str(here / "full"))
    folder = Path(group.folder)
    assert refused().endswith("Not a directory")


def test_the_group_that_torchrun_tells() -> None:
    variables = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4", "MASTER_PORT": "1"}
    group = Group.of(variables)
    assert group is not None and (group.rank, group.ranks, group.local) == (3, 8, 4)
    assert Group.of({"RANK": "0", "WORLD_SIZE": "1"}) is None and Group.of({}) is None


def test_trials_are_not_started_by_each_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text("")
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["--prove", str(tmp_path / "train.py")]) == 2
    assert "call it without torchrun" in capsys.readouterr().err
