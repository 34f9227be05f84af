"""Killed, interrupted, run twice at once, cut off by `head`: every file is the old one or the new one, and no other."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dataloader_lint.fixer import fix_source
from reliability.commands import COMMAND, REPORTED, concise

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

FIXTURES = Path(__file__).parent.parent / "fixtures"
AT_ONCE = 120


def package(folder: Path, files: int) -> dict[str, tuple[bytes, bytes]]:
    """A package with repairs in many of its files; by name, what each file holds before and after `--fix`."""
    folder.mkdir()
    sources = [REPORTED.encode() * times for times in (1, 2, 5)]
    sources.append((FIXTURES / "DL302" / "fixable.py").read_bytes())
    states: dict[str, tuple[bytes, bytes]] = {}
    repaired: dict[bytes, bytes] = {}
    for number in range(files):
        name = f"module_{number:03}.py"
        source = sources[number % len(sources)] + b"# the end\n" * (number % 7)
        (folder / name).write_bytes(source)
        if source not in repaired:
            repaired[source] = fix_source(source, str(folder / name)).source
        states[name] = (source, repaired[source])
    assert sum(before != after for before, after in states.values()) > files // 2
    return states


def check(folder: Path, states: dict[str, tuple[bytes, bytes]]) -> int:
    """How many files are repaired; every one is as it was or as it should become."""
    repaired = 0
    for name, (before, after) in states.items():
        content = (folder / name).read_bytes()
        assert content in (before, after), name
        repaired += content == after != before
    return repaired


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.suffix != ".py" and not path.name.startswith(".dataloader")]


def kill_again_and_again(tmp_path: Path, times: int, files: int, seed: int) -> list[int]:
    """Kill `--fix` at random moments, each time over a fresh copy, then let it end; how many were repaired by then."""
    chance = random.Random(seed)
    states = package(tmp_path / "original", files)
    start = time.perf_counter()
    shutil.copytree(tmp_path / "original", tmp_path / "whole")
    assert concise("--fix", ".", folder=tmp_path / "whole", seconds=AT_ONCE).code in (0, 1)
    whole = time.perf_counter() - start
    assert check(tmp_path / "whole", states) == sum(before != after for before, after in states.values())
    repaired = []
    for number in range(times):
        copy = tmp_path / f"copy_{number}"
        shutil.copytree(tmp_path / "original", copy)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen([*COMMAND, "--fix", "."], cwd=copy, start_new_session=True, **quiet)
        time.sleep(chance.uniform(0.05, whole))
        if process.poll() is not None:
            whole *= 0.8  # the machine is faster than it was
        process.kill()
        process.wait()
        repaired.append(check(copy, states))
        if number % 5 == 0:
            assert concise("--fix", ".", folder=copy, seconds=AT_ONCE).code in (0, 1)
            assert check(copy, states) == sum(before != after for before, after in states.values())
            assert leftovers(copy) == []
        shutil.rmtree(copy)
    return repaired


def test_killed_at_random_moments(tmp_path: Path) -> None:
    assert len(kill_again_and_again(tmp_path, times=5, files=24, seed=1)) == 5


@pytest.mark.long
def test_killed_at_random_moments_hundreds_of_times(tmp_path: Path) -> None:
    repaired = kill_again_and_again(tmp_path, times=300, files=40, seed=int(time.time()))
    assert min(repaired) < max(repaired), "no moment in the midst of the work was hit"


def test_what_a_killed_run_left_behind_is_cleared(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(REPORTED)
    (tmp_path / ".a.py.0123abcd.tmp").write_bytes(b"half of it")
    others = [".b.py.0123abcd.tmp", ".a.py.tmp", "a.py.0123abcd.tmp"]
    for name in others:
        (tmp_path / name).write_bytes(b"somebody's")
    assert concise("--fix", "a.py", folder=tmp_path, seconds=AT_ONCE).code == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["a.py", *others])


def test_two_at_once(tmp_path: Path) -> None:
    """What one run repairs or reads, another one may repair and read as well."""
    states = package(tmp_path / "code", 24)
    runs = [
        subprocess.Popen([*COMMAND, "--fix", "."], cwd=tmp_path / "code", stderr=subprocess.PIPE, text=True, stdout=-1)
        for _ in range(3)
    ]
    reader = concise(".", folder=tmp_path / "code", seconds=AT_ONCE)
    for run in runs:
        out, error = run.communicate(timeout=AT_ONCE)
        assert "Traceback" not in error
        assert "DL999" not in out
        # Who comes second finds that the file has changed since it was read, and leaves it alone.
        assert all("it has changed since it was read" in line for line in error.splitlines()), error
    assert "DL999" not in reader.out
    assert "DL000" not in reader.out
    assert check(tmp_path / "code", states) == sum(before != after for before, after in states.values())
    assert leftovers(tmp_path / "code") == []


@pytest.mark.parametrize("arguments", [["."], ["--fix", "."]])
@pytest.mark.skipif(sys.platform != "linux", reason="a look at /proc")
@pytest.mark.parametrize("after", [0.0, 0.7])
def test_interrupted(tmp_path: Path, arguments: list[str], after: float) -> None:
    states = package(tmp_path / "code", 150)
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=tmp_path / "code", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    # Before that, Python is still starting, and Ctrl-C is its own to answer.
    while process.poll() is None and b"libcst" not in Path(f"/proc/{process.pid}/maps").read_bytes():
        time.sleep(0.01)
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    start = time.perf_counter()
    _, error = process.communicate(timeout=AT_ONCE)
    assert time.perf_counter() - start < 20
    # Python itself, on its way out after the run, is ended by the signal.
    assert process.returncode in (130, -signal.SIGINT), error
    assert "Traceback" not in error
    check(tmp_path / "code", states)
    assert leftovers(tmp_path / "code") == []


@pytest.mark.parametrize("shape", ["full", "json", "sarif"])
def test_cut_off_by_head(tmp_path: Path, shape: str) -> None:
    (tmp_path / "a.py").write_text(REPORTED.replace("loader =", "x ="))
    for number in range(40):
        (tmp_path / f"b{number}.py").write_text(REPORTED * 5)
    command = f"{' '.join(COMMAND)} --output-format {shape} . | head -n 1"
    done = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
