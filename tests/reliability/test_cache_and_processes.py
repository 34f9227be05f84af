"""Worker processes and the cache: same findings as without, whatever happens to either of them."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import processes
from reliability.budget import within
from reliability.commands import COMMAND, REPORTED, lint

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals, and a look at /proc")

AT_ONCE = 120
FILLER = "# filler, so that worker processes are worth their start\n" * 1_200


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Large enough for worker processes, with files that depend on each other."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    bars = "from torch.utils.data import DataLoader, Dataset\n\nclass Bars(Dataset):\n    def __init__(self, names):\n"
    bars += "        self.names = [str(name) for name in names]\n"
    bars += "    def __getitem__(self, index):\n        return self.names[index]\n"
    (folder / "data.py").write_text(bars)
    for number in range(14):
        user = (
            f"from data import Bars\n{REPORTED}\ndef go(n):\n    return DataLoader(Bars(n), num_workers={number % 3})\n"
        )
        (folder / f"train_{number}.py").write_text(user + FILLER)
    return folder


def findings(project: Path, *options: str, warning: str = "") -> list[object]:
    done = lint("--output-format", "json", *options, ".", folder=project, seconds=AT_ONCE)
    assert done.code == 1, done
    assert len(done.err.splitlines()) == (1 if warning else 0), done
    assert warning in done.err, done
    found = json.loads(done.out)
    assert len(found) > 14
    return found


def test_processes_and_cache_change_nothing(project: Path) -> None:
    plain = findings(project, "--jobs", "1", "--no-cache")
    assert findings(project, "--jobs", "3", "--no-cache") == plain
    assert findings(project, "--jobs", "3") == plain
    assert findings(project) == plain
    assert findings(project, "--jobs", "1") == plain


SPOILERS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda content: content[: len(content) // 2],
    "one byte": lambda content: content[:-40] + b"~" + content[-39:],
    "no JSON": lambda _: b"\x80\x04\x95 a pickle",
    "nested": lambda _: b"[" * 100_000,
    "of others": lambda _: b'{"listed": [99], "states": [], "known": []}',
    "without findings": lambda content: content.replace(b"DL301", b"DL302"),
}


@pytest.mark.parametrize("how", SPOILERS)
def test_a_spoiled_cache_is_made_again(project: Path, how: str) -> None:
    plain = findings(project)
    stores = list(project.glob(".dataloader_lint_cache/*.json"))
    assert stores
    for store in stores:
        store.write_bytes(SPOILERS[how](store.read_bytes()))
    assert findings(project) == plain
    assert findings(project) == plain


UNUSABLE = {
    "file": "is not a folder",
    "link to nowhere": "is a symbolic link",
    "pipe": "is not a folder",
    "full of others": "is not a regular file",
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_folder_that_cannot_be_used_is_done_without(project: Path, kind: str) -> None:
    plain = findings(project, "--no-cache")
    folder = project / ".dataloader_lint_cache"
    if kind == "file":
        folder.write_text("not a folder")
    elif kind == "link to nowhere":
        folder.symlink_to("/nonexistent/nowhere")
    elif kind == "pipe":
        os.mkfifo(folder)
    else:
        findings(project)
        for store in folder.glob("*.json"):
            store.unlink()
            store.mkdir()
    assert findings(project, warning=UNUSABLE[kind]) == plain


def processes_of(session: int) -> list[int]:
    """The living processes of a session, those that are only waited for left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def stopped(project: Path, with_signal: signal.Signals, after: float) -> int:
    """Run with worker processes, stop it, and return its exit code; no process of it may live on."""
    with processes.started([*COMMAND, "--jobs", "3", "."], cwd=project, seconds=AT_ONCE) as running:
        time.sleep(after)
        running.process.send_signal(with_signal)
        code = running.wait()
        end = time.monotonic() + 30
        while processes_of(running.pid) and time.monotonic() < end:
            time.sleep(0.1)
        assert not processes_of(running.pid), "worker processes outlive the run"
    return code


def kill_again_and_again(project: Path, times: int, seed: int) -> None:
    chance = random.Random(seed)
    plain = findings(project, "--no-cache")
    for number in within("kills of runs with processes", range(times)):
        with_signal = signal.SIGKILL if number % 3 else signal.SIGINT
        stopped(project, with_signal, chance.uniform(0.2, 3.0))
        if number % 4 == 0:
            assert findings(project) == plain
    assert findings(project) == plain
    left = [path.name for path in project.glob(".dataloader_lint_cache/*")]
    assert not [name for name in left if not name.endswith((".json", ".texts", ".TAG", ".gitignore"))], left


def test_killed_with_processes_and_cache(project: Path) -> None:
    kill_again_and_again(project, 4, 3)


@pytest.mark.long
def test_killed_with_processes_and_cache_hundreds_of_times(project: Path) -> None:
    kill_again_and_again(project, 300, int(time.time()))


def test_several_runs_at_once_share_a_cache(project: Path) -> None:
    plain = findings(project, "--no-cache")
    command = [*COMMAND, "--output-format", "json", "--jobs", "2", "."]
    with contextlib.ExitStack() as runs:
        for run in [runs.enter_context(processes.started(command, cwd=project)) for _ in range(4)]:
            run.wait()
            assert run.err == b""
            assert json.loads(run.out) == plain
    assert findings(project) == plain
