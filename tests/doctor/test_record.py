"""What a run of the program as it is leaves for later runs of the linter."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint import lint_paths
from dataloader_lint.diagnostics import Level
from dataloader_lint.doctor.command import main as doctor
from dataloader_lint.doctor.diagnosis import diagnose
from dataloader_lint.doctor.prove import record
from dataloader_lint.doctor.prove.command import Recorder
from dataloader_lint.doctor.prove.verdicts import Kind
from dataloader_lint.settings import Settings
from dataloader_lint.source.measurements import measured_in
from doctor.programs import LIMIT, TWO_OBJECTS, growing, write

RECORD = ".dataloader-lint-measured.json"
STORED = """
    import sys

    import torch
    from torch.utils.data import DataLoader, Dataset


    class Images(Dataset):
        def __init__(self, count):
            self.paths = [f"folder/{number:040d}.png" for number in range(count)]

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, index):
            return torch.tensor(len(self.paths[index]))


    class Few(Dataset):
        def __init__(self, count):
            self.names = [f"{number}" for number in range(count)]

        def __len__(self):
            return len(self.names)

        def __getitem__(self, index):
            return torch.tensor(len(self.names[index]))


    if __name__ == "__main__":
        for data in (Images(60_000 * len(sys.argv)), Few(600 * len(sys.argv))):
            for batch in DataLoader(data, batch_size=100, num_workers=2):
                batch.sum()
"""


@pytest.mark.parametrize(
    ("held", "kind", "size"), [(2_500_000, Kind.CONFIRMED, 2_500_000), (90_000, Kind.NO_EFFECT, 0)]
)
def test_what_workers_were_seen_to_hold_decides(held: int, kind: Kind, size: int, tmp_path: Path) -> None:
    path = write(tmp_path, TWO_OBJECTS)
    report = diagnose([growing(held)], script=str(path))
    (one,) = (each for each in record.measured(report) if each.finding.code == "DL101")
    assert (one.kind, one.bytes, one.workers) == (kind, 2 * size, 2)
    Recorder(str(tmp_path / RECORD)).write([one])
    ((code, name, _, found),) = measured_in(str(tmp_path / RECORD))[str(path)]
    assert (code, name, found) == ("DL101", "Pairs.pairs", size)


def test_a_record_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "_MOST_ROWS", 3)
    path = write(tmp_path, TWO_OBJECTS)
    verdicts = record.measured(diagnose([growing(2_500_000)], script=str(path)))
    row = {"code": "DL101", "name": "", "line": "", "verdict": "confirmed", "workers": 1, "bytes_per_worker": 1}
    rows = [{"path": name, **row} for name in ("gone.py", "train.py", "also_gone.py")]
    text = json.dumps({"version": 1, "measured": rows})
    found = json.loads(record.dumped(verdicts[:1], record.lines_of, str(tmp_path), text))["measured"]
    assert [each["path"] for each in found] == ["train.py", "train.py"]
    monkeypatch.setattr(record, "_MOST_ROWS", 1)
    (only,) = json.loads(record.dumped(verdicts[:1], record.lines_of, str(tmp_path), text))["measured"]
    assert only["name"]


def test_what_is_no_record_is_refused_before_anything_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "open('ran.txt', 'w').close()")
    for text, problem in (("[1, 2]", "is no record of measurements"), ("[" * 100_000, "is no record of measurements")):
        (tmp_path / RECORD).write_text(text)
        assert doctor(["--record", str(path)]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1 and f"{RECORD} is there, and {problem}" in lines[0]
        assert (tmp_path / RECORD).read_text() == text
    (tmp_path / RECORD).unlink()
    os.mkfifo(tmp_path / RECORD)
    assert doctor(["--record", str(path)]) == 2
    assert "cannot be read: it is not a regular file" in capsys.readouterr().err
    assert not (tmp_path / "ran.txt").exists()


@pytest.mark.evidence
def test_a_later_run_of_the_linter_knows_what_was_measured(tmp_path: Path) -> None:
    path = write(tmp_path, STORED)
    command = [sys.executable, "-m", "dataloader_lint", "doctor", "--to-end", "train.py"]
    assert processes.run(command, cwd=tmp_path, seconds=LIMIT).returncode == 1
    assert not (tmp_path / RECORD).exists()  # only where it is asked for
    assert processes.run([*command, "--record"], cwd=tmp_path, seconds=LIMIT).returncode == 1
    found = {
        each.problem.split("`")[1]: each for each in lint_paths([str(path)], Settings(record=str(tmp_path / RECORD)))
    }
    paths, names = found["Images.paths"], found["Few.names"]
    assert paths.level is Level.MEMORY
    assert paths.problem.startswith("`Images.paths` is copied to each worker, measured: ")
    assert names.level is Level.NOTE and names.advice == "measured: no effect here"
