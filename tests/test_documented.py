"""Every command line in README, CONTRIBUTING, CHANGELOG and docs names what is there, in blocks and in sentences.

tests/test_readme.py runs those of blocks that need nothing but the package; `NOT_RUN` says why others are not run.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shlex
import shutil
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks import processes
from commands import here, run, write
from dataloader_lint.cli.arguments import parser
from dataloader_lint.doctor.command import parser as doctor_parser
from test_readme import RUN

__all__ = ["here"]

ROOT = Path(__file__).parent.parent
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *(ROOT / "docs").rglob("*.md")]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANY_BLOCK = re.compile(r"^```([^`\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LANGUAGES = ("sh", "console", "yaml")
_TOOLS = ("dataloader-lint", "python", "pip", "flake8")


def lines_of(path: Path) -> set[str]:
    """The command lines of a page: of its blocks, and what stands between backticks in its sentences."""
    text = re.sub(r"^````.*?^````$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    blocks = {name: [block for language, block in _BLOCK.findall(text) if language == name] for name in _LANGUAGES}
    lines = [line[2:] for each in blocks["console"] for line in each.splitlines() if line.startswith("$ ")]
    lines += [
        re.sub(r"^(?:\s*- (?:run: )?|[A-Z_]+=\d+ )", "", line)
        for each in (*blocks["sh"], *blocks["yaml"])
        for line in each.splitlines()
    ]
    lines += [" ".join(each.split()) for each in re.findall(r"`([^`]+)`", _BLOCK.sub("", text))]
    parts = [part.strip() for line in lines for part in line.split(" && ")]
    return {part for part in parts if part.startswith(tuple(f"{name} " for name in _TOOLS))}


COMMANDS = sorted({(path.relative_to(ROOT).as_posix(), line) for path in PAGES for line in lines_of(path)})


def words_of(command: str) -> list[str]:
    return shlex.split(command.partition(" < ")[0], comments=True)


def starting(*words: str) -> list[tuple[str, list[str]]]:
    found = [(page, words_of(command)) for page, command in COMMANDS]
    return [(page, each[len(words) :]) for page, each in found if each[: len(words)] == [*words]]


def test_there_are_commands() -> None:
    assert len(starting("dataloader-lint")) > 40
    assert len(starting("dataloader-lint", "doctor")) > 4
    assert len(starting("python", "-m")) > 15


@pytest.mark.parametrize(("page", "words"), starting("dataloader-lint"))
def test_the_linter_and_the_doctor_know_the_options(page: str, words: list[str]) -> None:
    if words[:1] == ["doctor"]:
        if len(words) > 1:
            doctor_parser().parse_args(words[1:])
    elif words[:1] not in (["lsp"], ["mcp"], ["--version"]):  # the last one ends the program while it is parsed
        parser().parse_args(words)


@pytest.mark.parametrize(("page", "words"), starting("python", "-m"))
def test_modules_and_their_files_are_there(page: str, words: list[str]) -> None:
    module, *arguments = words
    assert importlib.util.find_spec(module) is not None, module
    if module == "pytest":
        assert [each for each in arguments if each.startswith("tests") and not (ROOT / each).exists()] == []
        known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
        marks = {each.partition(":")[0] for each in known["markers"]}
        assert {each for before, each in pairwise(arguments) if before == "-m"} <= marks
    if module.startswith(("benchmarks.", "docs.")):
        text = Path(str(importlib.util.find_spec(module).origin)).read_text(encoding="utf-8")  # type: ignore[union-attr]
        texts = {each.value for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Constant)}
        assert [each for each in arguments if each.startswith("--") and each not in texts] == []


@pytest.mark.parametrize(("page", "words"), starting("pip", "install"))
def test_extras_are_those_of_the_package(page: str, words: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {extra for each in words for several in re.findall(r"\[(.*?)\]", each) for extra in several.split(",")}
    assert named <= set(project["optional-dependencies"])


# Languages of blocks, other than those of command lines.
_OTHER_LANGUAGES = {"diff", "ini", "json", "lua", "python", "text", "toml"}
_INSTALLS = (
    "takes an index of packages: .ci/run installs the checkout with its extras, tests/test_packaging.py the wheel"
)
_TESTS = "is a step of .ci/run, or takes hours"
_STEPS = "is a step of .ci/run"
_MINUTES = "takes minutes and packages from PyPI; its module and options are checked above"
_DOCTOR = "runs under real torch, in test_the_doctor_runs_as_its_page_says"
# Lines of blocks that tests/test_readme.py does not run, by the page and how they begin, with the reason.
NOT_RUN = {
    ("README.md", "pip install"): _INSTALLS,
    ("README.md", "python -m pytest"): _TESTS,
    ("README.md", "dataloader-lint doctor train.py -- --epochs 1"): _DOCTOR,
    ("CONTRIBUTING.md", "pip install"): _INSTALLS,
    ("CONTRIBUTING.md", "python -m pytest"): _TESTS,
    ("CONTRIBUTING.md", "python -m benchmarks."): _MINUTES,
    ("CONTRIBUTING.md", "python -m docs.generate"): _STEPS,
    ("CONTRIBUTING.md", "mypy"): _STEPS,
    ("CONTRIBUTING.md", "lint-imports"): _STEPS,
    ("CONTRIBUTING.md", "ruff "): _STEPS,
    ("docs/api.md", "python -m libcst.tool"): "runs in test_the_codemod_of_the_page",
    ("docs/assistants.md", "pip install"): _INSTALLS,
    ("docs/ci.md", "pip install"): _INSTALLS,
    ("docs/doctor.md", "pip install"): _INSTALLS,
    ("docs/doctor.md", "dataloader-lint doctor"): _DOCTOR,
    ("docs/doctor.md", "torchrun"): "two ranks run in tests/doctor/test_ranks.py",
    ("docs/editor.md", "pip install"): _INSTALLS,
    ("docs/evidence.md", "pip install"): _INSTALLS,
    ("docs/evidence.md", "python -m benchmarks."): _MINUTES,
    ("docs/first-run.md", "dataloader-lint -n"): "shows repositories of others at the commits that the page names",
    ("docs/index.md", "git clone"): "takes the network",
    ("docs/index.md", "pip install"): _INSTALLS,
    ("docs/performance.md", "pip install"): _INSTALLS,
    ("docs/performance.md", "python -m benchmarks."): _MINUTES,
    ("docs/reliability.md", "pip install"): _INSTALLS,
    ("docs/reliability.md", "python -m pytest"): _TESTS,
    ("docs/reliability.md", "LONG_MINUTES=10 python -m pytest"): _TESTS,
}
# Pages that show what a command prints, and what compares it.
COMPARED = {
    "README.md": "python -m docs.generate --check",
    "docs/settings.md": "test_the_mistake_that_the_page_of_settings_shows",
    "docs/first-run.md": "nothing: the output is that of other repositories, on the day that the page names",
}


def blocks_of(path: Path) -> list[tuple[str, str]]:
    """The blocks of a page with their languages, indented ones and those inside of others aside."""
    text = re.sub(r"^````.*?^````$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [(first.partition(" ")[0], block) for first, block in _ANY_BLOCK.findall(text)]


def block_lines(path: Path) -> list[str]:
    """The parts of all command lines in the blocks of a page, without their comments."""
    lines: list[str] = []
    for language, block in blocks_of(path):
        if language == "yaml":
            lines += re.findall(r"^\s*- (?:run: )?((?:pip|dataloader-lint) .*)$", block, re.MULTILINE)
        elif language == "console":
            lines += [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        elif language == "sh":
            lines += block.splitlines()
    return [re.sub(r"\s+# .*", "", part).strip() for line in lines for part in line.split(" && ")]


def test_no_block_has_another_language() -> None:
    languages = {(path.name, language) for path in PAGES for language, _ in blocks_of(path)}
    assert [each for each in languages if each[1] not in {*_LANGUAGES, *_OTHER_LANGUAGES}] == []


def test_each_line_of_a_block_is_run_or_has_a_reason_not_to() -> None:
    run_lines = {(page, re.sub(r"\s+# .*", "", command).strip()) for page, command in RUN}
    used: set[tuple[str, str]] = set()
    unexplained: list[tuple[str, str]] = []
    for path in PAGES:
        page = path.relative_to(ROOT).as_posix()
        for line in block_lines(path):
            reasons = {each for each in NOT_RUN if each[0] == page and line.startswith(each[1])}
            used |= reasons
            if not reasons and (path.name, line) not in run_lines:
                unexplained.append((page, line))
    assert unexplained == []
    assert NOT_RUN.keys() - used == set()


def test_what_pages_show_is_compared() -> None:
    shown = {path.relative_to(ROOT).as_posix() for path in PAGES for name, _ in blocks_of(path) if name == "console"}
    assert shown == set(COMPARED)


def test_the_codemod_of_the_page(here: Path) -> None:
    (line,) = [each for each in block_lines(ROOT / "docs" / "api.md") if "libcst.tool" in each]
    shutil.copytree(ROOT / "examples", here / "src")
    (here / "src" / "train_repaired.py").unlink()
    words = [sys.executable, *words_of(line)[1:]]
    done = processes.run(words, env={**os.environ, "PYTHONPATH": str(ROOT)}, seconds=600)
    assert done.returncode == 0 and "Transformed 1 files successfully" in done.stderr, done.stderr
    assert "persistent_workers=True" not in (here / "src" / "train_pitfalls.py").read_text(encoding="utf-8")


def test_the_mistake_that_the_page_of_settings_shows(here: Path) -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^\$ dataloader-lint\n(.*?)\n```$", page, re.MULTILINE | re.DOTALL)
    write("pyproject.toml", "[tool.dataloader-lint]\nmax-worker = 3\n")
    code, out, err = run()
    assert (code, out, err.strip()) == (2, "", shown.replace("/home/me", str(here)))


TRAIN = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    for batch in DataLoader(TensorDataset(torch.zeros(64, 4)), batch_size=8, num_workers=1):
        pass
"""


@pytest.mark.evidence
def test_the_doctor_runs_as_its_page_says(here: Path) -> None:
    write("train.py", TRAIN)
    blocks = _BLOCK.findall((ROOT / "docs" / "doctor.md").read_text(encoding="utf-8"))
    shown = [line for language, block in blocks if language == "sh" for line in block.splitlines()]
    commands = [words_of(line)[1:] for line in shown if line.startswith("dataloader-lint doctor")]
    assert len(commands) == 4
    for words in commands:
        done = processes.run([sys.executable, "-m", "dataloader_lint", *words], seconds=600)
        assert done.returncode in (0, 1), done.stderr
    assert (here / "before.json").exists()
