"""Runs small programs under the doctor, each in a process of its own."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from benchmarks import processes
from dataloader_lint.doctor.records import Contents, LoaderRecord, Settings
from dataloader_lint.doctor.sizes import Attribute


def write(folder: Path, program: str, name: str = "train.py") -> Path:
    """Write a program into a project of its own."""
    (folder / "pyproject.toml").touch()
    path = folder / name
    path.write_text(dedent(program).lstrip(), encoding="utf-8")
    return path


LIMIT = 900.0
"""Seconds after which a program is killed. Only what hangs takes so long, however busy the machine is."""


def examined(folder: Path, program: str, *options: str, codes: Sequence[int] = (0, 1), **more: str) -> dict[str, Any]:
    """The report on a program that runs to its end, as JSON. Checks its exit code, and that no process of it is left.

    `more` are further variables of the environment.
    """
    path = write(folder, program)
    report = folder / "report.json"
    command = [sys.executable, "-m", "dataloader_lint", "doctor", str(path), *options]
    command += ["--output-format", "json", "--output-file", str(report)]
    command += [] if "--seconds" in options else ["--to-end"]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **more}
    with processes.started(command, cwd=folder, seconds=LIMIT, env=variables) as running:
        assert running.wait() in codes, running.err.decode()
        assert report.exists(), running.err.decode()
        assert left_of(running) == []
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found


def left_of(running: processes.Running, seconds: float = 60.0) -> list[str]:
    """The processes of its group that outlive a program; those that are on their way out are waited for."""
    end = time.monotonic() + seconds
    while True:
        left = processes.run(["pgrep", "-a", "-g", str(running.pid)]).stdout.splitlines()
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.1)


def explained(report: dict[str, Any]) -> dict[str, set[tuple[str, int]]]:
    """The code and the line of each finding, by the kind of the symptom that it explains."""
    found: dict[str, set[tuple[str, int]]] = {}
    for symptom in report["symptoms"]:
        places = found.setdefault(symptom["kind"], set())
        places |= {(one["code"], one["row"]) for one in symptom["findings"]}
    return found


def line_of(program: str, text: str) -> int:
    """The line of a program that holds a text."""
    lines = dedent(program).lstrip().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


TWO_OBJECTS = """
    from torch.utils.data import DataLoader, Dataset


    class Log:
        def __init__(self):
            self.lines = []

        def add(self, line):
            self.lines.append(line)


    class Pairs(Dataset):
        def __init__(self, count, log):
            self.pairs = [str(number).split() for number in range(count)]
            self.log = log

        def __len__(self):
            return len(self.pairs)

        def __getitem__(self, index):
            self.log.add(self.pairs[index])
            return len(self.pairs[index])


    for batch in DataLoader(Pairs(3_000, Log()), batch_size=8, num_workers=2):
        print(batch)
"""


def growing(held: int) -> LoaderRecord:
    """A loader whose workers grow by 8 MB, and whose Dataset has a list of so many bytes."""
    settings = Settings(2, 8, 2, False, False, "", "fork", True, 0.0, False, False)
    record = LoaderRecord(("train.py", 27), settings, "", "Pairs")
    sizes = [("pairs", "Pairs", 3_000, held), ("lines", "Log", 0, 56)]
    record.contents = Contents(
        [
            Attribute(f"dataset.{n}", n, owner, "list", count, "", 9_000, size, 0, False)
            for n, owner, count, size in sizes
        ]
    )
    for worker in range(2):
        lines: list[dict[str, object]] = [{"kind": "start", "worker": worker, "round": 0}]
        lines += [
            {"kind": "memory", "own": 10**7 + 10**6 * step, "batches": 2 * step, "samples": 16 * step}
            for step in range(9)
        ]
        record.workers[worker] = lines
    return record
