"""What is printed goes into logs that CI services read commands from: names and code of others must give none."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import pytest

from dataloader_lint import cli
from dataloader_lint.output.text import holds_command, neutralise, neutralise_json, neutralise_xml

NAMES = (
    "::warning file=x::y.py",
    "  ::error::indented.py",
    "##[error]z.py",
    "a ##vso[task.setvariable variable=x]b.py",
    "##teamcity[message text='x'].py",
    "::stop-commands::x.ipynb",
)
SOURCE = '''"""
::error::in the text
 ##[error]in the text
  ::warning::in the text
"""
from torch.utils.data import DataLoader
def go(d, m):
    """
 ::add-mask::a
    """
    DataLoader(d, num_workers=m['##[warning]a##vso[b]'], persistent_workers=True)  # ##[error]
    DataLoader(d, num_workers=0, persistent_workers=True)  # ##[group]
    """
::error::behind it
    """
'''
SETTINGS = '[tool.dataloader-lint]\nextend-exclude = ["##[error]", "::error::x"]\n'


def carried_out(line: str) -> bool:
    """True if GitHub Actions, Azure Pipelines or TeamCity take a line for a command.

    The runner of GitHub drops blanks before `::`, and finds `##[` anywhere (`ActionCommand.cs` in actions/runner).
    """
    return line.lstrip().startswith("::") or re.search(r"##(vso|teamcity)?\[", line) is not None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in NAMES:
        cells = [{"cell_type": "code", "source": SOURCE, "metadata": {}, "outputs": [], "execution_count": None}]
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (tmp_path / name).write_text(json.dumps(notebook) if name.endswith("ipynb") else SOURCE, encoding="utf-8")
    (tmp_path / "##[error].py").symlink_to("nowhere")
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    return tmp_path


MANY = [
    *(("--output-format", shape) for shape in ("full", "concise", "json", "json-lines", "sarif", "gitlab", "junit")),
    ("--statistics",),
    ("--show-files",),
    ("--verbose",),
    ("--diff",),
    ("--fix",),
    ("--add-noqa",),
    ("--write-baseline", "##[error]baseline.json"),
    ("--baseline", "::##[error]gone"),
    ("--config", "::##[error]gone"),
    ("--select", "\n::error::x##[error]"),
    ("--exclude", "**/" + "##[error]/**/" * 9),
    ("--\n::error::x##[error]",),
    ("--explain", "\n::error::x##[error]"),
    ("::gone", "##[error]gone"),
]


@pytest.mark.parametrize("arguments", MANY)
@pytest.mark.parametrize("color", ["", "1"])
def test_no_line_is_a_command(
    folder: Path,
    arguments: tuple[str, ...],
    color: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if color:
        monkeypatch.setenv("FORCE_COLOR", color)
    with contextlib.suppress(SystemExit):  # of argparse
        cli.main(["--no-cache", *arguments] if arguments[0] != "--verbose" else [*arguments, "--no-cache"])
    out, err = capsys.readouterr()
    lines = re.sub(r"\x1b\[[\d;]*[mK]", "", out + err).splitlines()
    assert lines
    assert not [line for line in lines if carried_out(line)]


def test_the_github_format_gives_its_own_commands_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["--no-cache", "--output-format", "github"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 2 * len(NAMES)
    assert all(line.startswith("::error title=DL") and not re.search(r"##\w*\[", line) for line in lines)


def test_reports_mean_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["--no-cache", "--output-format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert {Path(one["filename"]).name for one in found} == set(NAMES)
    text = json.dumps({"a": "##[error]b \\##vso[x]"})
    assert json.loads(neutralise_json(text)) == json.loads(text)
    assert not holds_command(neutralise_json(text))
    assert neutralise_xml("<a>##[b</a>") == "<a>&#35;#[b</a>"


def test_a_diff_stays_exact_where_no_service_reads_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")
    cli.main(["--no-cache", "--diff", NAMES[2]])
    out, err = capsys.readouterr()
    assert " ##[error]in the text" in out or "##[group]" in out
    assert "cannot be applied" not in err


@pytest.mark.parametrize("text", ["# plain", "a::b", "## heading [1]", "####", "#[x]"])
def test_what_is_no_command_stays(text: str) -> None:
    assert neutralise(text) == text
    assert not holds_command(text)
