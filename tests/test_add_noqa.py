"""`--add-noqa`: every finding is excused, and every other byte stays."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import processes
from commands import BAD, ONLY, here, run, write
from dataloader_lint.diagnostics import Diagnostic, Position
from dataloader_lint.source.suppressions import excused

__all__ = ["here"]

pytestmark = pytest.mark.usefixtures("here")
CALL = "DataLoader(data, persistent_workers=True, num_workers=0)"
IMPORT = "from torch.utils.data import DataLoader\n\n"
ADDED = (0, "Added {} in 1 file.\n", "")

# What stands in the file, and with which comment.
LINES = {
    f"x = {CALL}\n": f"x = {CALL}  # noqa: DL301\n",
    f"x = {CALL}": f"x = {CALL}  # noqa: DL301",
    f"x = {CALL}  # type: ignore\n": f"x = {CALL}  # type: ignore  # noqa: DL301\n",
    f"x = {CALL}  # noqa: E501\n": f"x = {CALL}  # noqa: E501, DL301\n",
    f"x = {CALL}  # noqa: E501,F401 because\n": f"x = {CALL}  # noqa: E501,F401, DL301 because\n",
    f"x = {CALL}  #noqa: E501\n": f"x = {CALL}  #noqa: E501  # noqa: DL301\n",
    f"x = 1; y = {CALL}\n": f"x = 1; y = {CALL}  # noqa: DL301\n",
    f"x = \\\n    {CALL}\n": f"x = \\\n    {CALL}  # noqa: DL301\n",
    f"x = f'''\n{{{CALL}}}\n'''\n": f"x = f'''\n{{{CALL}}}\n'''  # noqa: DL301\n",
    "x = DataLoader(\n    data,\n    persistent_workers=True,\n)\n": (
        "x = DataLoader(  # noqa: DL301\n    data,\n    persistent_workers=True,\n)\n"
    ),
    f"for x in {CALL}: print('a\\tb')\n": f"for x in {CALL}: print('a\\tb')  # noqa: DL301\n",
    f"x, y = {CALL}, {CALL}\n": f"x, y = {CALL}, {CALL}  # noqa: DL301\n",
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_where_comments_go(newline: str) -> None:
    for number, text in enumerate(LINES):
        write(f"a{number:02}.py", (IMPORT + text).replace("\n", newline))
    assert run(*ONLY, "--add-noqa") == (0, f"Added 12 `# noqa` comments for 13 findings in {len(LINES)} files.\n", "")
    for number, text in enumerate(LINES.values()):
        assert Path(f"a{number:02}.py").read_bytes().decode() == (IMPORT + text).replace("\n", newline)
    assert run(*ONLY) == (0, "All checks passed!\n", "")
    assert run(*ONLY, "--add-noqa")[:2] == (0, "Added 0 `# noqa` comments in 0 files.\n")
    flake8 = [sys.executable, "-m", "flake8", "--select", "DL301", "."]
    assert processes.run(flake8, check=True).stdout == ""


def test_several_codes_on_a_line() -> None:
    write("a.py", IMPORT + "x = DataLoader(data, num_workers=0, prefetch_factor=2, persistent_workers=True)\n")
    assert run("--select", "DL301,DL302", "--add-noqa")[1] == ADDED[1].format("1 `# noqa` comment for 2 findings")
    assert Path("a.py").read_text().endswith("persistent_workers=True)  # noqa: DL301, DL302\n")


def test_what_has_no_place_is_said_and_left() -> None:
    text = f'{IMPORT}x = """\n# noqa: E501\n""" + str({CALL})\ny = {CALL}\n'
    write("a.py", text)
    write("broken.py", "DataLoader(\n")
    code, out, err = run(*ONLY, "--add-noqa")
    assert (code, out) == (1, "Added 1 `# noqa` comment in 1 file.\n")
    assert err.splitlines() == [
        "dataloader-lint: a.py:5:11: no comment for DL301: its lines have no place for one",
        "dataloader-lint: broken.py:1:11: no comment for DL000: the file has to be readable first",
    ]
    assert Path("a.py").read_text() == text.removesuffix("\n") + "  # noqa: DL301\n"
    assert Path("broken.py").read_text() == "DataLoader(\n"


def test_encodings_marks_and_modes_stay() -> None:
    latin = f"# -*- coding: latin-1 -*-\n{IMPORT}x = {CALL}  # café\n".encode("latin-1")
    marked = b"\xef\xbb\xbf" + f"{IMPORT}x = {CALL}  # 数据\r\ny = 1\n".encode()
    write("latin.py", latin).chmod(0o751)
    write("marked.py", marked)
    assert run(*ONLY, "--add-noqa")[0] == 0
    assert Path("latin.py").read_bytes() == latin.removesuffix(b"\n") + b"  # noqa: DL301\n"
    assert Path("latin.py").stat().st_mode & 0o777 == 0o751
    assert Path("marked.py").read_bytes() == marked.replace(b"\r\n", b"  # noqa: DL301\r\n")


def test_a_diff_writes_nothing() -> None:
    path = write("a.py", BAD)
    code, out, err = run(*ONLY, "--add-noqa", "--diff")
    assert (code, err) == (1, "")
    assert out.splitlines()[-1] == f"+{BAD.splitlines()[2]}  # noqa: DL301"
    assert path.read_text() == BAD


def test_what_cannot_be_written_is_said() -> None:
    write("a.py", BAD).chmod(0o444)
    write("b.py", BAD)
    code, out, err = run(*ONLY, "--add-noqa")
    assert (code, out) == (2, ADDED[1].format("1 `# noqa` comment"))
    assert err == "dataloader-lint: a.py: cannot be written: permission denied\n"
    assert Path("a.py").read_text() == BAD


def test_it_needs_files() -> None:
    said = "dataloader-lint: --add-noqa needs files, and cannot be used with standard input\n"
    assert run("--add-noqa", "-", stdin=b"") == (2, "", said)
    assert run("--add-noqa", "--fix")[::2] == (2, "dataloader-lint: --add-noqa and --fix cannot be used together\n")


def test_cells_of_notebooks() -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# Train"},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1,
         "source": ["%matplotlib inline\n", "from torch.utils.data import DataLoader\n", f"x = {CALL}\n", "x"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 2, "source": f"y = {CALL}"},
    ]  # fmt: skip
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"
    write("n.ipynb", book)
    assert run(*ONLY, "--add-noqa", "n.ipynb") == (0, ADDED[1].format("2 `# noqa` comments"), "")
    assert Path("n.ipynb").read_text() == book.replace(CALL, f"{CALL}  # noqa: DL301")
    assert run(*ONLY, "n.ipynb") == (0, "All checks passed!\n", "")


def test_text_that_does_not_encode_to_the_same_bytes_is_left() -> None:
    source = f"# coding: utf-7\n{IMPORT}x = {CALL}  # +AGE-\n".encode()
    one = Diagnostic("a.py", Position(4, 4), Position(4, 9), "DL301", "p", "", (4, 4))
    done = excused(source, [one], is_notebook=False)
    assert (done.source, done.added) == (source, 0)
    assert done.left == [(one, "the file cannot be written back as it is")]


def test_many_findings_at_once_come_out_as_one_by_one() -> None:
    text = IMPORT + "".join(f"{line.rstrip()}\n" for line in LINES)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if "DataLoader(" in line]
    found = [Diagnostic("a.py", Position(line, 4), Position(line, 9), "DL301", "p", "", (line, line)) for line in lines]
    together = excused(text.encode(), found, is_notebook=False)
    source = text.encode()
    for one in found:
        source = excused(source, [one], is_notebook=False).source
    assert (together.source, together.added, together.left) == (source, len(found), [])
    blocked = Diagnostic("a.py", Position(1, 0), Position(1, 4), "DL301", "p", "", (1, 1))
    text = f'x = """# noqa: E501\n"""\n{text}'
    found = [blocked, *(replace(one, start=Position(one.start.line + 2, 0), statement_lines=(one.start.line + 2,) * 2)
                        for one in found)]  # fmt: skip
    done = excused(text.encode(), found, is_notebook=False)
    assert [one for one, _ in done.left] == [blocked]
    assert done.source.decode() == text[: text.index(IMPORT)] + together.source.decode()


GROWS = """from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __init__(self, count):
        self.rows = [str(number) for number in range(count)]

    def __getitem__(self, index):
        return self.rows[index]


def train(count):
    for batch in DataLoader(Files(count), num_workers=2):
        pass
"""


def test_notes_get_comments_only_if_asked_for() -> None:
    write("a.py", f"{GROWS}\n\nx = {CALL}\n")
    options = ("--select", "DL101,DL301", "--start-method", "fork")
    found = json.loads(run(*options, "--output-format", "json")[1])
    assert sorted((one["code"], one["level"]) for one in found) == [("DL101", "note"), ("DL301", "error")]
    wrote = run(*options, "--write-baseline", "base.json")
    assert wrote == (0, "Wrote 2 findings to base.json, 1 of them a note.\n", "")
    assert run(*options, "--add-noqa") == (0, ADDED[1].format("1 `# noqa` comment"), "")
    assert "noqa: DL101" not in Path("a.py").read_text()
    assert run(*options, "--add-noqa", "--fail-on", "note", "--diff")[0] == 1
    assert run(*options, "--add-noqa", "--diff")[0] == 0
    assert run(*options, "--add-noqa", "--notes") == (0, ADDED[1].format("1 `# noqa` comment"), "")
    assert "noqa: DL101" in Path("a.py").read_text()
    assert run(*options) == (0, "All checks passed!\n", "")
