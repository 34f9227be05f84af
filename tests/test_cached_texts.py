"""What texts say is kept by their content: read again only where a text has changed, and the same as without."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dataloader_lint.cache import store
from dataloader_lint.gate import Gate
from dataloader_lint.semantics.project.disk import Disk
from dataloader_lint.semantics.project.source import Source
from dataloader_lint.semantics.project.sources import Sources
from dataloader_lint.semantics.project.texts import TextParts, Texts
from test_cache_stale import PAST, Project

DATA = "import util\nfrom torch.utils.data import DataLoader, Dataset\nclass Images(util.Base): ...\n"
UTIL = "class Base: ...\ndef make(): return DataLoader(Images(), collate_fn=join, num_workers=2)\n"
BASE = "from torch.utils.data import Dataset\nclass Base(Dataset): ...\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(tmp_path / "project")
    monkeypatch.chdir(found.home)
    found.write("data.py", DATA)
    found.write("util.py", UTIL)
    return found


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was worked out from texts."""
    found: list[str] = []
    real = TextParts.get

    def get(self: TextParts, what: str, work_out: Callable[[bytes], bytes]) -> bytes:
        def noted(text: bytes) -> bytes:
            found.append(what)
            return work_out(text)

        return real(self, what, noted)

    monkeypatch.setattr(TextParts, "get", get)
    return found


def asked(home: Path, texts: Texts) -> list[object]:
    """Answers from the texts of a project, of every kind of part."""
    disk = Disk(is_noting=True)
    disk.load_texts = lambda _: texts
    sources = Sources(str(home), Gate(), disk)
    users = sources.importing(str(home / "util.py"), frozenset({b"util"}))
    return [
        [(each.path, sorted(each.words), sorted(each.outline.items()), each.calls_by_function) for each in users],
        [sorted(each.called(kind)) for each in users for kind in ("function", "method", "class")],
        [each.makes_loaders for each in users],
        [sources.define(name) for name in ("make", "none")],
        [sources.is_collating(name) for name in ("join", "none")],
        [sources.make_loaders_beside(name) for name in ("Base", "none")],
        [name in sources.dataset_names for name in (b"Images", b"Base", b"None")],
    ]


def test_what_is_kept_says_the_same_and_is_not_read_again(project: Project, read: list[str]) -> None:
    texts = Texts()
    first = asked(project.home, texts)
    assert read
    read.clear()
    assert asked(project.home, Texts(json.loads(json.dumps(texts.used)))) == first
    assert not read


def test_only_the_text_that_has_changed_is_read_again(project: Project, read: list[str]) -> None:
    texts = Texts()
    first = asked(project.home, texts)
    read.clear()
    project.write("util.py", BASE)
    after = asked(project.home, Texts(texts.used))
    assert read and len(read) == len(set(read))  # of one file
    assert after == asked(project.home, Texts()) != first


def test_what_no_text_says_any_more_is_dropped(project: Project) -> None:
    texts = Texts()
    asked(project.home, texts)
    project.write("util.py", BASE)
    later = Texts(texts.used)
    asked(project.home, later)
    assert len(later.used) == len(texts.used)
    assert len(set(later.used) - set(texts.used)) == 1


def test_what_changes_while_it_is_read_is_not_kept(project: Project) -> None:
    texts = Texts()
    disk = Disk(is_noting=True)
    disk.load_texts = lambda _: texts
    path = str(project.home / "util.py")
    parts = disk.parts_of(str(project.home), path)
    assert parts is not None
    project.write("util.py", BASE)
    os.utime(path, (PAST + 1, PAST + 1))
    assert b"Dataset" in Source(path, parts, makes_loaders=False).words
    assert all(not kept for kept in texts.used.values())


def test_a_run_after_a_change_reads_one_text(project: Project, read: list[str]) -> None:
    project.codes()
    assert list(project.cache.glob("*.texts"))
    read.clear()
    project.write("util.py", BASE)
    assert project.codes() == project.codes(cached=False)
    read.clear()
    project.write("util.py", UTIL + "\n")
    project.codes()
    assert read and len(read) == len(set(read))


@pytest.mark.parametrize("content", [b"[]", b"{", b'{"a": 1}', b'{"a": {"words": 1}}', b"[" * 100_000])
def test_what_is_damaged_is_read_again(content: bytes) -> None:
    assert store._texts_from(content) == {}
