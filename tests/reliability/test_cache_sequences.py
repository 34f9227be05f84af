"""The cache finds what a run without it finds, after whatever edits; and it would not if anything went unrecorded."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.engine.runner import lint_found
from dataloader_lint.semantics.project.answers import KINDS, Answers
from dataloader_lint.semantics.project.dependencies import OPENED, Asked, Dependencies
from dataloader_lint.settings import Settings
from dataloader_lint.source import states
from dataloader_lint.source.discovery import discover
from reliability.budget import within
from reliability.definition_edits import DEFINITION_EDITS
from reliability.other_edits import ALL_EDITS, SCENE_EDITS, SCENES, add_scenes
from reliability.sequences import EDITS, Edit, Sequence

FIXTURES = Path(__file__).parent.parent / "fixtures"
PROJECTS = sorted(path for path in FIXTURES.glob("*/project_*") if path.is_dir())
STEPS = 12


def lint(home: Path, settings: Settings, cache: Path | None, fixes: str = "") -> list[Diagnostic]:
    before = Path.cwd()
    os.chdir(home)
    try:
        return lint_found(discover(["."], settings), settings, fixes, cache=str(cache) if cache else "")
    finally:
        os.chdir(before)


def made(world: Path, seed: int) -> Path:
    """A project put together from some of the fixtures, or a package that is installed and a script that uses it."""
    chance = random.Random(seed)
    home = world / "home"
    home.mkdir(parents=True)
    for source in chance.sample(PROJECTS, chance.choice([1, 2, 2, 3])):
        folder = home / source.name if chance.random() < 0.4 else home
        shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    if seed % 10 == 0:
        spec = importlib.util.find_spec("torch")
        assert spec is not None and spec.origin is not None
        data = Path(spec.origin).parent / "utils" / "data"
        chosen = sorted(path for path in data.glob("*.py") if path.stat().st_size < 40_000)
        (home / "loading").mkdir()
        for path in chosen:
            (home / "loading" / path.name).write_text(path.read_text().replace("torch.utils.data", "loading"))
        (home / "use.py").write_text(
            "from loading.dataset import Dataset\nfrom torch.utils.data import DataLoader\n\n\nclass Rows(Dataset):\n"
            "    def __init__(self, names):\n        self.names = [str(name) for name in names]\n\n"
            "    def __getitem__(self, index):\n        return self.names[index]\n\n\n"
            "DataLoader(Rows(x), num_workers=0)\n"
        )
    (home / "setup.cfg").touch()
    return home


def differences(
    world: Path,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
    scenes: tuple[int, ...] = (),
    more: tuple[Edit, ...] = (),
) -> Iterator[str]:
    """What the cache gets wrong in a sequence of edits, `more` among them, as lines to read.

    Every second sequence has notebooks, configuration files and two directed cases as well. With `scenes`, these are
    the directed cases, the project has nothing else, and half of the edits are theirs.
    """
    home, kept, edits = world / "home", world / "kept", EDITS
    if scenes:
        edits = SCENE_EDITS
        home.mkdir(parents=True)
        (home / "setup.cfg").touch()
    else:
        made(world, seed)
        if seed % 2:
            edits, scenes = ALL_EDITS, tuple(random.Random(seed).sample(range(len(SCENES)), 2))
    add_scenes(home, scenes)
    sequence = Sequence(home, seed, (*edits, *more), by_file=edits != EDITS and seed % 3 == 0)
    fixes = "tried" if edits == SCENE_EDITS or seed % 5 == 1 else ""
    # Otherwise everything counts as written a moment ago, and is read again.
    monkeypatch.setattr(states, "RACY", -1_000_000 if seed % 4 else 3_000_000_000)
    lint(home, sequence.settings, kept, fixes)
    done: list[str] = []
    for _ in range(STEPS):
        done.append(sequence.step())
        time.sleep(0.01)  # longer than the clock of a file system takes to go on
        cached = lint(home, sequence.settings, kept, fixes)
        plain = lint(home, sequence.settings, None, fixes)
        if cached != plain:
            stale, missing = set(cached) - set(plain), set(plain) - set(cached)
            yield f"seed {seed}: {done}\nstale: {stale}\nmissing: {missing}"
            return


def go_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seeds: range, more: tuple[Edit, ...] = ()) -> None:
    wrong = []
    for seed in within("sequences of edits", seeds):
        wrong += differences(tmp_path / str(seed), seed, monkeypatch, more=more)
        shutil.rmtree(tmp_path / str(seed))
    assert not wrong, "\n\n".join(wrong)


def test_every_step_of_some_sequences_is_as_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_through(tmp_path, monkeypatch, range(8))


def test_edits_of_definitions_and_comments_are_as_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_through(tmp_path, monkeypatch, range(2000, 2006), 4 * DEFINITION_EDITS)


class Reached:
    """The kinds of questions of which an edit has changed an answer, noted in front of `Answers.hold`.

    Questions are asked of other objects: the record must not know more than in an ordinary run.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kinds: set[str] = set()
        self._others: dict[Answers, Answers] = {}
        real = Answers.hold

        def hold(answers: Answers, asker: str, asked: Asked) -> bool:
            self._note(answers, asker, asked)
            return real(answers, asker, asked)

        monkeypatch.setattr(Answers, "hold", hold)

    def _note(self, answers: Answers, asker: str, asked: Asked) -> None:
        other = self._others.get(answers)
        if other is None:
            dependencies, lookup = Dependencies(is_noting=True), answers._lookup
            roots = tuple(answers._roots._named)
            other = Answers(lookup._src, answers._gate, dependencies, roots)
            self._others = {answers: other}
        self.kinds |= {
            str(question[0]) for question, answer in asked.items() if other.answer(asker, question) != answer
        }


def test_edits_change_answers_of_every_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were there a kind whose answers no edit changes, the sequences would say nothing about its record."""
    reached = Reached(monkeypatch)
    wanted = {kind for kind in KINDS if kind != OPENED}  # has one answer; what was opened is asked about its content
    for seed in range(1, 6 * len(SCENES)):
        scenes = tuple((2 * seed + each) % len(SCENES) for each in range(2))
        assert not list(differences(tmp_path / str(seed), seed, monkeypatch, scenes))
        if wanted <= reached.kinds:
            break
    assert reached.kinds == wanted


@pytest.mark.long
def test_every_step_of_500_sequences_is_as_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_through(tmp_path, monkeypatch, range(1000, 1500))


@pytest.mark.long
def test_300_sequences_with_edits_of_definitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_through(tmp_path, monkeypatch, range(2006, 2306), 4 * DEFINITION_EDITS)
