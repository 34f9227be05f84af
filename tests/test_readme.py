"""What the README tells people to type or to paste is what the tools understand."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint.cli.arguments import parser
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.source.pyproject import configured

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))}
BLOCKS = {name: re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) for name, text in PAGES.items()}
COMMANDS = sorted(
    {
        (name, command.strip())
        for name, several in BLOCKS.items()
        for language, block in several
        if language in ("sh", "yaml", "console")
        for command in re.findall(r"(?:^|run: |- |&& |\$ )(dataloader-lint(?: .*)?)$", block, re.MULTILINE)
    }
)
# What needs more than the package, by the extra that the page must name.
NEEDS = {
    "dataloader-lint doctor": "doctor",
    "dataloader-lint lsp": "lsp",
    "dataloader-lint mcp": "mcp",
    "--watch": "watch",
}
# Sessions on repositories that are not here, and on somebody's program under torch.
SHOWN = {"first-run.md", "doctor.md"}
# The lines that are run as they are written. tests/test_documented.py says of each other one why it is not.
RUN = [each for each in COMMANDS if each[0] not in SHOWN and not any(begins in each[1] for begins in NEEDS)]


def blocks(language: str) -> list[str]:
    return [block for several in BLOCKS.values() for name, block in several if name == language]


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 20
    assert any("--output-format sarif" in command for _, command in COMMANDS)
    assert len(README.splitlines()) <= 150


def test_the_number_of_rules() -> None:
    rules = [found.rule for found in found_rules().values() if found.check is not None]
    assert f"{sum(rule.is_on for rule in rules)} of {len(rules)} are on by default" in README


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_commands_are_understood(page: str, command: str) -> None:
    words = shlex.split(command.partition(" < ")[0], comments=True)[1:]
    if words[:1] not in (["doctor"], ["lsp"], ["mcp"]):
        parser().parse_args(words)
    for begins, extra in NEEDS.items():
        assert begins not in command or re.search(rf"\[{extra}\]|extra:? `?{extra}", PAGES[page]), extra


@pytest.mark.parametrize(("page", "command"), RUN)
def test_commands_run_as_written(page: str, command: str, tmp_path: Path) -> None:
    work, tools = tmp_path / "work", tmp_path / "tools"
    shutil.copytree(ROOT / "examples", work / "examples")
    shutil.copytree(ROOT / "examples", work / "src")
    shutil.copy(ROOT / "examples" / "train_pitfalls.py", work / "train.py")
    (work / "traceback.txt").write_text("RuntimeError: context has already been set\n", encoding="utf-8")
    (work / "dataloader-lint.json").write_text('{"version": 1, "findings": []}', encoding="utf-8")
    tools.mkdir()
    tool = tools / "dataloader-lint"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dataloader_lint "$@"\n', encoding="utf-8")
    tool.chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    if "--baseline" in command:
        written = ["bash", "-c", "dataloader-lint --write-baseline dataloader-lint.json"]
        processes.run(written, cwd=work, env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)})
    done = processes.run(["bash", "-c", command], cwd=work, env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)})
    assert done.returncode in (0, 1), f"{page}: {done.stderr}"


def test_settings_are_understood(tmp_path: Path) -> None:
    tables = [block for _, block in BLOCKS["README.md"] if "[tool.dataloader-lint]" in block]
    assert tables
    for table in tables:
        (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
        assert configured(str(tmp_path))


def test_configurations_of_other_tools_can_be_read() -> None:
    servers = [tomllib.loads(block).get("language-server") for block in blocks("toml")]
    assert {"dataloader-lint": {"command": "dataloader-lint", "args": ["lsp"]}} in servers
    assert [json.loads(block) for block in blocks("json")]
    yaml = pytest.importorskip("yaml")
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    pasted = [yaml.safe_load(block) for block in blocks("yaml")]
    named = {
        hook["id"] for one in pasted if isinstance(one, dict) for repo in one.get("repos", ()) for hook in repo["hooks"]
    }
    assert named
    assert named <= hooks


def test_links_lead_to_files() -> None:
    targets = {target.partition("#")[0] for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", README)}
    assert len(targets) > 5
    assert [target for target in targets if not (ROOT / target).exists()] == []
