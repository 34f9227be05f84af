"""Runs the command line in a process of its own, with a limit on its time and a look at its memory."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks import processes

COMMAND = (sys.executable, "-m", "dataloader_lint")

# Linux counts the memory that a process held when it forked as its child's: so a small one starts the command, not the
# long test run.
STARTER = """
import os, sys
_, status, used = os.wait4(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ), 0)
os.write(int(sys.argv[1]), f"{status} {used.ru_maxrss}".encode())
"""

REPORTED = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True)\n"
"""What DL301 reports in its third line, and repairs."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a run came to. `code` is negative for a signal that ended it; `megabytes` is the most memory it held."""

    code: int
    out: str
    err: str
    seconds: float
    megabytes: int

    @property
    def codes(self) -> list[str]:
        """The codes of the findings of a concise report, in its order."""
        return [line.split(": ")[1].split()[0] for line in self.out.splitlines() if ": DL" in line]

    def about(self, name: str) -> list[str]:
        """The lines of a concise report on one file."""
        return [line for line in self.out.splitlines() if line.startswith(f"{name}:")]


def lint(*arguments: str, folder: Path, seconds: float = 120) -> Done:
    """Run the command in a folder. Raises TimeoutError, and ends the process, where it takes longer than it may."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as came_to:
        handle = came_to.fileno()
        done = processes.run(
            [sys.executable, "-I", "-S", "-c", STARTER, str(handle), *COMMAND, *arguments],
            cwd=folder,
            pass_fds=[handle],
            seconds=seconds,
        )
        came_to.seek(0)
        status, kibibytes = map(int, came_to.read().split())
    took = time.perf_counter() - start
    return Done(os.waitstatus_to_exitcode(status), done.stdout, done.stderr, took, kibibytes // 1024)


def concise(*arguments: str, folder: Path, seconds: float = 120) -> Done:
    """As `lint`, with one line for each finding."""
    return lint("--output-format", "concise", *arguments, folder=folder, seconds=seconds)
