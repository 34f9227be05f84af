"""Notebooks call functions of the project's modules, and say what these are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint.cli.command import main
from notebook_texts import cell, encoded, notebook

ENGINE = """\
def run_epoch(loader, model):
    for images, labels in loader:
        model(images.cuda())


# of torch.utils.data.DataLoader
"""
CALL = "from engine import run_epoch\nfrom torch.utils.data import DataLoader\n"
PINNED = "loader = DataLoader(data, num_workers=4, pin_memory=True)\nrun_epoch(loader, model)\n"


def lint(capsys: pytest.CaptureFixture[str], *more: str) -> list[str]:
    main(["--exit-zero", "--select", "DL401", "--output-format", "full", *more, "engine.py"])
    shown = capsys.readouterr().out.splitlines()
    return [line for line in shown if line.startswith(("DL", "because"))]


def write(folder: Path, *cells: str, name: str = "demo.ipynb") -> None:
    (folder / name).write_bytes(encoded(notebook(*map(cell, cells))))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "engine.py").write_text(ENGINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_call_in_a_notebook_counts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys, "--no-cache") == []
    write(project, CALL, PINNED)
    found, because = lint(capsys, "--no-cache")
    assert found.startswith("DL401")
    assert because.endswith("(demo.ipynb:cell 2:1:10)")


@pytest.mark.parametrize(
    "cells",
    [
        (CALL, PINNED.replace("pin_memory=True", "pin_memory=False")),
        (CALL.replace("engine", "other"), PINNED),
        ("# DataLoader(pin_memory=True)",),
    ],
    ids=["not pinned", "another module", "no call"],
)
def test_others_do_not(project: Path, capsys: pytest.CaptureFixture[str], cells: tuple[str, ...]) -> None:
    write(project, *cells)
    assert lint(capsys, "--no-cache") == []


def test_a_file_that_is_not_a_notebook_is_passed_over(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "demo.ipynb").write_text('{"cells": "DataLoader pin_memory engine')
    (project / "large.ipynb").write_bytes(b" " * 6_000_000)
    (project / "link.ipynb").symlink_to("nowhere")
    assert lint(capsys, "--no-cache") == []


def test_the_cache_sees_notebooks_change(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys) == []
    write(project, CALL, PINNED)
    assert len(lint(capsys)) == 2
    write(project, CALL, "\n\n" + PINNED)
    assert lint(capsys)[1].endswith("(demo.ipynb:cell 2:3:10)")
    (project / "demo.ipynb").rename(project / "sub.ipynb")
    assert lint(capsys)[1].endswith("(sub.ipynb:cell 2:3:10)")
    (project / "sub.ipynb").unlink()
    assert lint(capsys) == []
