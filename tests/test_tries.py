"""Sessions side by side: a fix is tried on another text of a file without opening the project's modules again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dataloader_lint.engine.fixer import with_fixes
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.pipeline.session import Session
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.settings import Settings

MAIN = """from torch.utils.data import DataLoader
WORKERS = {}
from options import OPTIONS
DataLoader(range(9), persistent_workers=True, **OPTIONS)
"""
OPTIONS = "import main\nOPTIONS = dict(num_workers=main.WORKERS)\n"
SETTINGS = Settings(select=("DL301",))


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file of a project whose other module asks it for a number."""
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "options.py").write_text(OPTIONS)
    (tmp_path / "main.py").write_text(MAIN.format(0))
    return str(tmp_path / "main.py")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each module is opened, by its name."""
    found: Counter[str] = Counter()
    before = Project._facts

    def counted(self: Project, path: str, text: str) -> Any:
        found[Path(path).stem] += 1
        return before(self, path, text)

    monkeypatch.setattr(Project, "_facts", counted)
    return found


def codes(text: str, path: str, session: Session) -> list[str]:
    return [one.code for one in lint_source(text, path, SETTINGS, session)]


def test_each_goes_on_with_what_it_knew(path: str, opened: Counter[str]) -> None:
    first = Session(SETTINGS)
    assert codes(MAIN.format(0), path, first) == ["DL301"]
    second = first.beside()
    for _ in range(2):
        assert codes(MAIN.format(2), path, second) == []
        assert codes(MAIN.format(0), path, first) == ["DL301"]
    assert opened == {"main": 2, "options": 1}


@pytest.mark.parametrize("is_over", [False, True])
def test_one_starts_again(path: str, is_over: bool) -> None:
    first = Session(SETTINGS)
    assert codes(MAIN.format(0), path, first) == ["DL301"]
    second = first.beside()
    assert codes(MAIN.format(2), path, second) == []
    before = first.project
    second.start_over() if is_over else second.forget()
    assert codes(MAIN.format(0), path, first) == ["DL301"]
    assert (first.project is before) is not is_over
    assert codes(MAIN.format(2), path, second) == []


def test_a_fix_is_tried_with_the_modules_that_are_open(path: str, opened: Counter[str]) -> None:
    text = MAIN.format(0).replace(", **OPTIONS", ", num_workers=OPTIONS['num_workers']")
    [found] = with_fixes(text.encode(), path, SETTINGS, Session(SETTINGS))
    assert found.fix is not None
    assert opened == {"main": 2, "options": 1}
