"""Every kind of question is recorded, and what was recorded reaches whoever rests on it: without, findings go stale."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dataloader_lint
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.pipeline.session import Session
from dataloader_lint.semantics.project import dependencies
from dataloader_lint.semantics.project.answers import KINDS, Answers
from dataloader_lint.semantics.project.dependencies import Answer, Dependencies, behind
from dataloader_lint.settings import Settings
from dataloader_lint.source import states
from reliability.cache_cases import ASKING, CASES, ONLY_ASKED, Case
from reliability.sequences import PAST
from reliability.test_cache_sequences import PROJECTS, lint, made

PACKAGE = Path(dataloader_lint.__file__).parent


def build(home: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        path = home / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (PAST, PAST))


def outcome(case: Case, world: Path) -> tuple[bool, bool]:
    """True if the change matters, and whether a run with a cache notices."""
    home = world / "home"
    build(home, {"setup.cfg": "", **case.before})
    first = lint(home, Settings(), world / "kept", case.fixes)
    build(home, dict(case.after))
    plain = lint(home, Settings(), None, case.fixes)
    return first != plain, lint(home, Settings(), world / "kept", case.fixes) == plain


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_that_matters_is_noticed(case: Case, tmp_path: Path) -> None:
    assert outcome(case, tmp_path) == (True, True)


def _forget(monkeypatch: pytest.MonkeyPatch, kinds: list[str]) -> None:
    """From now on, questions of these kinds are answered and not recorded."""
    real = Answers.ask

    def ask(self: Answers, asker: str, *question: str | int | tuple[str, ...]) -> Answer:
        return self.answer(asker, question) if question[0] in kinds else real(self, asker, *question)

    monkeypatch.setattr(Answers, "ask", ask)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_would_not_be_without_the_record(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *more = case.kinds.split()
    if more:
        with monkeypatch.context() as patch:
            _forget(patch, more)
            assert outcome(case, tmp_path / "with") == (True, True)
    _forget(monkeypatch, [first, *more])
    assert outcome(case, tmp_path / "without") == (True, False)


def test_nor_without_knowing_who_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependencies, "led_to", lambda asked: ())
    assert outcome(CASES[0], tmp_path) == (True, False)


def test_nor_without_the_time_of_the_last_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that leaves size and time stamp as they were."""
    case = CASES[0]
    assert {len(text or "") for text in case.after.values()} == {len(case.before[name]) for name in case.after}
    monkeypatch.setattr(states, "_stamps", lambda status: (status.st_mtime_ns, status.st_size, 1, 1))
    assert outcome(case, tmp_path) == (True, False)


@pytest.mark.parametrize("question", ONLY_ASKED)
def test_other_questions_are_recorded_and_asked_again(question: tuple[str | int, ...], tmp_path: Path) -> None:
    build(tmp_path, {"setup.cfg": "", "data.py": ASKING})
    asked = Dependencies(is_noting=True)
    path = str(tmp_path / "data.py")
    session = Session(dependencies=asked)
    lint_source(ASKING, path, session=session)
    session.project.answers.ask(path, *question)
    recorded = asked.asked[path]
    assert not recorded[question]
    assert Session(dependencies=Dependencies(is_noting=True)).project.answers.hold(path, recorded)
    build(tmp_path, dict(ONLY_ASKED[question]))
    later = Session(dependencies=Dependencies(is_noting=True)).project.answers
    assert not later.hold(path, recorded)
    changed = {question, *([("packaged",)] if "__init__.py" in ONLY_ASKED[question] else [])}
    assert later.hold(path, {each: answer for each, answer in recorded.items() if each not in changed})


def test_there_is_a_case_for_every_kind() -> None:
    assert {case.kinds.split()[0] for case in CASES} | {str(question[0]) for question in ONLY_ASKED} == set(KINDS)


def test_only_one_place_of_the_rooms_goes_to_the_disk() -> None:
    """What reads past `Disk` and `Answers` would not be noticed when it changes."""
    touching = re.compile(
        r"\bos\.(?:path\.(?:is|exists|lexists|getmtime|getsize|realpath)|stat|lstat|listdir|scandir|walk)\b|(?<![.\w])open\(|\.(?:read_text|read_bytes|exists|is_file|is_dir|iterdir)\("
    )
    found = {
        path.relative_to(PACKAGE).as_posix()
        for room in ("semantics", "pipeline", "edits", "rules")
        for path in (PACKAGE / room).rglob("*.py")
        if any(touching.search(line) for line in _code(path))
    }
    assert found == {"semantics/project/disk.py"}


def test_rooms_read_code_and_no_comments() -> None:
    """Where only comments have changed, the cache keeps what rests on a file: nothing but its places may rest on them.

    `project/` compares whole texts, and outlines leave comments out. `scripts.py` looks for comments that divide a
    script into cells, and a file that has some never has the same code as another one (`cache/same_code.py`).
    """
    reading = {
        path.relative_to(PACKAGE).as_posix()
        for room in ("semantics", "pipeline", "rules")
        for path in (PACKAGE / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "text" and ast.unparse(node.value).endswith("tree")
    }
    assert reading == {
        f"semantics/{path}"
        for path in ("syntax/layout.py", "project/kept_modules.py", "project/project.py", "project/scripts.py")
    }


def _code(path: Path) -> Iterator[str]:
    """The lines of a file without its strings and comments."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield f"{ast.unparse(node.func)}("


def _asked_alone(path: Path) -> Dependencies:
    found = Dependencies(is_noting=True)
    lint_source(path.read_bytes(), str(path), session=Session(dependencies=found))
    return found


def bypassed(paths: list[Path]) -> list[str]:
    """Questions that are asked for a file alone, and not on its behalf in a run over all: some memory hides them."""
    together = Dependencies(is_noting=True)
    session = Session(dependencies=together)
    for path in paths:
        lint_source(path.read_bytes(), str(path), session=session)
    missing = []
    for path in paths:
        alone = _asked_alone(path).asked
        reached = behind([str(path)], together.asked)
        for each in behind([str(path)], alone):
            for question, answer in alone.get(each, {}).items():
                if each not in reached or together.asked.get(each, {}).get(question, "none") != answer:
                    missing.append(f"{path.name}: {each} {question}")
    return missing


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_no_memory_bypasses_the_record(project: Path) -> None:
    assert not bypassed(sorted(project.rglob("*.py")))


def test_no_memory_bypasses_the_record_of_a_real_package(tmp_path: Path) -> None:
    home = made(tmp_path, 0)
    assert not bypassed(sorted(home.rglob("*.py")))
