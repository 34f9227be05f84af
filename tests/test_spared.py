"""Files that no rule has to do with are told from texts alone: what a session needs is not even loaded for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint.engine.run import Run
from dataloader_lint.settings import Settings

FIXTURES = Path(__file__).parent / "fixtures"
PROJECTS = sorted(path for path in FIXTURES.glob("*/project_*") if path.is_dir())[::6]
NET = "from base import Base\n\n\nclass Net(Base):\n    def __len__(self):\n        return 1\n{}"
LOADING = "from torch.utils.data import DataLoader, Dataset\n"


def lint(path: Path, root: Path) -> tuple[list[str], bool]:
    """The codes that a run finds in a file that it begins with, and whether it needed a session."""
    run = Run(Settings(roots=(str(root),)))
    return [one.code for one in run.lint_file(str(path))], bool(run._sessions)


@pytest.mark.parametrize(
    ("more", "base", "needs_session"),
    [
        ("", "class Base:\n    pass\n", False),
        ("        x.cuda()\n", "class Base:\n    pass\n", False),
        ("", f"{LOADING}\n\nclass Base(Dataset):\n    pass\n", True),
        ("        x.cuda()\n", f"{LOADING}from net import Net\n\nDataLoader(Net())\n", True),
    ],
)
def test_a_session_is_for_what_rules_look_at(more: str, base: str, needs_session: bool, tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "train.py").write_text(f"{LOADING}x = DataLoader([1])\n")
    (tmp_path / "base.py").write_text(base)
    (tmp_path / "net.py").write_text(NET.format(more))
    assert lint(tmp_path / "net.py", tmp_path) == ([], needs_session)


def test_comments_are_looked_at_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "train.py").write_text(f"{LOADING}x = DataLoader([1])\n")
    (tmp_path / "net.py").write_text(NET.format("").replace("return 1", "return 1  # noqa: DL101"))
    run = Run(Settings(roots=(str(tmp_path),), extend_select=("DL001",)))
    assert [one.code for one in run.lint_file(str(tmp_path / "net.py"))] == ["DL001"]
    assert not run._sessions


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_nothing_is_missed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = sorted(project.rglob("*.py"))
    found = [lint(path, project)[0] for path in paths]
    monkeypatch.setattr(Run, "_is_spared", lambda *_: False)
    assert found == [lint(path, project)[0] for path in paths]
