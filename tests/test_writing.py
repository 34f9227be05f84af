"""A file that is fixed holds its old content or its new one, whatever happens."""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint.source.writing import write_atomically

ROOT = Path(__file__).parent.parent


def test_content_changes_and_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o751)
    write_atomically(str(path), b"new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert [each.name for each in tmp_path.iterdir()] == ["a.py"]


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "real.py"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link = tmp_path / "link.py"
    link.symlink_to(Path("elsewhere") / "real.py")
    write_atomically(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert [each.name for each in target.parent.iterdir()] == ["real.py"]


@pytest.mark.parametrize("broken", ["fsync", "replace", "chmod"])
def test_nothing_is_left_behind_when_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises(OSError, match="No space"):
        write_atomically(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.py"]


def test_a_read_only_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        write_atomically(str(path), b"new")
    assert path.read_bytes() == b"old"


def test_a_file_that_is_gone_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(str(tmp_path / "gone.py"), b"new")
    assert list(tmp_path.iterdir()) == []


def test_killed_at_any_moment_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    contents = [letter * 300_000 for letter in (b"a", b"b")]
    path.write_bytes(contents[0])
    loop = (
        "import sys; from dataloader_lint.source.writing import write_atomically\n"
        "print(flush=True)\n"
        "while True:\n"
        "    for letter in (b'b', b'a'):\n"
        "        write_atomically(sys.argv[1], letter * 300_000)\n"
    )
    for round_ in range(8):
        command = [sys.executable, "-c", loop, str(path)]
        with processes.started(command, cwd=ROOT) as writer:
            writer.next_line()
            time.sleep(0.003 * (round_ + 1))
            writer.kill()
        assert path.read_bytes() in contents
