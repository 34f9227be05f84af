"""`--watch`: a real process that sees files change."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks import processes
from commands import BAD, ONLY, here, run, write

__all__ = ["here"]

pytestmark = pytest.mark.usefixtures("here")
PATIENCE = 60  # seconds that a busy machine may take
WAITING = "Watching for changes; press Ctrl-C to end."


@dataclass(frozen=True, slots=True)
class Watched:
    """A watching process and the lines that it prints."""

    running: processes.Running

    def report(self) -> list[str]:
        """The lines of the next round."""
        return list(iter(lambda: self.running.next_line(PATIENCE), WAITING))


@contextmanager
def watching(*arguments: str) -> Iterator[Watched]:
    command = [sys.executable, "-m", "dataloader_lint", "--watch", "--output-format", "concise", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with processes.started(command, env=environment, stderr=subprocess.STDOUT) as running:
        yield Watched(running)
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(PATIENCE) == 130


def test_it_lints_again_when_a_file_changes() -> None:
    write("src/a.py", "")
    with watching(*ONLY, "src") as watched:
        assert watched.report() == ["All checks passed! 1 file, no DataLoader or Dataset in it."]
        write("src/a.py", BAD)
        first, *_ = watched.report()
        assert first.startswith("src/a.py:3:10: DL301 ")
        write("src/new.py", BAD)
        assert [line.split(":")[0] for line in watched.report()[:2]] == ["src/a.py", "src/new.py"]
        Path("src/a.py").unlink()
        assert [line.split(":")[0] for line in watched.report()[:2]] == ["src/new.py", "Found 1 problem"]
        write("src/.venv/b.py", BAD)  # a folder that is left out, and a file that is no source
        write("src/note.txt", "")
        write("src/new.py", "")
        assert watched.report() == ["All checks passed! 1 file, no DataLoader or Dataset in it."]


def test_settings_are_read_again_and_may_be_wrong_for_a_while() -> None:
    write("a.py", BAD)
    with watching(".") as watched:
        assert any("DL301" in line for line in watched.report())
        write("pyproject.toml", "[tool.dataloader-lint]\nignore = [\n")
        write("b.py", "")
        write("pyproject.toml", '[tool.dataloader-lint]\nignore = ["DL"]\n')
        lines = watched.report()
        assert lines[-1] == "All checks passed!"


def test_a_single_file_that_an_editor_replaces() -> None:
    write("a.py", "")
    with watching(*ONLY, "a.py") as watched:
        assert watched.report() == ["All checks passed! 1 file, no DataLoader or Dataset in it."]
        write("other.py", BAD)
        write("new", BAD)
        Path("new").replace("a.py")
        first, *_ = watched.report()
        assert first.startswith("a.py:3:10: DL301 ")


def test_paths_must_exist() -> None:
    assert run("--watch", "gone") == (2, "", "dataloader-lint: no such file or directory: gone\n")
