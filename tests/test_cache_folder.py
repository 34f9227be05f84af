"""The cache follows no link, deletes nothing that is not its own, and never makes a run fail or wait."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dataloader_lint.cache import folder as cache_folder
from dataloader_lint.cache.folder import MAX_AGE, TAG, Folder, UnusableError
from reliability.commands import Done, concise

pytestmark = [pytest.mark.skipif(sys.platform == "win32", reason="links, named pipes"), pytest.mark.thorough]

OLD = time.time() - 2 * MAX_AGE
STORE = "0123456789abcdef" * 2 + "01234567.json"
# Names as programs give them to files that a user would miss.
PRECIOUS = (
    "settings.json",
    "results.2026999",
    "data.1",
    "app.log.31",
    STORE,
    f"{STORE}.2026999",
    "CACHEDIR.TAG.2026999",
)


def _fill(folder: Path) -> dict[str, bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    for name in PRECIOUS:
        (folder / name).write_text(name)
        os.utime(folder / name, (OLD, OLD))
    return _content(folder)


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    home = tmp_path / "project"
    home.mkdir()
    (home / "pyproject.toml").touch()
    (home / "a.py").write_text("from torch.utils.data import DataLoader\n\nDataLoader(x, persistent_workers=True)\n")
    return home


def _fine(done: Done, warning: str = "") -> None:
    """The finding is there, and one line says what is wrong with the cache."""
    assert (done.code, done.codes) == (1, ["DL301"])
    lines = done.err.splitlines()
    assert len(lines) == (1 if warning else 0), done.err
    assert all(warning in line and line.startswith("dataloader-lint: warning: ") for line in lines)


def test_a_link_in_place_of_the_folder_is_refused(project: Path, tmp_path: Path) -> None:
    before = _fill(tmp_path / "victim")
    (project / ".dataloader_lint_cache").symlink_to("../victim")
    _fine(concise(".", folder=project), "is a symbolic link")
    assert _content(tmp_path / "victim") == before


@pytest.mark.parametrize("spelling", ["link", "link/", "link/.", "./link", "{}/link"])
def test_a_link_that_is_named_is_refused(project: Path, tmp_path: Path, spelling: str) -> None:
    before = _fill(tmp_path / "victim")
    (project / "link").symlink_to(tmp_path / "victim")
    _fine(concise(".", "--cache-dir", spelling.format(project), folder=project), "is a symbolic link")
    assert _content(tmp_path / "victim") == before


def test_a_link_above_the_named_folder_is_the_choice_of_the_user(project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / "link").symlink_to(tmp_path / "elsewhere")
    _fine(concise(".", "--cache-dir", "link/kept", folder=project))
    assert (tmp_path / "elsewhere" / "kept" / "CACHEDIR.TAG").read_bytes() == TAG


@pytest.mark.parametrize("tag", [b"", b"Signature: 8a477f597d28d172789f06886806bc55\n", TAG + b"\n", None])
@pytest.mark.parametrize("option", [(), ("--cache-dir", "kept")])
def test_a_folder_of_somebody_else_is_left_alone(project: Path, tag: bytes | None, option: tuple[str, ...]) -> None:
    folder = project / (option[1] if option else ".dataloader_lint_cache")
    before = _fill(folder)
    if tag is not None:
        (folder / "CACHEDIR.TAG").write_bytes(tag)
        before["CACHEDIR.TAG"] = tag
    _fine(concise(".", *option, folder=project), "was not made by dataloader-lint")
    assert _content(folder) == before


def test_a_tag_that_is_a_link_is_none(project: Path, tmp_path: Path) -> None:
    before = _fill(project / ".dataloader_lint_cache")
    (tmp_path / "tag").write_bytes(TAG)
    (project / ".dataloader_lint_cache" / "CACHEDIR.TAG").symlink_to(tmp_path / "tag")
    _fine(concise(".", folder=project), "was not made by dataloader-lint")
    assert _content(project / ".dataloader_lint_cache") == {**before, "CACHEDIR.TAG": TAG}


def test_the_working_directory_is_not_taken_for_a_cache(project: Path) -> None:
    _fine(concise(".", "--cache-dir", ".", folder=project), "was not made by dataloader-lint")
    assert sorted(_content(project)) == ["a.py", "pyproject.toml"]


def test_only_names_that_are_ours_are_deleted(project: Path) -> None:
    folder = project / ".dataloader_lint_cache"
    _fill(folder)
    (folder / "CACHEDIR.TAG").write_bytes(TAG)
    (folder / ("f" * 40 + ".json")).symlink_to("settings.json")
    os.utime(folder / ("f" * 40 + ".json"), (OLD, OLD), follow_symlinks=False)
    _fine(concise(".", folder=project))
    ours = {STORE, f"{STORE}.2026999", "CACHEDIR.TAG.2026999"}
    left = {path.name for path in folder.iterdir()}
    assert set(PRECIOUS) - left == ours
    assert "f" * 40 + ".json" not in left


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link_to_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _huge(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(cache_folder.MAX_BYTES + 1)


def _link_elsewhere(path: Path) -> None:
    path.symlink_to(path.parent.parent / "a.py")


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").touch()


@pytest.mark.parametrize("make", [_pipe, _link_to_zeros, _huge, _link_elsewhere, _folder])
def test_a_store_that_is_no_plain_file_is_ignored_with_a_word(project: Path, make: Callable[[Path], None]) -> None:
    _fine(concise(".", folder=project))
    (store,) = (project / ".dataloader_lint_cache").glob("*.json")
    before = (project / "a.py").read_bytes()
    store.unlink()
    make(store)
    _fine(concise(".", folder=project, seconds=60), "is not a regular file" if make is not _huge else "is larger than")
    assert (project / "a.py").read_bytes() == before
    if make is not _folder:
        assert store.is_file() and not store.is_symlink()
        _fine(concise(".", folder=project))


@pytest.mark.parametrize("make", [_pipe, _link_to_zeros, _huge])
def test_a_tag_that_is_no_plain_file_makes_no_run_wait(project: Path, make: Callable[[Path], None]) -> None:
    _fine(concise(".", folder=project))
    tag = project / ".dataloader_lint_cache" / "CACHEDIR.TAG"
    tag.unlink()
    make(tag)
    _fine(concise(".", folder=project, seconds=60), "was not made by dataloader-lint")


@pytest.mark.parametrize("make", [_pipe, _link_to_zeros, lambda path: path.write_text("a file")])
def test_the_folder_may_be_anything(project: Path, make: Callable[[Path], None]) -> None:
    make(project / ".dataloader_lint_cache")
    _fine(concise(".", folder=project, seconds=60), "symbolic link" if make is _link_to_zeros else "is not a folder")


def test_the_folder_may_be_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("kept")
        with pytest.raises(UnusableError, match="is not a folder"):
            Folder("kept", make=True)


def test_an_empty_folder_that_was_opened_to_be_read_is_ours_once_it_holds_something(tmp_path: Path) -> None:
    with Folder(str(tmp_path)) as folder:
        assert folder.read(STORE) is None
        folder.write(STORE, b"{}")
    with Folder(str(tmp_path)) as folder:
        assert folder.read(STORE) == b"{}"


def test_a_temporary_file_planted_for_this_process_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    with Folder(str(tmp_path / "kept"), make=True) as folder:
        (tmp_path / "kept" / f"{STORE}.{os.getpid()}").symlink_to(tmp_path / "precious")
        folder.write(STORE, b"new")
        assert folder.read(STORE) == b"new"
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_link_put_in_place_of_an_open_folder_changes_nothing(tmp_path: Path) -> None:
    """The race that a check by name would lose."""
    before = _fill(tmp_path / "victim")
    with Folder(str(tmp_path / "kept"), make=True) as folder:
        (tmp_path / "kept").rename(tmp_path / "moved")
        (tmp_path / "kept").symlink_to(tmp_path / "victim")
        folder.write(STORE, b"new")
    assert _content(tmp_path / "victim") == before
    assert (tmp_path / "moved" / STORE).read_bytes() == b"new"


def test_without_descriptors_of_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    monkeypatch.setattr(cache_folder, "_HAS_DESCRIPTORS", False)
    with Folder(str(tmp_path / "kept"), make=True) as folder:
        assert folder.read(STORE) is None
        folder.write(STORE, b"new")
        folder.write(STORE, b"newer")
        assert folder.read(STORE) == b"newer"
        (tmp_path / "kept" / STORE).unlink()
        (tmp_path / "kept" / STORE).symlink_to("/dev/zero")
        with pytest.raises(UnusableError):
            folder.read(STORE)
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {".gitignore", "CACHEDIR.TAG", STORE}
    (tmp_path / "link").symlink_to("kept")
    with pytest.raises(UnusableError, match="symbolic link"):
        Folder(str(tmp_path / "link"), make=True)


def test_a_run_that_was_killed_while_it_made_the_folder_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "CACHEDIR.TAG.2026999").write_text("Sig")
    with Folder(str(tmp_path / "kept"), make=True):
        assert (tmp_path / "kept" / "CACHEDIR.TAG").read_bytes() == TAG
