"""Killed, interrupted, run twice at once, cut off by `head`: every file is the old one or the new one, and no other."""

from __future__ import annotations

import random
import signal
import sys
import time
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint.engine.fixer import fix_source
from reliability.budget import tried, within
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


class Kills:
    """A package that `--fix` is killed over again and again, always in the same folder, so that its cache stays."""

    def __init__(self, tmp_path: Path, files: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.original, self.folder = tmp_path / "original", tmp_path / "code"
        self.states = package(self.original, files)
        self.all_repaired = sum(before != after for before, after in self.states.values())
        self.in_the_midst = 0  # kills that found some files repaired and others not
        self.within_a_write = 0  # kills that left a temporary file behind
        self.whole, self.until_writing, self.writing = self.timed()

    def renew(self) -> None:
        self.folder.mkdir(exist_ok=True)
        for path in self.original.iterdir():
            (self.folder / path.name).write_bytes(path.read_bytes())

    def started(self) -> AbstractContextManager[processes.Running]:
        return processes.started([*COMMAND, "--fix", "."], cwd=self.folder)

    def wait_for_changes(self, running: processes.Running, number: int) -> int:
        """Look on until the folder has changed so often: once for each temporary file, once where it takes a place.

        Without a pause, since a file is written within a millisecond; how many changes were seen before the run ended.
        """
        seen, before = 0, self.folder.stat().st_mtime_ns
        while seen < number and running.process.poll() is None:
            now = self.folder.stat().st_mtime_ns
            seen, before = seen + (now != before), now
        return seen

    def timed(self) -> tuple[float, float, float]:
        """The seconds that a run takes, those until it begins to write, and those from there to its end."""
        self.renew()
        start = time.perf_counter()
        with self.started() as running:
            assert self.wait_for_changes(running, 1) == 1
            first = time.perf_counter()
            assert running.wait() in (0, 1)
            end = time.perf_counter()
        assert check(self.folder, self.states) == self.all_repaired
        return end - start, first - start, end - first

    def kill(self, number: int) -> None:
        """Kill one run: at any time, at any time while files are being written, or as soon as one is begun."""
        self.renew()
        with self.started() as running:
            if number % 4 == 0:
                time.sleep(self.chance.uniform(0.05, self.whole))
            elif number % 4 == 1:
                self.wait_for_changes(running, 1)
                time.sleep(self.chance.uniform(0, self.writing))
            else:
                self.wait_for_changes(running, self.chance.randrange(1, 2 * self.all_repaired, 2))
            running.kill()
        self.in_the_midst += 0 < check(self.folder, self.states) < self.all_repaired
        left = leftovers(self.folder)
        assert len(left) <= 1, left
        self.within_a_write += bool(left)
        if number % 5 == 0:
            assert self.said() == self.said("--no-cache"), "the cache is not usable"
        if left or number % 5 == 0:
            self.go_on()

    def go_on(self) -> None:
        """The next run repairs the rest and leaves nothing behind."""
        assert concise("--fix", ".", folder=self.folder, seconds=AT_ONCE).code in (0, 1)
        assert check(self.folder, self.states) == self.all_repaired
        assert leftovers(self.folder) == []

    def said(self, *options: str) -> tuple[int, str, str]:
        done = concise(*options, ".", folder=self.folder, seconds=AT_ONCE)
        assert done.code in (0, 1), done
        return done.code, done.out, done.err


def kill_again_and_again(tmp_path: Path, times: int, files: int, seed: int) -> Kills:
    kills = Kills(tmp_path, files, seed)
    for number in within("kills of --fix", range(times)):
        kills.kill(number)
    return kills


def test_killed_at_random_moments(tmp_path: Path) -> None:
    kills = kill_again_and_again(tmp_path, times=15, files=12, seed=1)
    assert kills.in_the_midst >= 4


@pytest.mark.long
def test_killed_at_random_moments_hundreds_of_times(tmp_path: Path) -> None:
    seed = int(time.time())
    kills = kill_again_and_again(tmp_path, times=400, files=40, seed=seed)
    print(f"seed {seed}: {kills.in_the_midst} in the midst of the work, {kills.within_a_write} within a write")
    number = tried["kills of --fix"]
    assert kills.in_the_midst > number // 3
    assert kills.within_a_write > number // 20


def test_what_a_killed_run_left_behind_is_cleared(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(REPORTED)
    (tmp_path / ".a.py.dataloader-lint-0123abcd.tmp").write_bytes(b"half of it")
    others = [".b.py.dataloader-lint-0123abcd.tmp", ".a.py.0123abcd.tmp", ".a.py.tmp", "a.py.0123abcd.tmp"]
    for name in others:
        (tmp_path / name).write_bytes(b"somebody's")
    assert concise("--fix", "a.py", folder=tmp_path, seconds=AT_ONCE).code == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["a.py", *others])


def test_two_at_once(tmp_path: Path) -> None:
    """What one run repairs or reads, another one may repair and read as well."""
    states = package(tmp_path / "code", 24)
    command = [*COMMAND, "--fix", "."]
    with ExitStack() as stack:
        runs = [stack.enter_context(processes.started(command, cwd=tmp_path / "code")) for _ in range(3)]
        reader = concise(".", folder=tmp_path / "code", seconds=AT_ONCE)
        for run in runs:
            run.wait()
            assert b"Traceback" not in run.err
            assert b"DL999" not in run.out
            # Who comes second finds that the file has changed since it was read, and leaves it alone.
            assert all(b"it has changed since it was read" in line for line in run.err.splitlines()), run.err
    assert "DL999" not in reader.out
    assert "DL000" not in reader.out
    assert check(tmp_path / "code", states) == sum(before != after for before, after in states.values())
    assert leftovers(tmp_path / "code") == []


@pytest.mark.parametrize("arguments", [["."], ["--fix", "."]])
@pytest.mark.skipif(sys.platform != "linux", reason="a look at /proc")
@pytest.mark.parametrize("after", [0.0, 0.7])
def test_interrupted(tmp_path: Path, arguments: list[str], after: float) -> None:
    states = package(tmp_path / "code", 600)
    with processes.started([*COMMAND, *arguments], cwd=tmp_path / "code") as running:
        # Before that, Python is still starting, and Ctrl-C is its own to answer.
        while running.process.poll() is None and b"libcst" not in Path(f"/proc/{running.pid}/maps").read_bytes():
            time.sleep(0.01)
        time.sleep(after)
        running.process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        code = running.wait()
        assert time.perf_counter() - start < 20
        # Python itself, on its way out after the run, is ended by the signal.
        assert code in (130, -signal.SIGINT), running.err
        assert b"Traceback" not in running.err
    check(tmp_path / "code", states)
    assert leftovers(tmp_path / "code") == []


@pytest.mark.parametrize("shape", ["full", "json", "sarif"])
def test_cut_off_by_head(tmp_path: Path, shape: str) -> None:
    (tmp_path / "a.py").write_text(REPORTED.replace("loader =", "x ="))
    for number in range(40):
        (tmp_path / f"b{number}.py").write_text(REPORTED * 5)
    command = f"{' '.join(COMMAND)} --output-format {shape} . | head -n 1"
    done = processes.run(["/bin/sh", "-c", command], cwd=tmp_path)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
