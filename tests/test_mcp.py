"""The tools for coding assistants, driven by a client of the official SDK."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from dataloader_lint.mcp.server import make_server

BAD = """from torch.utils.data import DataLoader


def make(data):
    return DataLoader(data, persistent_workers=True)
"""


def talk(server: Any, conversation: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(server) as client:
            return await conversation(client)

    return asyncio.run(run())


def call(root: Path, tool: str, **arguments: object) -> Any:
    async def once(client: Client) -> Any:
        return await client.call_tool(tool, arguments)

    return talk(make_server(str(root)), once)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "train.py").write_text(BAD)
    return tmp_path


def test_the_doctor_is_offered_only_where_it_is_allowed(project: Path) -> None:
    async def names(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    assert talk(make_server(str(project)), names) == {"lint", "explain", "fix"}
    assert "doctor" in talk(make_server(str(project), may_run_code=True), names)


def test_lint_gives_places_and_fixes(project: Path) -> None:
    found = call(project, "lint").structured_content
    assert found["counts"] == {"error": 1}
    (finding,) = found["findings"]
    assert (finding["code"], finding["at"], finding["fix"]["safety"]) == ("DL301", "train.py:5:12", "safe")


def test_lint_takes_a_text_that_is_not_saved(project: Path) -> None:
    assert (
        call(project, "lint", text=BAD.replace("True", "False"), filename="train.py").structured_content["findings"]
        == []
    )


def test_fix_shows_a_diff_and_writes_nothing(project: Path) -> None:
    (changed,) = call(project, "fix").structured_content["files"]
    assert changed["file"] == "train.py" and "-    return DataLoader(data, persistent_workers=True)" in changed["diff"]
    assert (project / "train.py").read_text() == BAD


def test_explain_knows_rules_and_messages(project: Path) -> None:
    page = call(project, "explain", question="DL301").structured_content
    assert page["name"] == "persistent-workers-without-workers" and "## Example" in page["page"]
    message = "ValueError: persistent_workers option needs num_workers > 0"
    rules = call(project, "explain", question=message).structured_content["rules"]
    assert rules[0]["code"] == "DL301"
    assert call(project, "explain", question="my dog is ill").structured_content["rules"] == []


@pytest.mark.parametrize("path", ["..", "/etc", "link"])
def test_nothing_outside_the_project_is_read(project: Path, path: str) -> None:
    (project / "link").symlink_to("/etc")
    for tool in ("lint", "fix"):
        answer = call(project, tool, paths=[path])
        assert answer.is_error and "is outside of" in answer.content[0].text


def test_settings_that_mean_nothing_are_one_line(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.dataloader-lint]\nmax-worker = 3\n")
    answer = call(project, "lint")
    assert answer.is_error and "did you mean 'max-workers'" in answer.content[0].text


def test_the_command_serves_on_standard_input(project: Path) -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "dataloader_lint", "mcp", "--root", str(project)], cwd=str(Path.cwd())
    )

    async def lint(client: Client) -> Any:
        return await client.call_tool("lint", {})

    assert talk(parameters, lint).structured_content["counts"] == {"error": 1}
