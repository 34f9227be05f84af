"""The command as users run it, for tests: a real process in the current directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BAD = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True, num_workers=0)\n"
ONLY = ("--select", "DL301")


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
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, env={**os.environ, **environment})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def write(name: str, content: str | bytes) -> Path:
    """A file with its folders."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
