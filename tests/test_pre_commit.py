"""The hooks, by the real pre-commit, from a repository that holds the working tree as it is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import processes
from notebook_texts import encoded, notebook

ROOT = Path(__file__).parent.parent
PARTS = ("dataloader_lint", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
SAFE = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True)\n"

NOTEBOOK = encoded(notebook(SAFE))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]
pytest.importorskip("pre_commit")


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=someone", "-c", "user.email=someone@example.org", "-c", "commit.gpgsign=false")
    processes.run(["git", *identity, *arguments], cwd=folder, check=True)


def repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the hooks."""
    folder = repository(tmp_path_factory.mktemp("pre-commit") / "hooks")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "hooks")
    return folder


@pytest.fixture(scope="module", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Where pre-commit builds its environments, which takes half a minute, once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRE_COMMIT_HOME", str(tmp_path_factory.mktemp("pre-commit-home")))
        yield


def try_repo(hooks: Path, project: Path, hook: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(hooks), hook, "--all-files"]
    done = processes.run(command, cwd=project)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = repository(tmp_path / "project")
    (folder / "a.py").write_text(SAFE)
    (folder / "b.ipynb").write_bytes(NOTEBOOK)
    (folder / "notes.txt").write_text("DataLoader(persistent_workers=True)\n")
    git(folder, "add", ".")
    return folder


def test_findings_fail_the_hook(hooks: Path, project: Path) -> None:
    code, out = try_repo(hooks, project, "dataloader-lint")
    assert code == 1
    assert "a.py:3:" in out
    assert "b.ipynb:cell 1:3:" in out
    assert "notes.txt" not in out
    assert (project / "a.py").read_text() == SAFE


def test_a_fix_fails_the_hook_once(hooks: Path, project: Path) -> None:
    code, out = try_repo(hooks, project, "dataloader-lint-fix")
    assert code == 1
    assert "files were modified by this hook" in out
    assert (project / "a.py").read_text() == SAFE.replace(", persistent_workers=True", "")
    assert (project / "b.ipynb").read_bytes() == NOTEBOOK.replace(b", persistent_workers=True", b"")
    git(project, "add", ".")
    code, out = try_repo(hooks, project, "dataloader-lint-fix")
    assert (code, "Passed" in out) == (0, True)


def test_a_commit_is_stopped(hooks: Path, project: Path) -> None:
    revision = processes.run(["git", "rev-parse", "HEAD"], cwd=hooks, check=True)
    config = f"repos:\n- repo: {hooks}\n  rev: {revision.stdout.strip()}\n  hooks:\n  - id: dataloader-lint-fix\n"
    (project / ".pre-commit-config.yaml").write_text(config)
    processes.run([sys.executable, "-m", "pre_commit", "install"], cwd=project, check=True)
    git(project, "add", ".")
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "commit", "-q", "-m", "with a pitfall")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "without")


def test_the_documented_form_prints_each_finding_once(hooks: Path, project: Path) -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (shown,) = [
        block for block in re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL) if "rev:" in block
    ]
    revision = processes.run(["git", "rev-parse", "HEAD"], cwd=hooks, check=True).stdout.strip()
    here = re.sub(r"repo: \S+", f"repo: {hooks}", re.sub(r"rev: \S+", f"rev: {revision}", shown))
    (project / ".pre-commit-config.yaml").write_text(here)
    (project / "calls.py").write_text("from lib import make\n\nmake(data)\n")
    (project / "lib.py").write_text(SAFE.replace("loader =", "def make(data):\n    return"))
    git(project, "add", ".")
    done = processes.run([sys.executable, "-m", "pre_commit", "run", "--all-files"], cwd=project)
    assert done.returncode == 1
    places = ("a.py:3:10", "b.ipynb:cell 1:3:10", "lib.py:4:12")
    assert [done.stdout.count(each) for each in places] == [1, 1, 1], done.stdout
    assert "Found 3 problems: 3 errors." in done.stdout
