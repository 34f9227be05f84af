"""Which files a run looks at. git itself is the judge of `.gitignore`."""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint import Settings, lint_paths
from dataloader_lint.source import gitignore
from dataloader_lint.source.discovery import discover
from dataloader_lint.source.pyproject import ConfigurationError

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge here")


def make(root: Path, *files: str) -> None:
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def files(*paths: str, settings: Settings | None = None) -> list[str]:
    found = discover(paths or (".",), settings or Settings())
    assert not found.missing
    assert not found.unreadable
    return found.files


def test_walks_directories_in_order(tmp_path: Path) -> None:
    make(
        tmp_path, "b.py", "a/z.py", "a/b/c.pyw", "a.py", "notes.txt", "a/data.ipynb", "a/stub.pyi", "B.py", "a/.hid.py"
    )
    expected = ["B.py", "a.py", "a/.hid.py", "a/b/c.pyw", "a/data.ipynb", "a/stub.pyi", "a/z.py", "b.py"]
    assert files() == expected
    assert files("a", ".", "./a/z.py", "a/../a.py", str(tmp_path / "b.py")) == [*expected[:-1], "b.py"]
    assert files(str(tmp_path / "a" / "b")) == [str(tmp_path / "a/b/c.pyw")]
    assert files("notes.txt") == []
    assert files("a//") == ["a/.hid.py", "a/b/c.pyw", "a/data.ipynb", "a/stub.pyi", "a/z.py"]


def test_leaves_common_folders_out_unless_they_are_named(tmp_path: Path) -> None:
    make(
        tmp_path,
        "src/a.py",
        ".venv/b.py",
        "x/node_modules/c.py",
        "build/lib/d.py",
        "env/wrapper.py",
        "my/pyvenv.cfg",
        "my/e.py",
    )
    make(
        tmp_path,
        "lib/site-packages/torch/f.py",
        "x/__pycache__/g.py",
        ".git/hooks/h.py",
        "conda/conda-meta/history",
        "conda/i.py",
    )
    assert files() == ["env/wrapper.py", "src/a.py"]
    assert files("build", "lib/site-packages/torch", "my") == [
        "build/lib/d.py",
        "lib/site-packages/torch/f.py",
        "my/e.py",
    ]


def test_exclusions(tmp_path: Path) -> None:
    make(tmp_path, "src/a.py", "src/a_pb2.py", "src/gen/b.py", "other/gen/c.py", "venv/d.py")

    def left(**chosen: tuple[str, ...]) -> list[str]:
        return files(settings=Settings(**chosen))  # type: ignore[arg-type]

    assert left(extend_exclude=("gen",)) == ["src/a.py", "src/a_pb2.py"]
    assert left(extend_exclude=("gen/",)) == ["src/a.py", "src/a_pb2.py"]
    assert left(extend_exclude=("src/gen", "*_pb2.py")) == ["other/gen/c.py", "src/a.py"]
    assert left(extend_exclude=("./src/gen/", "a[._]*")) == ["other/gen/c.py"]
    assert left(extend_exclude=(str(tmp_path / "src"),)) == ["other/gen/c.py"]
    assert left(extend_exclude=("**/gen",)) == ["src/a.py", "src/a_pb2.py"]
    assert left(exclude=("src",)) == ["other/gen/c.py", "venv/d.py"]
    assert files("src/gen/b.py", settings=Settings(exclude=("*.py",))) == ["src/gen/b.py"]


def test_missing_and_odd_paths_do_not_end_the_search(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "dir.py/b.py")
    os.mkfifo(tmp_path / "fifo.py")
    found = discover(["gone.py", "a.py", "a.py/x", "fifo.py", "nul\0.py", "dir.py", "x" * 5000], Settings())
    assert found.files == ["a.py", "dir.py/b.py"]
    assert found.missing == ["gone.py", "a.py/x"]
    assert [path for path, _ in found.unreadable] == ["fifo.py", "nul\0.py", "x" * 5000]
    assert found.unreadable[0][1] == "it is no regular file"
    assert files() == ["a.py", "dir.py/b.py"]


def test_links(tmp_path: Path) -> None:
    make(tmp_path, "real/a.py")
    (tmp_path / "link.py").symlink_to("real/a.py")
    (tmp_path / "broken.py").symlink_to("gone.py")
    (tmp_path / "circle.py").symlink_to("circle.py")
    (tmp_path / "real" / "up").symlink_to("..")
    assert files() == ["link.py", "real/a.py"]
    assert files("real/up/real") == ["real/up/real/a.py"]
    assert discover(["circle.py"], Settings()).unreadable == [("circle.py", "too many levels of symbolic links")]
    assert discover(["broken.py"], Settings()).missing == ["broken.py"]


def test_a_directory_that_cannot_be_listed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.py", "locked/b.py")
    list_directory = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return list_directory(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = discover(["."], Settings())
    assert found.files == ["a.py"]
    assert found.unreadable == [("locked", "permission denied")]
    (diagnostic,) = lint_paths(["."])
    assert (diagnostic.filename, diagnostic.code) == ("locked", "DL000")
    assert diagnostic.message == "cannot be read: permission denied"


def test_lint_paths_wants_paths_that_exist() -> None:
    with pytest.raises(FileNotFoundError, match=r"gone\.py"):
        lint_paths(["gone.py"])


def test_gitignore_outside_of_a_repository(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "gen/b.py", "sub/gen/c.py", "sub/keep.py", "sub/x.py")
    (tmp_path / ".gitignore").write_text("# made by tools\n/gen/\n*x.py\n\\\n", encoding="utf-8")
    (tmp_path / "sub" / ".gitignore").write_bytes(b"\xef\xbb\xbfgen\r\n!x.py\r\n")
    assert files() == ["a.py", "sub/keep.py", "sub/x.py"]
    assert files("sub") == ["sub/keep.py", "sub/x.py"]


@needs_git
def test_gitignore_above_the_named_directory(tmp_path: Path) -> None:
    processes.run(["git", "init", "-q"], check=True)
    make(tmp_path, "pkg/a.py", "pkg/gen/b.py", "out/pkg/c.py", "out/pkg/gen/d.py", "pkg/local.py", "inner/.git/HEAD")
    make(tmp_path, "inner/gen/e.py")
    (tmp_path / ".gitignore").write_text("gen/\nout/\n", encoding="utf-8")
    (tmp_path / ".git" / "info" / "exclude").write_text("local.py\n", encoding="utf-8")
    assert files() == files("pkg", "inner") == ["inner/gen/e.py", "pkg/a.py"]
    # What is left out itself was asked for by name here, so it is walked.
    assert files("out/pkg") == ["out/pkg/c.py", "out/pkg/gen/d.py"]
    assert files("pkg/gen") == ["pkg/gen/b.py"]


@needs_git
@pytest.mark.parametrize("seed", range(60))
def test_gitignore_means_what_git_means(tmp_path: Path, seed: int) -> None:
    processes.run(["git", "init", "-q"], check=True)
    pick = random.Random(seed)
    names = ["a", "b", "keep", "gen", "x.d"]
    for _ in range(40):
        folder = "/".join(pick.choice(names) for _ in range(pick.randint(0, 3)))
        make(tmp_path, f"{folder}/{pick.choice(names)}_{pick.randint(0, 2)}.py".lstrip("/"))
    patterns = [
        "*", "*.py", "!*.py", "!*/", "a/", "/a", "a/b", "gen", "!keep/", "!gen/", "**/keep", "a/**", "**/b/*.py",
        "/*/gen", "*_1.py", "!a_1.py", "[ab]_*.py", "x.d/*", "!x.d/keep", "gen/ ", "\\!a_0.py", "b_?.py", "",
        "# comment", "/keep/*", "!/keep/a", "a/**/b", "**", "!**/", "[!a]_2.py", "!", "/", "keep/gen/", "!b/**",
    ]  # fmt: skip
    folders = [tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir() and ".git" not in path.parts)]
    for folder in pick.sample(folders, min(3, len(folders))):
        chosen = pick.sample(patterns, pick.randint(1, 5))
        (folder / ".gitignore").write_text("\n".join(chosen) + "\n", encoding="utf-8")
    listed = processes.run(["git", "ls-files", "--others", "--exclude-standard", "-z", "*.py"], check=True)
    assert files() == sorted(filter(None, listed.stdout.split("\0")))


@needs_git
@pytest.mark.parametrize("seed", range(8))
def test_any_pattern_means_what_git_means(tmp_path: Path, seed: int) -> None:
    processes.run(["git", "init", "-q"], check=True)
    pick = random.Random(seed)
    signs = ["a", "b", "c", "-", "]", "^", ".", "x", "\\", "[", "\xe9", " ", "0", "~"]
    pieces = [
        "*",
        "**",
        "?",
        "a",
        "b",
        "/",
        "**/",
        "/**/",
        "/**",
        "[ab]",
        "[!a]",
        "[a-c]",
        "[^b]",
        "[]a]",
        "[a-]",
        "[--0]",
        "[[:alpha:]]",
        "[![:digit:]]",
        "[[:no:]]",
        "[a",
        "[[:a]",
        "[b-a]",
        "[\\]]",
        "[]-c]",
        "\\a",
        "\\*",
        "\\",
        "-",
        "]",
        ".",
        "x",
        "*a",
        "a*",
        "!",
        "***",
        "**\\/",
        "[!]",
        "é",
        "[é]",
        "[a-é]",
        "[[a]",
        "[[:alpha:]-z]",
        "#",
        "[/]",
        "[.-0]",
    ]
    for _ in range(30):
        pattern = "".join(pick.choice(pieces) for _ in range(pick.randint(1, 6)))
        names = ["".join(pick.choices(signs, k=pick.randint(1, 3))) for _ in range(80)]
        names = [name for name in names if name.strip(".")]
        paths = {"/".join(pick.choices(names, k=pick.randint(1, 4))) for _ in range(60)}
        (tmp_path / ".gitignore").write_text(f"{pattern}\n", encoding="utf-8")
        listed = processes.run_bytes(
            ["git", "check-ignore", "--no-index", "-z", "--stdin"], input="\0".join(paths).encode()
        )
        layers = (("/r", gitignore.parse(f"{pattern}\n".encode())),)
        found = set()
        for path in paths:
            parts = path.split("/")
            above = ["/r/" + "/".join(parts[:end]) for end in range(1, len(parts) + 1)]
            if any(gitignore.ignored(layers, each, each != above[-1]) for each in above):
                found.add(path)
        assert (pattern, found) == (pattern, {each.decode() for each in listed.stdout.split(b"\0") if each})


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "*b", "a" * 250),
        ("?*" * 60 + "x", "a" * 250),
        ("/**/a" * 40 + "/**/b", "a/" * 2_000 + "a"),
        ("**/" + "a*/" * 50 + "b", "aaa/" * 1_000 + "a"),
    ],
)
def test_stars_do_not_multiply(pattern: str, path: str) -> None:
    start = time.thread_time()
    assert not gitignore.ignored((("/r", gitignore.parse(pattern.encode())),), f"/r/{path}", False)
    assert time.thread_time() - start < 1


def test_an_endless_gitignore_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"*a*\n" * 100_000)
    with pytest.raises(ConfigurationError, match=r"\.gitignore: cannot be read: it is longer than 250,000 bytes"):
        files()


def test_a_gitignore_that_is_a_pipe_is_passed_over(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    os.mkfifo(tmp_path / ".gitignore")
    assert files() == ["a.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes")
def test_names_that_are_no_text(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.py")).write_bytes(b"")
    (tmp_path / ".gitignore").write_bytes(b"*.txt\n\xff\n")
    assert [os.fsencode(file) for file in files()] == [b"caf\xe9.py"]
