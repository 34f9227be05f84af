"""The linted project is read, never run; nothing of what it holds reaches a terminal or a report unescaped."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks import processes
from dataloader_lint import lint_source
from dataloader_lint.output import diff, paint
from dataloader_lint.pipeline.session import Session
from reliability.commands import lint

AT_ONCE = 120
MARK = "import pathlib\npathlib.Path({path!r}).touch()\n"
MODULES = (
    "__init__.py",
    "conftest.py",
    "data.py",
    "libcst.py",
    "sitecustomize.py",
    "torch.py",
    "dataloader_lint.py",
    "setup.py",
    "json.py",
    "train.py",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose every module would leave a file behind if it were imported or run."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in MODULES:
        (folder / name).write_text(
            MARK.format(path=str(tmp_path / f"ran_{name}"))
            + "from data import Bars, collate\nfrom . import data, train\nfrom .data import *\nimport torch, json\n"
            + "from torch.utils.data import DataLoader\n"
            + "for batch in DataLoader(data.Bars(), num_workers=2, collate_fn=lambda rows: rows):\n    batch.to(0)\n"
        )
    return folder


@pytest.mark.parametrize("arguments", [["."], ["--fix", "--unsafe-fixes", "."], ["--diff", "."], ["train.py"]])
def test_nothing_of_the_project_is_run(project: Path, arguments: list[str]) -> None:
    """Started as users start it, from within the project, where `python -m` would find its modules first."""
    done = lint_installed(*arguments, folder=project)
    assert done.returncode in (0, 1), done
    assert list(project.parent.glob("ran_*")) == []


def lint_installed(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    script = Path(sys.executable).with_name("dataloader-lint")
    return processes.run([script, *arguments], cwd=folder)


def test_a_module_of_the_project_does_not_take_the_place_of_ours(project: Path) -> None:
    """`python -m` looks into the working directory first."""
    (project / "dataloader_lint.py").unlink()  # this one would be what `-m dataloader_lint` asks for
    for name in ("argparse.py", "tokenize.py", "multiprocessing.py"):
        (project / name).write_text((project / "json.py").read_text())
    done = lint("--jobs", "2", ".", folder=project, seconds=AT_ONCE)
    assert done.code == 1, done
    assert list(project.parent.glob("ran_*")) == []


def shadow(folder: Path, names: Iterable[str]) -> None:
    """Modules of the project that are called like others, and say so when they are run."""
    for name in names:
        marks = folder.parent / f"ran_{name}"
        (folder / f"{name}.py").write_text(f"open({str(marks)!r}, 'w').close()\n")


def imported_for_a_module(folder: Path) -> set[str]:
    """What Python has imported when a module that is started with `-m` begins."""
    (folder / "begin.py").write_text("import sys\nprint(*sys.modules)\n")
    done = processes.run([sys.executable, "-m", "begin"], cwd=folder, check=True)
    (folder / "begin.py").unlink()
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize("line", ["--jobs 2 .", "--fix .", "--explain DL301", "--output-format sarif ."])
def test_modules_of_the_standard_library_are_taken_from_there(tmp_path: Path, line: str) -> None:
    """All of them but those that Python itself imports before the first line of ours."""
    folder = tmp_path / "project"
    folder.mkdir()
    before = imported_for_a_module(folder)
    safe = sys.stdlib_module_names - before
    assert {"__future__", "json", "re", "argparse", "tempfile", "ast", "dataclasses"} <= safe
    shadow(folder, [*safe, "libcst", "pygls"])
    (folder / "train.py").write_text(
        "from torch.utils.data import DataLoader\nDataLoader(d, persistent_workers=True)\n"
    )
    done = lint(*line.split(), folder=folder, seconds=AT_ONCE)
    assert done.code in (0, 1), done
    assert sorted(path.name for path in tmp_path.glob("ran_*")) == []


@pytest.mark.parametrize("start", [["-P", "-m", "dataloader_lint"], ["-I", "-m", "dataloader_lint"], []])
def test_other_ways_to_start_run_none_at_all(tmp_path: Path, start: list[str]) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    shadow(folder, [*sys.stdlib_module_names, "libcst", "dataloader_lint"])
    command = [sys.executable, *start] if start else [Path(sys.executable).with_name("dataloader-lint")]
    done = processes.run([*command, "--jobs", "2", "types.py"], cwd=folder)
    assert (done.returncode, done.stdout) == (
        0,
        "All checks passed! 1 file, no DataLoader or Dataset in it.\n",
    ), done
    assert list(tmp_path.glob("ran_*")) == []


def test_a_folder_that_was_deleted(tmp_path: Path) -> None:
    start = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" -m dataloader_lint .'
    run = processes.run(["sh", "-c", start, sys.executable], cwd=tmp_path)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr


def test_dots_do_not_lead_out_of_the_project(tmp_path: Path) -> None:
    folder = tmp_path / "above" / "project" / "package"
    folder.mkdir(parents=True)
    (folder.parent / "pyproject.toml").touch()
    for each in (folder, folder.parent, folder.parent.parent, tmp_path):
        (each / "settings.py").touch()
    (folder / "__init__.py").touch()
    session = Session()
    module = session.project.module_for(str(folder / "train.py"), "")
    found = [session.project.locate("settings", module.path, level) for level in (1, 2, 3, 4, 40)]
    assert found == [str(folder / "settings.py"), str(folder.parent / "settings.py"), None, None, None]


# Escape sequences: a title for the window, colours, a carriage return, a bell, text that runs backwards, an early end.
NASTY = "\x1b]0;owned\x07\x1b[31mred\x1b[0m\r\x08\u202eback\u2028\x9b31m"
FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")
FORBIDDEN = ("\x1b", "\x07", "\x08", "\u202e", "\x9b")


@pytest.fixture
def nasty(tmp_path: Path) -> Path:
    name = f"::error file=x,line=1%0A{NASTY.replace('/', '')}]]>&<\"'`,.py"
    text = (
        f"# {NASTY}\nfrom torch.utils.data import DataLoader\nDataLoader(data['{NASTY[:3]}'], persistent_workers=True)"
    )
    text += f"  # {NASTY}\n".replace("\r", "").replace("\u2028", "")
    (tmp_path / name).write_text(text.replace("\r", ""))
    (tmp_path / "plain.py").write_text(
        "from torch.utils.data import DataLoader\n"
        "def go(a_b, m):\n"
        "    DataLoader(a_b, num_workers=m['\x1b[31m::warning::]]>'], persistent_workers=True)\n"
        "    DataLoader(a_b, num_workers=0, persistent_workers=True)\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [*(("--output-format", shape) for shape in FORMATS), ("--statistics",), ("--fix",), ("--show-files",)],
)
def test_escape_sequences_do_nothing(nasty: Path, arguments: tuple[str, ...]) -> None:
    done = lint(*arguments, ".", folder=nasty, seconds=AT_ONCE)
    assert done.code in (0, 1, 2), done
    assert "Traceback" not in done.err
    for text in (done.out, done.err):
        assert not [each for each in FORBIDDEN if each in text], repr(text)


def test_a_diff_on_a_terminal_does_nothing_else() -> None:
    before, after = f"a = 1  # {NASTY}\n", f"a = 2  # {NASTY}\n"
    plain = paint.choose(io.StringIO(), {})
    assert "".join(diff.emit("a.py", before, after, plain)).count(NASTY[:5]) == 2  # a patch must be exact
    shown = "\n".join(diff.emit("a.py", before, after, plain, for_eyes=True))
    assert not [each for each in FORBIDDEN if each in shown], repr(shown)


@pytest.mark.parametrize("shape", FORMATS)
def test_reports_hold_what_was_found_and_no_more(nasty: Path, shape: str) -> None:
    done = lint("--output-format", shape, ".", folder=nasty, seconds=AT_ONCE)
    if shape == "json":
        assert len(json.loads(done.out)) >= 2
    elif shape == "gitlab":
        assert len(json.loads(done.out)) >= 2
    elif shape == "sarif":
        (run,) = json.loads(done.out)["runs"]
        assert len(run["results"]) >= 2
    elif shape == "junit":
        assert len(list(ET.fromstring(done.out).iter("failure"))) >= 2
    elif shape == "github":
        commands = [line for line in done.out.splitlines() if line.startswith("::")]
        for line in commands:
            kind, _, rest = line[2:].partition(" ")
            assert kind == "error"
            names = [each.partition("=")[0] for each in rest.partition("::")[0].split(",")]
            assert names == ["title", "file", "line", "endLine", "col", "endColumn"], line


def test_a_message_does_not_carry_escapes() -> None:
    source = "from torch.utils.data import DataLoader\nDataLoader(d, num_workers=0, collate_fn=lambda r: '\x1b[31m')\n"
    for one in lint_source(source, "a.py"):
        assert one.message.isprintable()
