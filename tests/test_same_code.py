"""Comments and blank lines change no findings but for their lines: nothing is linted again for them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.engine.runner import lint_found
from dataloader_lint.settings import Settings
from dataloader_lint.source.discovery import discover

ROWS = """\
from torch.utils.data import Dataset


class Rows(Dataset):
    def __init__(self, names):
        # Read once.
        self.names = [str(name) for name in names]

    def __getitem__(self, index):
        return self.names[index]
"""
TRAIN = """\
from torch.utils.data import DataLoader

from rows import Rows

loader = DataLoader(Rows(open("names.txt")), num_workers=4)
"""


class Project:
    """A Dataset and the loader that gets it, linted with a cache; `linted` are the files that had to be linted."""

    def __init__(self, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.folder = folder
        self.linted: list[str] = []

        def counting(source: bytes, filename: str, *rest: object, **more: object) -> list[Diagnostic]:
            self.linted.append(Path(filename).name)
            return lint_source(source, filename, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr("dataloader_lint.engine.linter.lint_source", counting)

    def write(self, name: str, text: str) -> None:
        path = self.home / name
        path.write_text(text)
        then = time.time() - 60
        os.utime(path, (then, then))

    def run(self, fixes: str = "") -> list[Diagnostic]:
        """The findings, which are those of a run without a cache."""
        plain = lint_found(discover(["."], Settings()), Settings(), fixes)
        self.linted.clear()
        found = lint_found(discover(["."], Settings()), Settings(), fixes, cache=str(self.folder))
        assert found == plain
        return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    home = tmp_path / "home"
    home.mkdir()
    (home / "pyproject.toml").touch()
    monkeypatch.chdir(home)
    made = Project(home, tmp_path / "kept", monkeypatch)
    made.write("rows.py", ROWS)
    made.write("train.py", TRAIN)
    (one,) = made.run()
    assert (one.code, one.start.line) == ("DL101", 7)
    return made


@pytest.mark.parametrize(
    ("name", "old", "new", "line"),
    [
        ("rows.py", "\n\nclass", "\n\n# A Dataset.\n\nclass", 9),
        ("rows.py", "        # Read once.\n", "", 6),
        ("rows.py", "Read once.", "Read once, and kept.", 7),
        ("rows.py", "]\n", "]  # all of them\n", 7),
        ("rows.py", "    def __getitem__", "\n\n    def __getitem__", 7),
        ("train.py", "from torch", "# Trains.\nfrom torch", 7),
        ("train.py", "(Rows(", "(  # two\n    Rows(", 7),
    ],
)
def test_a_comment_is_linted_by_nobody(project: Project, name: str, old: str, new: str, line: int) -> None:
    text = (ROWS if name == "rows.py" else TRAIN).replace(old, new)
    project.write(name, text)
    (one,) = project.run()
    assert one.start.line == line
    assert (project.linted == []) is ("\n    Rows" not in new)
    project.write(name, f"# Once more.\n{text}")
    (again,) = project.run()
    assert again.start.line == line + (name == "rows.py")


def test_lines_of_reasons_in_other_files_move(project: Project) -> None:
    project.write("train.py", f"# One.\n# Two.\n{TRAIN}")
    (one,) = project.run()
    assert project.linted == []
    assert [reason.position.line for reason in one.because if reason.filename.endswith("train.py")] == [7]


@pytest.mark.parametrize(
    "comment",
    ["# noqa: DL101", "# noqa", "# dataloader-lint: ignore-file", "# flake8: noqa"],
)
def test_a_comment_that_is_read_counts(project: Project, comment: str) -> None:
    is_for_all = "noqa" not in comment or "flake8" in comment
    text = f"{comment}\n{ROWS}" if is_for_all else ROWS.replace("names]\n", f"names]  {comment}\n")
    project.write("rows.py", text)
    assert project.run() == []
    assert "rows.py" in project.linted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("str(name)", "'# ' + str(name)"),
        ("[str(name) for name in names]", "list(map(str, names))"),
        ("Read once.\n", "Read once.\n        names = ()\n"),
    ],
)
def test_code_counts(project: Project, old: str, new: str) -> None:
    project.write("rows.py", ROWS.replace(old, new))
    project.run()
    assert "rows.py" in project.linted


def test_what_the_gate_says_counts(project: Project) -> None:
    """A file may be looked at for a word in a comment alone."""
    project.write("extra.py", "x = 1\n")
    project.run()
    project.write("extra.py", "x = 1  # DataLoader\n")
    project.run()
    assert project.linted == ["extra.py"]


def test_fixes_are_worked_out_again(project: Project) -> None:
    text = TRAIN.replace("workers=4", "workers=0, persistent_workers=True")
    project.write("train.py", text)
    assert any(one.fix is not None for one in project.run("shown"))
    project.write("train.py", f"# Trains.\n{text}")
    assert any(one.fix is not None for one in project.run("shown"))
    assert "train.py" in project.linted


def test_what_is_not_the_same_for_python_is_linted(project: Project) -> None:
    """A line that a backslash continues ends with the comment that stands there."""
    project.write("rows.py", f"{ROWS}\nSIZE = 1 + \\\n    2\n")
    project.run()
    project.write("rows.py", f"{ROWS}\nSIZE = 1 \\\n# two\n    + 2\n")
    project.run()
    assert "rows.py" in project.linted


def test_fixes_in_other_files_are_kept(project: Project) -> None:
    """Only what is fixed may have comments that a fix takes along."""
    project.write("train.py", TRAIN.replace("workers=4", "workers=0, persistent_workers=True"))
    project.run("shown")
    project.write("rows.py", f"# Rows.\n{ROWS}")
    assert any(one.fix is not None for one in project.run("shown"))
    assert "train.py" not in project.linted


@pytest.mark.parametrize("marker", ["# %%", "# COMMAND ----------"])
def test_comments_that_divide_a_script_into_cells_are_code(project: Project, marker: str) -> None:
    project.run()
    loop = "for batch in DataLoader(range(8), num_workers=2):\n    print(batch)\n"
    script = f"from torch.utils.data import DataLoader\n\n{loop}"
    project.write("run.py", script)
    assert "DL206" in {one.code for one in project.run()}
    project.write("run.py", script.replace("\nfor batch", f"\n{marker}\nfor batch"))
    assert "DL206" not in {one.code for one in project.run()}
    project.write("run.py", script)
    assert "DL206" in {one.code for one in project.run()}
