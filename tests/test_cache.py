"""Findings are remembered while what they rest on stays the same, and nothing wrong ever comes of the cache."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint.cache.folder import MAX_AGE, MAX_AGE_UNFINISHED
from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.engine import parallel
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.engine.runner import lint_found
from dataloader_lint.pipeline import session
from dataloader_lint.pipeline.session import Session
from dataloader_lint.settings import Settings
from dataloader_lint.source.discovery import discover

TRAIN = """\
from torch.utils.data import DataLoader

from options import WORKERS

loader = DataLoader(range(4), num_workers=WORKERS, persistent_workers=True)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script whose finding rests on a constant of another file, as it was a minute ago."""
    home = tmp_path / "project"
    home.mkdir()
    (home / "pyproject.toml").write_text("")
    _write(home / "train.py", TRAIN)
    _write(home / "options.py", "WORKERS = 0\n")
    _write(home / "other.py", "from torch.utils.data import DataLoader\n")
    monkeypatch.chdir(home)
    return home


def _write(path: Path, text: str, age: float = 60.0) -> None:
    path.write_text(text)
    then = time.time() - age
    os.utime(path, (then, then))


class Counter:
    """Lints with a cache, and says which files had to be linted for it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.linted: list[str] = []

        def counting(source: bytes, filename: str, *rest: object, **more: object) -> list[Diagnostic]:
            self.linted.append(Path(filename).name)
            return lint_source(source, filename, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr("dataloader_lint.engine.linter.lint_source", counting)

    def run(self, settings: Settings | None = None, fixes: str = "") -> tuple[list[str], list[str]]:
        """The codes that were found, and the files that were linted."""
        self.linted.clear()
        settings = settings or Settings()
        found = lint_found(discover(["."], settings), settings, fixes, cache=str(self.folder))
        return [one.code for one in found], sorted(self.linted)


@pytest.fixture
def counter(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter:
    return Counter(tmp_path / "kept", monkeypatch)


ALL = ["other.py", "train.py"]


def test_nothing_is_linted_twice(counter: Counter) -> None:
    first, linted = counter.run()
    assert "DL301" in first
    assert linted == ALL
    assert counter.run() == (first, [])


def test_a_file_that_was_only_touched_is_not_linted_again(counter: Counter, project: Path) -> None:
    first, _ = counter.run()
    _write(project / "train.py", TRAIN, age=30)
    assert counter.run() == (first, [])


def test_the_file_and_what_it_feeds_are_linted_again(counter: Counter, project: Path) -> None:
    counter.run()
    _write(project / "options.py", "WORKERS = 2\n", age=30)
    codes, linted = counter.run()
    assert "DL301" not in codes
    assert linted == ["train.py"]


def test_a_change_within_the_same_moment_is_seen(counter: Counter, project: Path) -> None:
    now = time.time()
    (project / "options.py").write_text("WORKERS = 0\n")
    os.utime(project / "options.py", (now, now))
    counter.run()
    (project / "options.py").write_text("WORKERS = 2\n")
    os.utime(project / "options.py", (now, now))
    assert "DL301" not in counter.run()[0]


def test_a_new_file_matters_to_those_that_asked_for_it(counter: Counter, project: Path) -> None:
    first, _ = counter.run()
    _write(project / "more.py", "import train\n", age=30)
    assert counter.run() == (first, [])
    (project / "options").mkdir()
    _write(project / "options" / "__init__.py", "WORKERS = 2\n", age=30)
    assert counter.run() == ([], ["train.py"])


def test_a_new_caller_is_seen(counter: Counter, project: Path) -> None:
    _write(
        project / "train.py",
        "from torch.utils.data import DataLoader\n\n\n"
        "def make(workers):\n    return DataLoader(range(4), num_workers=workers, persistent_workers=True)\n",
    )
    _write(project / "other.py", "from torch.utils.data import DataLoader\n")
    assert counter.run()[0] == ["DL310"]
    _write(project / "other.py", "from train import make\n\nloader = make(0)  # a DataLoader\n", age=30)
    codes, linted = counter.run()
    assert linted == ALL
    assert codes == [one.code for one in lint_found(discover(["."], Settings()), Settings())]
    assert codes == ["DL301"]


def test_settings_and_fixes_are_kept_apart(counter: Counter) -> None:
    counter.run()
    assert counter.run(Settings(ignore=("DL301",)))[1] == ALL
    assert counter.run(fixes="shown")[1] == ALL
    assert counter.run()[1] == []


def test_repairs_are_kept_whole(counter: Counter) -> None:
    settings = Settings()
    runs = [lint_found(discover(["."], settings), settings, "tried", cache=str(counter.folder)) for _ in range(2)]
    assert runs[0] == runs[1]
    assert any(one.fix is not None for one in runs[1])


def test_the_path_is_the_one_of_this_run(counter: Counter, project: Path) -> None:
    counter.run()
    found = lint_found(discover([str(project)], Settings()), Settings(), cache=str(counter.folder))
    assert {one.filename for one in found} == {str(project / "train.py")}


@pytest.mark.parametrize("content", [b"", b"{}", b"no seal\n{}", b"\xff\0"])
def test_a_damaged_file_is_made_again(counter: Counter, content: bytes) -> None:
    first, _ = counter.run()
    (kept,) = counter.folder.glob("*.json")
    whole = kept.read_bytes()
    kept.write_bytes(content)
    assert counter.run() == (first, ALL)
    assert kept.read_bytes() == whole


def test_a_changed_byte_is_noticed(counter: Counter) -> None:
    first, _ = counter.run()
    (kept,) = counter.folder.glob("*.json")
    kept.write_bytes(kept.read_bytes().replace(b"DL301", b"DL302"))
    assert counter.run() == (first, ALL)


def test_a_folder_that_cannot_be_made_is_done_without(counter: Counter) -> None:
    counter.folder.write_text("a file")
    first, linted = counter.run()
    assert "DL301" in first
    assert linted == ALL
    assert counter.folder.read_text() == "a file"


def test_the_folder_says_what_it_is(counter: Counter) -> None:
    counter.run()
    assert (counter.folder / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
    assert (counter.folder / ".gitignore").read_text() == "*\n"


def test_what_nobody_needs_goes(counter: Counter) -> None:
    counter.run()
    (kept,) = counter.folder.glob("*.json")
    with processes.started([sys.executable, "-S", "-c", ""]) as dead:
        dead.wait()
    store = "0" * 39 + "f.json"
    for name, age in (
        (f"{'1' * 40}.json", MAX_AGE + 60),
        (store, 60),
        (f"{'2' * 40}.json.{os.getpid()}", MAX_AGE_UNFINISHED + 60),
        (f"{'3' * 40}.json.{os.getpid()}", 0),
        (f"{'3' * 40}.json.{dead.pid}", 0),
        (f"CACHEDIR.TAG.{dead.pid}", 0),
        ("notes.txt", MAX_AGE + 60),
        ("settings.json", MAX_AGE + 60),
        (f"results.{dead.pid}", MAX_AGE + 60),
    ):
        _write(counter.folder / name, "", age)
    before = {path.name for path in counter.folder.glob("*.json")}
    counter.run(Settings(ignore=("DL3",)))
    names = {path.name for path in counter.folder.iterdir() if path.suffix != ".texts"}
    (new,) = {path.name for path in counter.folder.glob("*.json")} - before
    others = {"notes.txt", "settings.json", f"results.{dead.pid}"}
    assert names == {"CACHEDIR.TAG", ".gitignore", kept.name, new, store, f"{'3' * 40}.json.{os.getpid()}"} | others


def test_what_is_kept_is_plain_data(counter: Counter) -> None:
    counter.run()
    (kept,) = counter.folder.glob("*.json")
    _, body, asked = kept.read_bytes().split(b"\n")
    assert set(json.loads(body)) == {
        "listed",
        "states",
        "folders",
        "found",
        "roots",
        "contexts",
        "codes",
        "known",
    }
    assert {Path(path).name for path in json.loads(asked)} == {"train.py", "options.py", "other.py"}


def test_processes_find_what_one_finds(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "WORTH_IT", 0)
    for number in range(6):
        _write(project / f"train_{number}.py", TRAIN)
    settings = Settings()
    found = discover(["."], settings)
    alone = lint_found(found, settings, "shown")
    done: list[str] = []
    cache = str(tmp_path / "kept")
    together = lint_found(found, settings, "shown", lambda path, _: done.append(path), jobs=2, cache=cache)
    assert together == alone
    assert sorted(done) == sorted(found.files)
    assert lint_found(found, settings, "shown", jobs=2, cache=cache) == alone


def test_a_project_goes_to_one_process_unless_it_is_too_large(tmp_path: Path) -> None:
    todo = []
    for name, files in {"small": 2, "middle": 4, "large": 20}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").touch()
        todo += [(str(tmp_path / name / f"{number:02}.py"), 100) for number in range(files)]
    chunks = parallel.chunks_of(todo, 2)
    projects = [{Path(path).parent.name for path in chunk} for chunk in chunks]
    assert [sum(name in found for found in projects) for name in ("small", "middle")] == [1, 1]
    assert sum("large" in found for found in projects) > 4
    assert [len(chunk) for chunk in chunks] == sorted((len(chunk) for chunk in chunks), reverse=True)
    assert sorted(path for chunk in chunks for path in chunk) == sorted(path for path, _ in todo)


@pytest.mark.parametrize(("modules", "least"), [(1, 3), (2, 1)])
def test_modules_that_are_let_go_are_opened_again(
    project: Path, monkeypatch: pytest.MonkeyPatch, modules: int, least: int
) -> None:
    for number in range(4):
        _write(project / f"train_{number}.py", TRAIN)
    settings = Settings()
    found = discover(["."], settings)
    at_ease = lint_found(found, settings, "shown")
    starts: list[int] = []
    start = Session.start
    monkeypatch.setattr(session, "FIRST_KEPT", modules * len(TRAIN))
    monkeypatch.setattr(session, "MIN_FILES", 1)
    monkeypatch.setattr(Session, "start", lambda self, *args: starts.append(1) or start(self, *args))
    assert lint_found(found, settings, "shown") == at_ease
    assert len(starts) > least


def test_what_one_project_opened_goes_when_the_next_one_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("first", "first/inside", "first/beside", "second"):
        (tmp_path / place).mkdir()
        _write(tmp_path / place / "pyproject.toml", "")
        _write(tmp_path / place / "train.py", TRAIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(session, "MAX_LEFT", 0)
    current = Session()
    kept = []
    for path in ("first/train.py", "first/inside/train.py", "first/beside/train.py", "second/train.py"):
        assert current.analyse(path, TRAIN).module.path == str(tmp_path / path)
        kept.append(current.project.kept)
    assert kept == [len(TRAIN), 2 * len(TRAIN), 3 * len(TRAIN), len(TRAIN)]


def test_what_has_not_changed_is_not_even_read(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that cannot matter either, once one that does has opened the cache."""
    _write(project / "zeros.py", "ZERO = 0\n")
    settings = Settings()
    opened: list[str] = []

    def reading(path: str) -> bytes:
        opened.append(Path(path).name)
        return Path(path).read_bytes()

    monkeypatch.setattr("dataloader_lint.engine.run.read", reading)

    def run() -> list[str]:
        opened.clear()
        return [one.code for one in lint_found(discover(["."], settings), settings, cache=str(tmp_path / "cache"))]

    assert run() == ["DL301"]
    assert "train.py" in opened and "other.py" in opened
    run()
    assert run() == ["DL301"]
    assert "zeros.py" not in opened and "train.py" not in opened
    _write(project / "zeros.py", "ZERO = 1 - 1\n", age=30)
    assert run() == ["DL301"]
    assert "train.py" not in opened
    _write(project / "zeros.py", TRAIN.replace("from options import WORKERS\n", "WORKERS = 0\n"), age=20)
    assert run() == ["DL301", "DL301"]


@pytest.mark.parametrize("head", ["for epoch in range(3)", "for turn in range(3)"])
def test_a_function_that_comes_to_be_defined_counts(project: Path, counter: Counter, head: str) -> None:
    """What is looked up by its name before it is followed leaves a trace as well."""
    _write(
        project / "train.py",
        "from torch.utils.data import DataLoader, DistributedSampler\n\nfrom middle import run\n\n"
        f"loader = DataLoader(range(8), sampler=DistributedSampler(range(8)))\n{head}:\n    run(loader)\n",
    )
    _write(project / "middle.py", "from engine import *\n\nDataLoader = None\n\n\ndef run(loader):\n    fit(loader)\n")
    _write(project / "engine.py", "def test():\n    pass\n")
    assert counter.run()[0] == []
    fit = "def fit(loader):\n    for batch in loader:\n        batch.backward()\n"
    _write(project / "engine.py", fit, age=30)
    assert counter.run()[0] == ["DL603"]


def test_a_base_that_becomes_a_dataset_is_seen(counter: Counter, project: Path) -> None:
    _write(project / "root.py", "class Root:\n    pass\n")
    _write(
        project / "other.py",
        "from torch.utils.data import DataLoader\nfrom parts import Middle\n\n\nclass Faces(Middle):\n"
        "    def __init__(self, folder):\n        self.paths = sorted(folder.glob('*.png'))\n\n"
        "    def __getitem__(self, index):\n        return open(self.paths[index]).read()\n\n\n"
        "def make(folder):\n    return DataLoader(Faces(folder), num_workers=4)\n",
    )
    _write(project / "parts.py", "from root import Root\n\n\nclass Middle(Root):\n    pass\n")
    before, _ = counter.run()
    assert "DL101" not in before
    _write(project / "root.py", "from torch.utils.data import Dataset\n\n\nclass Root(Dataset):\n    pass\n", age=30)
    codes, linted = counter.run()
    assert "other.py" in linted
    assert "DL101" in codes
