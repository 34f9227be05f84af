"""The command as users run it, for tests: a real process in the current directory."""

from __future__ import annotations

import os
import pty
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from benchmarks import processes

ROOT = Path(__file__).parent.parent
BAD = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True, num_workers=0)\n"
ONLY = ("--select", "DL301")

LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def here(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, with nothing in the environment that changes what the command says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.getbasetemp() / "pycache"))
    for name in ("NO_COLOR", "FORCE_COLOR", "PYTHONDONTWRITEBYTECODE", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(*arguments: str, stdin: bytes | None = None, **environment: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    command = [sys.executable, "-m", "dataloader_lint", *arguments]
    done = processes.run_bytes(command, input=stdin, env={**os.environ, **environment})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def limited(size: int, command: Sequence[str]) -> list[str]:
    """A command that cannot write files of more bytes, as if the disk were full."""
    return [sys.executable, "-S", "-c", LIMITED, str(size), *command]


@contextmanager
def terminal() -> Iterator[tuple[int, bytearray]]:
    """A terminal's handle, and what is written to it; that is all there at the end of the block."""
    reader, writer = pty.openpty()
    shown = bytearray()

    def read() -> None:
        with suppress(OSError):  # every other end is closed
            while part := os.read(reader, 10_000):
                shown.extend(part)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield writer, shown
    finally:
        os.close(writer)
        thread.join(10)
        os.close(reader)


def write(name: str, content: str | bytes) -> Path:
    """A file with its folders."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
