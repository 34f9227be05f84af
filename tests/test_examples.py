"""The two example scripts run for real, and the linter tells them apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint import lint_paths
from dataloader_lint.settings import Settings

EXAMPLES = Path(__file__).parent.parent / "examples"
PITFALLS = EXAMPLES / "train_pitfalls.py"
REPAIRED = EXAMPLES / "train_repaired.py"

# Python imports this at start-up, in workers too: the scripts themselves never choose a start method.
CHOOSE_START_METHOD = """
import atexit, gc, multiprocessing, os
atexit.register(gc.freeze)  # as it ends, Python need not look for garbage among all that torch has made
multiprocessing.set_start_method(os.environ["START_METHOD"], force=True)
"""


def run(script: Path, *arguments: str, start_method: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "sitecustomize.py").write_text(CHOOSE_START_METHOD, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(folder), "START_METHOD": start_method}
    command = [sys.executable, str(script), *arguments]
    return processes.run(command, env=environment, seconds=300)


def test_every_headline_pitfall_is_found() -> None:
    found = {diagnostic.code for diagnostic in lint_paths([PITFALLS], Settings())}
    assert found == {"DL101", "DL102", "DL201", "DL202", "DL206", "DL301", "DL401", "DL501"}


def test_the_repaired_script_is_silent() -> None:
    assert lint_paths([REPAIRED], Settings()) == []


@pytest.mark.evidence
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the pitfalls hide only where workers are forked")
def test_the_pitfalls_work_under_fork_and_fail_under_spawn(tmp_path: Path) -> None:
    forked = run(PITFALLS, start_method="fork", folder=tmp_path)
    assert forked.returncode == 0, forked.stderr
    assert "accuracy" in forked.stdout

    spawned = run(PITFALLS, start_method="spawn", folder=tmp_path)
    assert "Can't pickle local object" in spawned.stderr

    debugged = run(PITFALLS, "--debug", start_method="fork", folder=tmp_path)
    assert "persistent_workers option needs num_workers > 0" in debugged.stderr


@pytest.mark.evidence
def test_the_repaired_script_works_under_spawn(tmp_path: Path) -> None:
    spawned = run(REPAIRED, start_method="spawn", folder=tmp_path)
    assert spawned.returncode == 0, spawned.stderr
    assert "accuracy" in spawned.stdout
