"""Input that is meant to break things: a diagnostic or a skip that is said, and everything else is still linted."""

from __future__ import annotations

import builtins
import codecs
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import processes
from commands import limited
from dataloader_lint import lint_paths, lint_source
from dataloader_lint.semantics import limits
from dataloader_lint.source.writing import write_atomically
from reliability.commands import COMMAND, REPORTED, concise

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and limits of POSIX")

AT_ONCE = 60  # seconds; an idle machine needs one or two for each of these, a busy one much longer


def codes(source: bytes) -> list[tuple[str, int]]:
    return [(found.code, found.start.line) for found in lint_source(source, "/nonexistent/a.py")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one file that DL301 reports, whatever else comes into it."""
    (tmp_path / "fine.py").write_text(REPORTED)
    return tmp_path


def said(folder: Path, name: str) -> str:
    """What the run says about a file of the folder, on either stream; the file beside it must have been linted."""
    done = concise(".", folder=folder, seconds=AT_ONCE)
    assert done.code == 1, done
    assert [line for line in done.about("fine.py") if "DL301" in line], done
    assert done.megabytes < 400, done.megabytes
    return "\n".join([*done.about(name), *(line for line in done.err.splitlines() if name in line)])


# Size and depth


def test_a_file_of_20_megabytes_is_left_out_with_a_word(folder: Path) -> None:
    (folder / "huge.py").write_text(REPORTED + "a = 1\n" * 3_500_000)
    assert "DL000 this file is longer than 1,500,000 characters" in said(folder, "huge.py")


def test_a_file_of_20_megabytes_that_cannot_matter_is_no_matter(folder: Path) -> None:
    (folder / "huge.py").write_text("a = 1\n" * 3_500_000)
    assert said(folder, "huge.py") == ""


def test_a_hundred_thousand_sites_end(folder: Path) -> None:
    (folder / "many.py").write_text(REPORTED + "loader = DataLoader(data, persistent_workers=True)\n" * 100_000)
    assert "DL000" in said(folder, "many.py")


def test_a_file_that_takes_too_long_ends_in_a_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS_PER_FILE", 0.05)
    many = "".join(
        f"def f{i}(d):\n    for b in DataLoader(d, num_workers=f{i}(d)):\n        b.to(d)\n" for i in range(300)
    )
    assert codes(f"{REPORTED}{many}".encode()) == [("DL000", 1)]


def test_what_takes_too_long_does_not_spoil_the_files_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(REPORTED * 300)
    (tmp_path / "b.py").write_text(f"from a import loader\n{REPORTED}")
    clock = iter([0.0, *[1e9] * 300])  # the first file is late at once, the others never
    monkeypatch.setattr("time.thread_time", lambda: next(clock, 0.0))
    monkeypatch.setattr(limits, "SECONDS_PER_FILE", 1e8)
    found = lint_paths([tmp_path])
    assert [(Path(one.filename).name, one.code) for one in found] == [("a.py", "DL000"), ("b.py", "DL301")]


NESTS: dict[str, Callable[[int], str]] = {
    "additions": lambda n: "1" + " + 1" * n,
    "attributes": lambda n: "a" + ".b" * n,
    "calls": lambda n: "f" + "()" * n,
    "nested calls": lambda n: "f(" * n + ")" * n,
    "subscripts": lambda n: "a" + "[0]" * n,
    "brackets": lambda n: "(" * n + ")" * n,
    "lists": lambda n: "[" * n + "]" * n,
    "dicts": lambda n: "{1: " * n + "1" + "}" * n,
    "lambdas": lambda n: "lambda: " * n + "1",
    "negations": lambda n: "not " * n + "a",
    "signs": lambda n: "-" * n + "1",
    "conditions": lambda n: "a if b else " * n + "c",
    "comparisons": lambda n: "a" + " < a" * n,
    "conjunctions": lambda n: "a" + " and a" * n,
    "powers": lambda n: "2" + " ** 2" * n,
    "strings": lambda n: '"a" ' * n,
    "comprehensions": lambda n: "[" * n + "1" + " for a in b]" * n,
}
BLOCKS: dict[str, Callable[[int], str]] = {
    "elifs": lambda n: "if a:\n    pass\n" + "elif a:\n    pass\n" * n,
    "functions": lambda n: "".join(f"{' ' * i}def f():\n" for i in range(n)) + " " * n + "pass\n",
    "loops": lambda n: "".join(f"{' ' * i}for a in b:\n" for i in range(n)) + " " * n + "pass\n",
}


@pytest.mark.parametrize("depth", [90, 700, 5_000, 12_000])
def test_depth(tmp_path: Path, depth: int) -> None:
    """LibCST's native parser overflows the stack at some depth, which would end the whole run."""
    (tmp_path / "fine.py").write_text(REPORTED)
    for name, nest in NESTS.items():
        text = nest(depth)
        code = f"{REPORTED}value = {text}\nDataLoader(data, num_workers={text}, prefetch_factor={text})\n"
        (tmp_path / f"{name}.py").write_text(code)
    for name, block in BLOCKS.items():
        (tmp_path / f"{name}.py").write_text(f"{REPORTED}{block(min(depth, 1_000))}")
    done = concise(".", folder=tmp_path, seconds=300)
    assert done.code == 1, (done.code, done.err)
    assert "DL999" not in done.out
    assert done.about("fine.py")
    for name in (*NESTS, *BLOCKS):
        [*lines] = done.about(f"{name}.py")
        assert any("DL301" in line for line in lines) or [line for line in lines if "DL000" in line] == lines != [], (
            name
        )


@pytest.mark.parametrize("name", ["additions", "conjunctions", "attributes", "conditions"])
def test_deep_code_is_repaired_like_any_other(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.py"
    path.write_text(f"{REPORTED}value = {NESTS[name](700)}\n")
    done = concise("--fix", "a.py", folder=tmp_path, seconds=AT_ONCE)
    assert done.code == 0, done
    assert "persistent_workers" not in path.read_text()


def test_a_line_of_a_million_characters(folder: Path) -> None:
    long = REPORTED.replace("data,", f"['{'x' * 1_000_000}'],")
    (folder / "long.py").write_text(long)
    assert "long.py:3:10: DL301" in said(folder, "long.py")
    done = processes.run([*COMMAND, "long.py"], cwd=folder, seconds=AT_ONCE)
    assert "DL301" in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 400


# Encodings and layout


def test_nul_bytes() -> None:
    assert codes(REPORTED.encode() + b"\0") == [("DL000", 4)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_what_python_cannot_read(encoding: str) -> None:
    assert codes(REPORTED.encode(encoding)) == [("DL000", 1)]


def test_a_byte_order_mark() -> None:
    assert codes(codecs.BOM_UTF8 + REPORTED.encode()) == [("DL301", 3)]


def test_mixed_newlines_form_feeds_and_tabs() -> None:
    text = "import torch\r\nfrom torch.utils.data import DataLoader\r\x0c\ndef f(data):\r\n\tif data:\n\t\tpass\r"
    assert codes(f"{text}\treturn DataLoader(data, persistent_workers=True)\r\n".encode()) == [("DL301", 7)]


@pytest.mark.parametrize("cookie", ["latin-1", "cp1252", "iso8859-15", "shift_jis", "koi8-r"])
def test_declared_encodings(cookie: str) -> None:
    letter = {"shift_jis": "表", "koi8-r": "ж"}.get(cookie, "é")
    source = f"# -*- coding: {cookie} -*-\nname = '{letter}'\n{REPORTED}".encode(cookie)
    assert codes(source) == [("DL301", 5)]


@pytest.mark.parametrize("cookie", [b"no-such-encoding", b"rot13", b"hex", b"idna", b"undefined", b"utf-7", b"base64"])
def test_encodings_that_are_none(cookie: bytes) -> None:
    found = codes(b"# coding: " + cookie + b"\n" + REPORTED.encode())
    assert [code for code, _ in found] in (["DL000"], ["DL301"])


def test_bytes_that_are_not_what_was_declared() -> None:
    assert codes(b"name = '\xff'\n" + REPORTED.encode()) == [("DL000", 1)]


def test_names_in_unicode() -> None:
    source = REPORTED.replace("loader", "загрузчик").replace("data,", "データ,").encode()
    assert codes(source) == [("DL301", 3)]


# What lies about in folders


def test_a_directory_called_like_a_file(folder: Path) -> None:
    (folder / "package.py").mkdir()
    (folder / "package.py" / "inner.py").write_text(REPORTED)
    assert "DL301" in said(folder, "package.py/inner.py")


def test_a_pipe_is_left_out_with_a_word(folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")
    (folder / "user.py").write_text("import pipe\nfrom torch.utils.data import DataLoader\nDataLoader(pipe.data)\n")
    assert said(folder, "pipe.py") == "dataloader-lint: warning: pipe.py is skipped: it is no regular file"
    done = concise("pipe.py", folder=folder, seconds=AT_ONCE)
    assert done.codes == ["DL000"]


def test_a_device_is_left_out_with_a_word(folder: Path) -> None:
    (folder / "zero.py").symlink_to("/dev/zero")
    assert "is skipped: it is no regular file" in said(folder, "zero.py")
    assert concise("/dev/zero", folder=folder, seconds=AT_ONCE).codes == ["DL000"]


def test_links_that_lead_nowhere_or_in_circles(folder: Path) -> None:
    (folder / "broken.py").symlink_to("gone.py")
    (folder / "round.py").symlink_to("about.py")
    (folder / "about.py").symlink_to("round.py")
    (folder / "loop").symlink_to(".")
    assert "broken.py is skipped: the link leads nowhere" in said(folder, "broken.py")
    assert "round.py is skipped" in said(folder, "round.py")


def test_links_out_of_the_tree_are_left_out_with_a_word(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(REPORTED)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "fine.py").write_text(REPORTED)
    (folder / "link.py").symlink_to("../outside.py")
    assert "link.py is skipped: the link leads out of the folder" in said(folder, "link.py")
    assert concise("--fix", ".", folder=folder, seconds=AT_ONCE).code == 0
    assert outside.read_text() == REPORTED
    assert "persistent_workers" not in (folder / "fine.py").read_text()


def test_an_unreadable_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "secret.py").write_text(REPORTED)
    real_open = builtins.open

    def refuse(path: object, *arguments: object, **options: object) -> object:
        if str(path).endswith("secret.py"):
            raise PermissionError(13, "Permission denied", str(path))
        return real_open(path, *arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(builtins, "open", refuse)
    found = [(Path(one.filename).name, one.code) for one in lint_paths([folder])]
    assert found == [("fine.py", "DL301"), ("secret.py", "DL000")]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_a_folder_that_may_not_be_listed(folder: Path) -> None:
    (folder / "closed").mkdir(mode=0)
    assert "DL000" in said(folder, "closed")


def test_files_that_vanish_while_they_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataloader_lint.engine.runner import lint_found
    from dataloader_lint.settings import Settings
    from dataloader_lint.source.discovery import discover

    (folder / "gone.py").write_text(REPORTED)
    found = discover([str(folder)], Settings())
    (folder / "gone.py").unlink()
    assert [(Path(one.filename).name, one.code) for one in lint_found(found, Settings())] == [
        ("fine.py", "DL301"),
        ("gone.py", "DL000"),
    ]


# Writing


def test_a_file_that_changed_while_it_was_repaired_keeps_the_change(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"what the user typed meanwhile")
    with pytest.raises(OSError, match="changed since it was read"):
        write_atomically(str(path), b"repaired", b"what was read")
    assert path.read_bytes() == b"what the user typed meanwhile"
    assert [each.name for each in tmp_path.iterdir()] == ["a.py"]


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(REPORTED + "# filler\n" * 10_000)
    before = path.read_bytes()

    done = processes.run(limited(20_000, [*COMMAND, "--fix", "a.py"]), cwd=tmp_path)
    assert done.returncode == 2
    assert "a.py: cannot be written: file too large" in done.stderr
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.py"]


def test_output_that_cannot_be_written(folder: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = processes.run([*COMMAND, "."], cwd=folder, stdout=full.fileno())
    assert done.returncode == 2
    assert done.stderr == "dataloader-lint: cannot write the output: No space left on device\n"


def test_a_read_only_file_is_not_repaired_and_the_others_are(folder: Path) -> None:
    (folder / "kept.py").write_text(REPORTED)
    (folder / "kept.py").chmod(0o444)
    done = concise("--fix", ".", folder=folder, seconds=AT_ONCE)
    assert done.code == 2
    assert "kept.py: cannot be written: permission denied" in done.err
    assert (folder / "kept.py").read_text() == REPORTED
    assert "persistent_workers" not in (folder / "fine.py").read_text()


# Settings and notebooks


@pytest.mark.parametrize(
    "content",
    [
        b"[tool.dataloader-lint\n",
        b"[tool.dataloader-lint]\nselect = 1\n",
        b"[tool.dataloader-lint]\nselect = ['DL1']\nselect = ['DL2']\n",
        b"[tool.dataloader-lint]\n\xff = 1\n",
        b"[tool]\ndataloader-lint = []\n",
        b"# dataloader-lint\n" + b"a = " + b"[" * 5_000,
    ],
)
def test_settings_that_make_no_sense(folder: Path, content: bytes) -> None:
    (folder / "pyproject.toml").write_bytes(content)
    done = concise(".", folder=folder, seconds=AT_ONCE)
    assert done.code == 2, done
    assert "pyproject.toml" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "content",
    [
        "DataLoader",
        '{"cells": [{"cell_type": "code", "source": "DataLoader("',
        '"DataLoader"',
        '{"cells": "DataLoader"}',
        '{"cells": [{"cell_type": "code"}, "DataLoader", null, {"cell_type": "code", "source": [1, null]}]}',
        '{"DataLoader": null}',
    ],
)
def test_notebooks_that_are_none(folder: Path, content: str) -> None:
    (folder / "broken.ipynb").write_text(content)
    assert "DL999" not in said(folder, "broken.ipynb")
