"""A file that is fixed holds its old content or its new one, whatever happens."""

from __future__ import annotations

import errno
import os
import stat
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from benchmarks import processes
from commands import BAD, ONLY, here, run
from dataloader_lint.source import writing
from dataloader_lint.source.writing import write_atomically

__all__ = ["here"]

ROOT = Path(__file__).parent.parent
linux = pytest.mark.skipif(sys.platform != "linux", reason="extended attributes and /proc of Linux")


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


@pytest.mark.parametrize("broken", ["fsync", "replace", "chmod", "lstat"])
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


# What else may be at, or come to, the path of a file


@pytest.mark.usefixtures("here")
def test_a_hard_link_is_refused_in_one_line() -> None:
    Path("a.py").write_text(BAD)
    Path("b.txt").hardlink_to("a.py")
    code, _, err = run(*ONLY, "--fix", "a.py")
    assert (code, err) == (
        2,
        "dataloader-lint: a.py: cannot be written: it has other hard links, which would keep the old content\n",
    )
    assert Path("a.py").read_text() == Path("b.txt").read_text() == BAD
    assert Path("a.py").samefile("b.txt")
    Path("b.txt").unlink()
    assert run(*ONLY, "--fix", "a.py")[0] == 0
    assert sorted(each.name for each in Path().iterdir() if each.suffix) == ["a.py"]


def becomes_a_link(path: Path) -> None:
    other = path.with_name("other.py")
    path.rename(other)
    path.symlink_to(other)


def becomes_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def becomes_another_file(path: Path) -> None:
    path.with_name("new").write_bytes(path.read_bytes())
    path.with_name("new").replace(path)


def gets_a_hard_link(path: Path) -> None:
    path.with_name("other.py").hardlink_to(path)


@pytest.mark.parametrize(
    "change", [becomes_a_link, becomes_a_folder, becomes_another_file, gets_a_hard_link, Path.unlink]
)
def test_what_comes_to_its_place_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    synced = os.fsync

    def change_then_sync(handle: int) -> None:
        monkeypatch.undo()
        change(path)
        synced(handle)

    monkeypatch.setattr(os, "fsync", change_then_sync)
    with pytest.raises(OSError, match=r"it has changed|No such file"):
        write_atomically(str(path), b"new", b"old")
    assert not list(tmp_path.glob(".*"))
    assert {each.read_bytes() for each in tmp_path.iterdir() if each.is_file()} <= {b"old"}


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "a.py"
    make(path)
    with pytest.raises(OSError, match="it is no regular file"):
        write_atomically(str(path), b"new")


def test_only_leftovers_of_our_own_are_cleared(tmp_path: Path) -> None:
    path, victim = tmp_path / "a.py", tmp_path / "victim"
    path.write_bytes(b"old")
    victim.write_bytes(b"kept")
    ours = ".a.py.dataloader-lint-{}.tmp"
    (tmp_path / ours.format("11111111")).symlink_to(victim)
    os.mkfifo(tmp_path / ours.format("22222222"))  # to open it would wait for a writer
    (tmp_path / ours.format("33333333")).mkdir()
    (tmp_path / ours.format("44444444")).write_bytes(b"half of it")
    (tmp_path / ".a.py.backup01.tmp").write_bytes(b"of a user")
    before = {each.name for each in tmp_path.iterdir()}
    write_atomically(str(path), b"new")
    assert {each.name for each in tmp_path.iterdir()} == before - {ours.format("44444444")}
    assert victim.read_bytes() == b"kept"


# What a file has besides its content


def access_list(*entries: tuple[int, int, int]) -> bytes:
    """An access control list as Linux keeps it: tag, permissions and user or group of each entry."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NOBODY = 0xFFFFFFFF
READABLE_BY_USER_1234 = access_list((1, 6, NOBODY), (2, 4, 1234), (4, 4, NOBODY), (16, 6, NOBODY), (32, 4, NOBODY))


def set_attribute(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            pytest.skip("this file system has no such attributes")
        raise


def attributes(path: Path) -> dict[str, bytes]:
    return {name: os.getxattr(path, name) for name in os.listxattr(path)}


@linux
def test_extended_attributes_and_access_lists_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o640)
    set_attribute(path, "user.origin", b"https://example.org")
    set_attribute(path, "user.empty", b"")
    set_attribute(path, "system.posix_acl_access", READABLE_BY_USER_1234)
    before, mode = attributes(path), stat.S_IMODE(path.stat().st_mode)
    write_atomically(str(path), b"new")
    assert attributes(path) == before
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


@linux
def test_the_access_list_of_the_folder_is_not_taken_over(tmp_path: Path) -> None:
    """A folder may have one for all files that are made in it; the file was there before."""
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o600)
    set_attribute(tmp_path, "system.posix_acl_default", READABLE_BY_USER_1234)
    write_atomically(str(path), b"new")
    assert attributes(path) == {}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@linux
def test_a_file_whose_attributes_would_get_lost_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    set_attribute(path, "user.origin", b"x")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "setxattr", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.py"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_the_owner_stays_or_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    path.chmod(0o4751)
    write_atomically(str(path), b"new")
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 2345, 0o4751)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    with pytest.raises(PermissionError, match="its owner or group would change"):
        write_atomically(str(path), b"newer")
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["a.py"]


# Whatever fails, and wherever it ends


def at_line(number: int, act: Callable[[], None]) -> list[int]:
    """Call `act` when so many lines of `writing` have run; the list counts them."""
    count = [0]

    def watch(frame: FrameType, event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename != writing.__file__:
            return None
        if event == "line":
            count[0] += 1
            if count[0] == number:
                act()
        return watch

    sys.settrace(watch)
    return count


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), MemoryError()]
)
def test_an_error_at_any_line_leaves_the_old_file_or_the_new_one(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "a.py"
    number, written, before = 0, 0, sys.gettrace()

    def fail() -> None:
        raise error

    while True:
        number += 1
        path.write_bytes(b"old")
        handles = len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0
        count = at_line(number, fail)
        try:
            write_atomically(str(path), b"new", b"old")
        except type(error):
            pass
        finally:
            sys.settrace(before)
        content = path.read_bytes()
        assert content in (b"old", b"new"), number
        written += content == b"new"
        left = [each for each in tmp_path.iterdir() if each != path]
        assert len(left) <= 1, number  # between its creation and the block that guards it
        if count[0] < number:
            break
        write_atomically(str(path), b"newer")
        if sys.platform == "linux":
            assert len(list(Path("/proc/self/fd").iterdir())) <= handles + 2, number
        assert [each.name for each in tmp_path.iterdir()] == ["a.py"], number
    assert number > 50 and written > 3


@linux
def test_killed_before_any_line_it_is_whole_and_the_next_run_clears(tmp_path: Path) -> None:
    script = f"""
import os, signal, sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from test_writing import at_line
from dataloader_lint.source.writing import write_atomically
path, number, ended, left = sys.argv[1], 0, False, 0
folder = os.path.dirname(path)
while not ended:
    number += 1
    open(path, "wb").write(b"old" * 1000)
    child = os.fork()
    if child == 0:
        at_line(number, lambda: os.kill(os.getpid(), signal.SIGKILL))
        write_atomically(path, b"new" * 1000)
        os._exit(0)
    ended = os.waitpid(child, 0)[1] == 0
    assert open(path, "rb").read() in (b"old" * 1000, b"new" * 1000), number
    left += len(os.listdir(folder)) > 1
    write_atomically(path, b"newer")
    assert os.listdir(folder) == ["a.py"], (number, os.listdir(folder))
print(number, left)
"""
    done = processes.run([sys.executable, "-c", script, str(tmp_path / "a.py")], check=True)
    number, left = map(int, done.stdout.split())
    assert number > 50 and left > 10
