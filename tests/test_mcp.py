"""The tools for coding assistants, driven by a client of the official SDK."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from benchmarks import processes
from dataloader_lint.mcp import tools
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

    return talk(make_server(str(root), may_run_code=True), once)


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


@pytest.mark.parametrize("filename", ["../a.py", "/etc/a.py", "link/a.py", "sub/../../a.py"])
def test_a_text_stands_inside_the_project(project: Path, filename: str) -> None:
    (project / "link").symlink_to("/etc")
    answer = call(project, "lint", text=BAD, filename=filename)
    assert answer.is_error and "is outside of" in answer.content[0].text


@pytest.mark.parametrize(
    ("path", "why"),
    [("none.py", "no such file"), ("notes.txt", "not a Python file"), ("a\0.py", "null characters")],
)
def test_a_path_that_cannot_be_linted_is_an_error(project: Path, path: str, why: str) -> None:
    (project / "notes.txt").touch()
    for tool in ("lint", "fix"):
        answer = call(project, tool, paths=["train.py", path])
        assert answer.is_error and why in answer.content[0].text


WATCHED = """
import asyncio, json, os, sys
from mcp import Client
from dataloader_lint.mcp.server import make_server

root, text = sys.argv[1:]
above = os.path.dirname(root)
seen = set()

def look(event, given):
    if event in ("open", "os.listdir", "os.scandir") and given and isinstance(given[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(given[0]))
        if path.startswith(above) and not (path + os.sep).startswith(root + os.sep):
            seen.add(path)

async def ask():
    async with Client(make_server(root)) as client:
        sys.addaudithook(look)
        found = [(await client.call_tool(*each)).structured_content for each in (
            ("lint", {}), ("fix", {}), ("lint", {"text": text, "filename": "new.py"}))]
        print(json.dumps([found, sorted(seen)]))

asyncio.run(ask())
"""
OUTER = {
    "pyproject.toml": "[tool.dataloader-lint]\nignore = ['DL301']\n",
    ".dataloader-lint-measured.json": "{}",
    ".gitignore": "train.py\n",
    ".git/HEAD": "",
    "options.py": "WORKERS = 0\n",
    "linked.py": BAD,
    "linked.gitignore": "*.py\n",
    "calls.py": "from data import Rows\nfrom torch.utils.data import DataLoader\nDataLoader(Rows(), num_workers=7)\n",
    "beside/options.py": "WORKERS = 0\n",
}
DATA = """import os
from torch.utils.data import Dataset

class Rows(Dataset):
    def __init__(self, folder="x"):
        self.paths = sorted(os.listdir(folder))

    def __getitem__(self, index):
        return self.paths[index]

    def __len__(self):
        return len(self.paths)
"""
OUTSIDE = """import sys
sys.path.append("..")
sys.path.append("../beside")
from torch.utils.data import DataLoader
from options import WORKERS
DataLoader([], num_workers=WORKERS, persistent_workers=True)
"""


@pytest.mark.parametrize("table", ["", "[tool.dataloader-lint]\nsrc = ['../beside', '..']\n"])
def test_no_file_outside_the_project_is_opened(tmp_path: Path, table: str) -> None:
    root = tmp_path / "outer" / "project"
    inner = {"train.py": BAD, "data.py": DATA, "outside.py": OUTSIDE, "sub/__init__.py": "", "pyproject.toml": table}
    for name, text in {**OUTER, **{f"project/{name}": text for name, text in inner.items() if text}}.items():
        path = tmp_path / "outer" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "link.py").symlink_to("../linked.py")
    (root / "folder").symlink_to("../beside")
    (root / "sub").mkdir(exist_ok=True)
    (root / "sub" / ".gitignore").symlink_to("../../linked.gitignore")
    (root / "sub" / "more.py").write_text(BAD)
    done = processes.run([sys.executable, "-c", WATCHED, str(root), OUTSIDE], cwd=Path.cwd())
    assert done.returncode == 0, done.stderr
    (linted, fixed, given), seen = json.loads(done.stdout)
    assert seen == []
    places = {f"{one['code']} {one['at']}" for one in linted["findings"]}
    assert places == {"DL301 train.py:5:12", "DL301 sub/more.py:5:12", "DL101 data.py:6:9"}
    assert "../" not in json.dumps([linted, fixed, given]) and given["findings"] == []


def test_a_configuration_behind_a_link_is_refused(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "pyproject.toml"
    elsewhere.write_text("[tool.dataloader-lint]\nsecret = 1\n")
    (project / "pyproject.toml").symlink_to(elsewhere)
    answer = call(project, "lint")
    assert answer.is_error and "outside of the project" in answer.content[0].text and "secret" not in str(answer)


def test_each_file_has_the_settings_of_its_folder(project: Path) -> None:
    (project / "part").mkdir()
    (project / "part" / "pyproject.toml").write_text("[tool.dataloader-lint]\nignore = ['DL301']\n")
    (project / "part" / "train.py").write_text(BAD)
    assert [one["at"] for one in call(project, "lint").structured_content["findings"]] == ["train.py:5:12"]
    assert [one["file"] for one in call(project, "fix").structured_content["files"]] == ["train.py"]
    assert call(project, "lint", text=BAD, filename="part/new.py").structured_content["findings"] == []


def test_diffs_apply_from_the_root(project: Path) -> None:
    (project / "part").mkdir()
    (project / "part" / "train.py").write_text(BAD)
    (changed,) = call(project, "fix", paths=["part"]).structured_content["files"]
    processes.run(["git", "apply", "-p0", "-"], cwd=project, input=changed["diff"], check=True)
    assert (project / "part" / "train.py").read_text() == BAD.replace(", persistent_workers=True", "")


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


ECHO = "import sys\nprint(sys.argv[1:], repr(sys.stdin.read()))\n"


def test_the_doctor_gives_the_script_its_arguments_and_no_options_to_itself(project: Path) -> None:
    (project / "echo.py").write_text(ECHO)
    answer = call(project, "doctor", script="echo.py", arguments=["--write", "out.diff"]).structured_content
    assert answer["exit_code"] == 0 and "['--write', 'out.diff'] ''" in answer["report"]
    answer = call(project, "doctor", script="../echo.py")
    assert answer.is_error and "is outside of" in answer.content[0].text


def test_a_script_that_does_not_end_is_ended(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "DOCTOR_SECONDS", 5)
    mark = project / "ended"
    (project / "slow.py").write_text(
        "import signal, sys, time\n"
        f"signal.signal(signal.SIGTERM, lambda *_: (open({str(mark)!r}, 'w').close(), sys.exit(1)))\n"
        "time.sleep(600)\n"
    )
    answer = call(project, "doctor", script="slow.py")
    assert answer.is_error and "slow.py did not end within 5 seconds" in answer.content[0].text
    assert mark.exists()


@pytest.mark.evidence
def test_the_doctor_measures_a_loader(project: Path) -> None:
    (project / "run.py").write_text(
        "from torch.utils.data import DataLoader\n\n"
        'if __name__ == "__main__":\n    print(len(list(DataLoader(range(64), batch_size=8, num_workers=1))))\n'
    )
    report = call(project, "doctor", script="run.py").structured_content["report"]
    assert "loader 1 (range), iterated at run.py:4: 1 worker" in report and "8 batches" in report
