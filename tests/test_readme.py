"""What the README tells people to type or to paste is what the tools understand."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from dataloader_lint.cli.arguments import parser
from dataloader_lint.source.pyproject import configured

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = sorted(
    {
        command.strip()
        for language, block in BLOCKS
        if language in ("sh", "yaml", "console")
        for command in re.findall(r"(?:^|run: |- |&& |\$ )(dataloader-lint(?: .*)?)$", block, re.MULTILINE)
    }
)


def blocks(language: str) -> list[str]:
    return [block for name, block in BLOCKS if name == language]


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 10
    assert any("--output-format sarif" in one for one in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_understood(command: str) -> None:
    parser().parse_args(shlex.split(command, comments=True)[1:])


def test_settings_are_understood(tmp_path: Path) -> None:
    tables = [block for block in blocks("toml") if "[tool.dataloader-lint]" in block]
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
    assert {hook["id"] for one in pasted for repo in one.get("repos", ()) for hook in repo["hooks"]} == hooks


def test_links_lead_to_files() -> None:
    targets = {target.partition("#")[0] for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", README)}
    assert len(targets) > 5
    assert [target for target in targets if not (ROOT / target).exists()] == []
