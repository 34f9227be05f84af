"""What an editor is told after each of many edits is what a server would say that has just been started.

And what a command would say if everything was saved.
"""

from __future__ import annotations

import random
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.lsp import checking
from dataloader_lint.lsp.checking import Checked, Document, check, check_again, fixes
from dataloader_lint.pipeline.session import Session
from dataloader_lint.semantics.project.kept_modules import Kept
from dataloader_lint.settings import Settings
from dataloader_lint.source.decoding import UnreadableError
from dataloader_lint.source.parsing import tree_of
from dataloader_lint.source.pyproject import SettingsByFile
from reliability.budget import within
from reliability.sequences import Sequence
from reliability.test_cache_sequences import made

STEPS = 12
ROOM = 20_000  # of few of the modules, so that some are forgotten


def told(document: Document, others: list[Document], kept: Kept, monkeypatch: pytest.MonkeyPatch) -> object:
    """The findings of a document and their fixes, from a server that keeps this."""
    monkeypatch.setattr(checking, "_KEPT", kept)
    checked = check(document, others)
    return checked.found, fixes(checked), checked.trouble


class Buffers:
    """The documents that are open in an editor, some of them not saved."""

    def __init__(self, sequence: Sequence) -> None:
        self.sequence = sequence
        self.chance = sequence.chance
        self.texts: dict[Path, str] = {}

    def step(self) -> str:
        """Edit a file on the disk, or what an editor holds of one."""
        if self.chance.random() < 0.4:
            return self.sequence.step()
        path = self.sequence.file()
        if path is None:
            return self.sequence.step()
        text = self.texts.get(path) or path.read_bytes().decode("utf-8", "replace")
        kind = self.chance.choice(("key", "word", "number", "saved", "closed"))
        if kind == "key":
            self.texts[path] = f"{text}\n{'x' * self.chance.randint(1, 9)} = {self.chance.choice(['1', '(', 'None'])}\n"
        elif kind == "word":
            words = re.findall(r"\b[a-zA-Z_]\w{2,}\b", text)
            self.texts[path] = re.sub(rf"\b{self.chance.choice(words)}\b", "another", text, count=1) if words else text
        elif kind == "number":
            self.texts[path] = re.sub(r"\b[024]\b", lambda _: self.chance.choice("024"), text)
        elif path in self.texts:
            if kind == "saved":
                path.write_text(text, encoding="utf-8", newline="")
            del self.texts[path]
        return f"{kind}: {path.name}"

    def documents(self) -> list[Document]:
        """The open documents, the one that is looked at first."""
        for path in [path for path in self.texts if not path.parent.is_dir()]:
            del self.texts[path]
        path = self.sequence.file()
        found = {each: text for each, text in self.texts.items() if each != path}
        if path is None:
            return []
        first = self.texts.get(path)
        text = path.read_bytes().decode("utf-8", "replace") if first is None else first
        documents = [(path, text), *found.items()]
        return [Document(str(each), text, str(self.sequence.home)) for each, text in documents]


def differences(world: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What a server that goes on gets wrong, as lines to read."""
    sequence = Sequence(made(world, seed), seed)
    buffers, kept = Buffers(sequence), Kept(random.Random(seed).choice([ROOM, 100 * ROOM]))
    done: list[str] = []
    for _ in range(STEPS):
        done.append(buffers.step())
        time.sleep(0.002)
        for _ in range(2):
            documents = buffers.documents()
            if not documents:
                return
            going_on = told(documents[0], documents[1:], kept, monkeypatch)
            started = told(documents[0], documents[1:], Kept(ROOM), monkeypatch)
            if going_on != started:
                yield f"seed {seed}: {done}\n{documents[0].path}\ngoing on: {going_on}\nstarted: {started}"
                return


def is_python(text: str) -> bool:
    try:
        tree_of(text)
    except UnreadableError:
        return False
    return True


def saved(documents: list[Document], world: Path) -> list[Diagnostic]:
    """What a command says of the first document in a copy of the world that has all texts."""
    elsewhere = world.with_name(f"{world.name}-saved")
    shutil.rmtree(elsewhere, ignore_errors=True)
    shutil.copytree(world, elsewhere, symlinks=True)
    for one in documents:
        (elsewhere / Path(one.path).relative_to(world)).write_text(one.text, encoding="utf-8", newline="")
    path = elsewhere / Path(documents[0].path).relative_to(world)
    home = elsewhere / Path(documents[0].folder).relative_to(world)
    settings = SettingsByFile(Settings(options=(), roots=(str(home),))).of_file(str(path))
    return [
        replace(one, filename=documents[0].path, because=())
        for one in lint_source(path.read_bytes(), str(path), settings, Session(settings))
    ]


def differences_from_saved(world: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What a server gets wrong that knows unsaved texts, and looks again only where these matter, as lines to read."""
    sequence = Sequence(made(world, seed), seed)
    buffers = Buffers(sequence)
    monkeypatch.setattr(checking, "_KEPT", Kept(ROOM))
    known: dict[Document, Checked] = {}
    done: list[str] = []
    for _ in range(STEPS):
        done.append(buffers.step())
        # Half-typed texts and files that are not there yet count for nobody, as the page for editors says.
        documents = [one for one in buffers.documents() if is_python(one.text) and Path(one.path).is_file()]
        if not documents:
            continue
        first = documents[0]
        before = known.get(first)
        checked = known[first] = check(first, documents) if before is None else check_again(before, documents)
        found = [replace(one, because=()) for one in checked.found]
        if checked.trouble or checked.asked is None or found == (expected := saved(documents, world)):
            continue
        yield f"seed {seed}: {done}\n{first.path}\nserver: {found}\nsaved: {expected}"
        return


def test_what_is_not_saved_counts_as_if_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = []
    for seed in within("unsaved texts", range(8)):
        wrong += differences_from_saved(tmp_path / str(seed), seed, monkeypatch)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.long
def test_what_is_not_saved_counts_as_if_it_was_at_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = []
    for seed in within("unsaved texts", range(8, 10_000)):
        wrong += differences_from_saved(tmp_path / str(seed), seed, monkeypatch)
        shutil.rmtree(tmp_path / str(seed))
    assert not wrong, "\n\n".join(wrong)


def go_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    wrong = []
    for seed in within("edits in an editor", seeds):
        wrong += differences(tmp_path / str(seed), seed, monkeypatch)
        shutil.rmtree(tmp_path / str(seed))
    assert not wrong, "\n\n".join(wrong)


def test_a_server_that_goes_on_says_what_a_new_one_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_through(tmp_path, monkeypatch, range(6))


@pytest.mark.long
def test_a_server_that_goes_on_says_what_a_new_one_says_at_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_through(tmp_path, monkeypatch, range(6, 10_000))
