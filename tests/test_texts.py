"""What is told of the files of a project from their texts alone, before any of them is parsed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dataloader_lint.gate import Gate
from dataloader_lint.semantics.project.disk import Disk
from dataloader_lint.semantics.project.outline import defined_about, outline, statements, that_use
from dataloader_lint.semantics.project.search_paths import added_folders
from dataloader_lint.semantics.project.source import Source, source_of
from dataloader_lint.semantics.project.sources import Sources

TEXT = b"""\
import os, torch.utils.data as data
from .parts import make, \\
    other
from shop.parts import (
    hidden,
)
from . import near

make (1)
LIMIT: int = 3  # a comment names things, too


@wrap
class Faces(Base, metaclass=Meta(big)):
    def first(self):
        return self.read(self.undef (2))

    async def second(self):
        return outer(inner [0](3), default=LIMIT)


def last[T](faces: Faces): return (faces) . run()
"""


def _source(text: bytes) -> Source:
    return source_of("made_up.py", text)


def test_imports() -> None:
    known = {b"os", b"shop", b"sys", b"torch"}
    of_the_project = {b"shop", b"parts", b"make", b"other", b"hidden", b"near"}
    assert _source(TEXT).imported(known) == of_the_project | {b"os", b"torch", b"utils", b"data", b"as"}
    assert _source(TEXT).imported({b"shop", b"data"}) == of_the_project
    assert _source(b"  import os\r\nimport sys").imported(known) == {b"os", b"sys"}
    assert _source(b"reimport os\nx = 1 # import os").imported(known) == set()


def test_words() -> None:
    words = _source("größe = { 'a-b': x1 }".encode()).words
    assert words == {"größe".encode(), b"a", b"b", b"x1"}
    assert {b"comment", b"hidden", b"undef", b"T"} <= _source(TEXT).words


def test_calls_by_function() -> None:
    assert _source(TEXT).calls_by_function == [
        (b"", {b"import", b"make", b"Faces", b"Meta"}),
        (b"first", {b"read", b"undef"}),
        (b"second", {b"outer"}),
        (b"last", {b"return", b"run"}),
    ]
    assert _source(b"x").calls_by_function == [(b"", frozenset())]


def test_what_is_called() -> None:
    source = _source(TEXT)
    assert source.called("method") == {b"read", b"undef"}
    assert source.called("function") >= {b"make", b"read", b"undef", b"outer", b"run"}
    assert source.called("function").isdisjoint({b"first", b"second", b"last", b"inner", b"Base"})
    assert source.called("class") == source.called("function") | {b"Base", b"metaclass", b"Meta", b"big"}


def test_what_names_mention() -> None:
    found = outline(TEXT, statements(TEXT))
    assert found[b"Faces"] >= {b"wrap", b"Base", b"LIMIT", b"outer"}
    assert b"first" not in found  # a method
    assert b"Faces" not in found[b"LIMIT"]
    assert that_use(found, {b"Faces"}) >= {b"Faces", b"last"}
    assert that_use(found, {b"comment"}) >= {b"LIMIT", b"Faces", b"last"}
    assert that_use(found, {b"hidden"}) >= {b"hidden"}
    assert that_use(found, {b"big"}) == {b"Faces", b"last"}
    assert that_use(found, {b"nothing"}) == set()


@pytest.mark.parametrize(
    "taken",
    [
        b"import cv2",
        b"import os, cv2 as cv",
        b"from cv2 import (\n    imread,\n    resize as scale,\n)",
        b"try:\n    import cv2 as cv\nexcept ImportError:\n    cv = None",
    ],
    ids=["whole", "renamed", "members", "tried"],
)
@pytest.mark.parametrize("use", [b"cv2.imread(path)", b"cv.imread(path)", b"imread(path)", b"scale(imread(path))"])
def test_what_is_about_something(taken: bytes, use: bytes) -> None:
    text = taken + b"\n\ndef read(path):\n    return " + use
    text += b"\n\nclass Images:\n    def get(self, i):\n        return read(i)\n\ndef count(): return 1\n"
    bound = {b"cv2", b"cv", b"imread", b"scale"}.intersection(taken.replace(b",", b" ").split())
    is_used = bool(bound.intersection(use.replace(b".", b" ").replace(b"(", b" ").split())) or b"cv2" in use
    found = defined_about(text, frozenset({b"cv2"}))
    assert found - bound == ({b"read", b"Images"} if is_used else set())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {
        "parts.py": "def make(loader): return loader\n",
        "other.py": "import parts\nfunctools = parts.make\n",
        "train.py": "\ufefffrom parts import make\nfor batch in make(DataLoader([1])):\n    batch.backward()\n",
        "quiet.py": "from parts import make\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_who_imports_a_file(project: Path) -> None:
    sources = Sources(str(project), Gate(), Disk())

    def importing(*words: bytes) -> list[str]:
        return [Path(each.path).name for each in sources.importing(str(project / "parts.py"), frozenset(words))]

    assert importing(b"make") == ["other.py", "train.py"]
    assert importing(b"batch", b"nothing") == ["train.py"]
    assert importing(b"mak") == []
    assert [each.makes_loaders for each in sources.with_word("make")] == [False, True]


def test_modules_of_libraries_are_none_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "images.py").write_text("class Images(Dataset): ...\n")
    (tmp_path / "train.py").write_text("from data.images import Images\nDataLoader(Images())\n")
    (tmp_path / "other.py").write_text("from torch.utils.data import DataLoader, Dataset\nclass Images(Dataset): ...\n")
    sources = Sources(str(tmp_path), Gate(), Disk())
    found = sources.importing(str(tmp_path / "data" / "images.py"), frozenset({b"Images"}))
    assert [Path(each.path).name for each in found] == ["train.py"]


def test_files_are_looked_at_by_the_gate_once(project: Path) -> None:
    gate = Gate()
    train, quiet = str(project / "train.py"), str(project / "quiet.py")
    assert not gate.turned_away(quiet)
    Sources(str(project), gate, Disk())
    assert gate.turned_away(quiet) and not gate.turned_away(train)
    assert gate.subjects(quiet, b"DataLoader") == frozenset()
    assert Gate((b"make",)).subjects(quiet, b"make(1)") == {"loading"}


@pytest.mark.parametrize(
    ("line", "added"),
    [
        ('sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))', "lib"),
        ("sys.path.append('./tools/lib')", "tools/lib"),
        ('lib_path = osp.join(here, "lib")\nadd_path(lib_path)', "tools/lib"),
        ('sys.path.append(str(Path(__file__).parents[1] / "lib"))', "tools/lib"),  # the nearest one
        ('sys.path.append("../src/../lib")', ""),
        ('sys.path.append("..")', ""),  # is looked through anyway
        ('sys.path.insert(0, f"{root}/lib")', ""),
        ('folder = "lib"\nsys.path += [folder]', "tools/lib"),
        ('folder = "lib"\nprint(folder, sys.path)', ""),
        ('sys.path.append("nowhere")', ""),
    ],
)
def test_folders_that_a_script_adds(tmp_path: Path, line: str, added: str) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "tools" / "lib").mkdir(parents=True)
    script = tmp_path / "tools" / "train.py"
    expected = [str(tmp_path / added)] if added else []
    assert list(added_folders(str(script), f"import sys\n{line}\n", str(tmp_path), os.path.isdir)) == expected
