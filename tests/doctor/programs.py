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
