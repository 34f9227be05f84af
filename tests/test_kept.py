"""What a server keeps from one session to the next, and when it does not."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from dataloader_lint.engine.linter import lint_source
from dataloader_lint.pipeline.session import Session
from dataloader_lint.semantics.project.kept_modules import Kept
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.settings import Settings
from dataloader_lint.source.parsing import tree_of

USE = "from data import Rows\nfrom torch.utils.data import DataLoader\n\nloader = DataLoader(Rows([]), num_workers=2)\n"
ROWS = (
    "from torch.utils.data import Dataset\n\n\nclass Rows(Dataset):\n    def __init__(self, rows):\n"
    "        self.rows = [str(row) for row in rows]\n\n    def __getitem__(self, index):\n"
    "        return self.rows[index]\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "data.py").write_text(ROWS)
    (tmp_path / "use.py").write_text(USE)
    return tmp_path


def lint(project: Path, kept: Kept, text: str = USE) -> tuple[Session, list[str]]:
    settings = Settings(roots=(str(project),))
    answers = kept.begin(settings, {})
    session = Session(settings, None, answers.dependencies, answers, kept)
    found = lint_source(text, str(project / "use.py"), settings, session)
    kept.rest()
    return session, [one.code for one in found]


def module_of(path: str, text: str) -> ModuleFacts:
    return ModuleFacts(path, False, tree_of(text), text)


def opened(session: Session, path: Path) -> object:
    return session.project._modules[str(path)]


def test_a_module_is_the_same_one_in_the_next_session(project: Path) -> None:
    kept = Kept(10_000)
    first, _ = lint(project, kept)
    second, _ = lint(project, kept, f"{USE}x = 1\n")
    data = opened(first, project / "data.py")
    assert data is not None and opened(second, project / "data.py") is data
    assert opened(second, project / "use.py") is not opened(first, project / "use.py")


def test_nothing_is_read_again_while_nothing_changes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(10_000)
    lint(project, kept)
    monkeypatch.setattr(
        "dataloader_lint.semantics.project.answers.Sources", None
    )  # would be called to read the project
    lint(project, kept, f"{USE}x = 1\n")
    (project / "data.py").write_text(f"{ROWS}\n")
    with pytest.raises(TypeError):
        lint(project, kept)[0].project.answers.ask(str(project / "use.py"), "held", "Rows")


@pytest.mark.parametrize(
    ("name", "text"),
    [("data.py", ROWS.replace("[str(row) for row in rows]", "open(rows)")), ("other.py", ROWS), ("data.py", None)],
)
def test_a_change_on_the_disk_counts(project: Path, name: str, text: str | None) -> None:
    kept = Kept(10_000)
    lint(project, kept)
    if text is None:
        (project / name).unlink()
    else:
        (project / name).write_text(text)
    assert lint(project, kept)[1] == lint(project, Kept(10_000))[1]


def test_a_module_is_given_once_to_a_session() -> None:
    kept = Kept(100)
    kept.put(module_of("/nowhere/a.py", "x = 1\n"))
    assert kept.take("/nowhere/a.py", "x = 1\n") is None
    kept.rest()
    assert kept.take("/nowhere/a.py", "x = 2\n") is None
    assert kept.take("/nowhere/a.py", "x = 1\n") is not None
    assert kept.take("/nowhere/a.py", "x = 1\n") is None


def test_what_was_inferred_is_forgotten_and_what_the_text_says_is_kept() -> None:
    kept, module = Kept(100), module_of("/nowhere/a.py", "x = 1\n")
    kept.put(module)
    key = ("answer", id(module.root))
    assert module.tree.once(key, lambda: "inferred") == "inferred"
    assert module.tree.of_text(key, lambda: "written") == "written"
    kept.rest()
    assert module.tree.once(key, lambda: "anew") == "anew"
    assert module.tree.of_text(key, lambda: "anew") == "written"


class Weak(ModuleFacts):
    """Tells when it is freed."""

    __slots__ = ("__weakref__",)


def test_the_oldest_modules_are_forgotten_and_freed_without_the_collector() -> None:
    kept = Kept(12)
    text = "def f():\n    return [x for x in ()]\n"
    first = Weak("/nowhere/first.py", False, tree_of(text), text)
    gone = weakref.ref(first)
    kept.put(first)
    kept.put(module_of("/nowhere/second.py", "x = 1\n"))
    gc.disable()
    try:
        del first
        kept.rest()
        assert gone() is None
    finally:
        gc.enable()
    assert kept.take("/nowhere/second.py", "x = 1\n") is not None
