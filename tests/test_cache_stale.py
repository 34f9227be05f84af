"""What another file, a folder or a time stamp changes is noticed: the six kinds of stale findings that there were."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from dataloader_lint.engine.runner import lint_found
from dataloader_lint.settings import Settings
from dataloader_lint.source.discovery import discover

PAST = time.time() - 3600

FLOW = """\
import random, torch
from torch.utils.data import Dataset, get_worker_info
class Flow(Dataset):
    def __init__(self, p): self.p = torch.tensor(p); self.is_seeded = False
    def __len__(self): return len(self.p)
    def __getitem__(self, i):
        if not self.is_seeded:
            info = get_worker_info()
            if info is not None:
                random.seed(info.id)
                self.is_seeded = True
        return self.p[i] * random.random()
"""
IMAGES = """\
import util, cv2
from torch.utils.data import DataLoader, Dataset
class Images{0}(Dataset):
    def __init__(self, p): self.p = p
    def __getitem__(self, i): return cv2.resize(self.p[i], (2, 2))
loader = DataLoader(Images{0}(x), num_workers=4)
"""
TRAIN = "from torch.utils.data import DataLoader\nfrom {0} import make\nDataLoader(d, num_workers=0, **make())\n"
MAKE = "def make(): return dict(persistent_workers=True)\n"
COUNTED = """\
from torch.utils.data import DataLoader
import x
DataLoader(d, persistent_workers=True, num_workers=x.WORKERS)
"""


class Project:
    """A folder whose files were written an hour ago, linted with and without a cache."""

    def __init__(self, home: Path, settings: Settings | None = None) -> None:
        self.home = home
        self.cache = home.parent / "kept"
        self.settings = settings or Settings()
        home.mkdir(parents=True)
        self.write("setup.cfg", "")

    def write(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (PAST, PAST))

    def codes(self, *, cached: bool = True) -> list[str]:
        found = discover(["."], self.settings)
        diagnostics = lint_found(found, self.settings, cache=str(self.cache) if cached else "")
        return [f"{Path(one.filename).name}: {one.code}" for one in diagnostics]

    def turns(self, before: list[str], after: list[str], name: str, text: str) -> None:
        """The findings before and after a file is written, which are those without a cache."""
        assert self.codes() == self.codes(cached=False) == before
        self.write(name, text)
        assert self.codes(cached=False) == after
        assert self.codes() == after


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(tmp_path / "project")
    monkeypatch.chdir(found.home)
    return found


def test_a_word_that_goes_away(project: Project) -> None:
    project.write("a.py", FLOW)
    project.write("b.py", 'from torch.utils.data import DataLoader\nOPTS = {"persistent_workers": True}\n')
    project.turns([], ["a.py: DL602"], "b.py", "from torch.utils.data import DataLoader\nOPTS = {}\n")


BASE = "class Base({0}): pass\n"
DERIVED = """\
import os
from base import Base
class Photos(Base):
    def __init__(self, root): self.names = sorted(os.listdir(root))
    def __len__(self): return len(self.names)
    def __getitem__(self, index): return self.names[index]
"""


def test_a_base_that_becomes_a_dataset(project: Project) -> None:
    project.write("photos.py", DERIVED)
    project.write("base.py", BASE.format("object"))
    text = f"from torch.utils.data import Dataset\n{BASE.format('Dataset')}"
    project.turns([], ["photos.py: DL101"], "base.py", text)
    project.turns(["photos.py: DL101"], [], "base.py", text.replace("(Dataset)", "(object)"))


def test_a_part_of_a_word(project: Project) -> None:
    project.write("a.py", FLOW)
    project.write("b.py", "from torch.utils.data import DataLoader\nOPTS = {}\n")
    text = "from torch.utils.data import DataLoader\nuse_persistent_workers = {}\n"
    project.turns(["a.py: DL602"], [], "b.py", text)


def test_a_second_file_that_asks_the_same(project: Project) -> None:
    for number in (1, 2):
        project.write(f"data{number}.py", IMAGES.format(number))
    project.write("util.py", "import deep\n")
    project.write("deep.py", "x = 1\n")
    project.turns(["data1.py: DL501", "data2.py: DL501"], [], "deep.py", "import cv2\ncv2.setNumThreads(0)\n")


@pytest.mark.parametrize("folder", ["third_party", "external", "build", "dist", "venv", "env", "node_modules"])
def test_a_module_added_in_a_folder_that_is_skipped(project: Project, folder: str) -> None:
    project.write("train.py", TRAIN.format(f"{folder}.x"))
    project.turns([], ["train.py: DL301"], f"{folder}/x.py", MAKE)
    project.turns(["train.py: DL301"], [], f"{folder}/x.py", MAKE.replace("True", "False"))
    (project.home / folder / "x.py").unlink()
    assert project.codes() == []


def test_a_package_added_where_a_folder_was(project: Project) -> None:
    (project.home / "third_party" / "x").mkdir(parents=True)
    project.write("train.py", TRAIN.format("third_party.x"))
    project.turns([], ["train.py: DL301"], "third_party/x/__init__.py", MAKE)


def test_a_folder_that_becomes_a_module(project: Project) -> None:
    (project.home / "third_party" / "x.py").mkdir(parents=True)
    project.write("train.py", TRAIN.format("third_party.x"))
    assert project.codes() == []
    (project.home / "third_party" / "x.py").rmdir()
    project.turns([], ["train.py: DL301"], "third_party/x.py", MAKE)


def test_a_link_whose_target_comes(project: Project) -> None:
    (project.home / "third_party").mkdir()
    (project.home / "third_party" / "x.py").symlink_to(project.home.parent / "elsewhere.py")
    project.write("train.py", TRAIN.format("third_party.x"))
    project.turns([], ["train.py: DL301"], "../elsewhere.py", MAKE)


def test_a_module_added_in_a_folder_of_src(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path / "project", Settings(src=(str(tmp_path / "lib"),)))
    monkeypatch.chdir(project.home)
    project.write("train.py", TRAIN.format("x"))
    project.turns([], ["train.py: DL301"], "../lib/x.py", MAKE)
    project.turns(["train.py: DL301"], [], "x.py", MAKE.replace("True", "False"))


def test_a_module_on_a_path_that_a_script_adds(project: Project) -> None:
    head = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'more-lib'))\n"
    project.write("train.py", head + TRAIN.format("x"))
    project.turns([], ["train.py: DL301"], "more-lib/x.py", MAKE)


@pytest.mark.parametrize("age", [3600.0, -3600.0, 0.0])
def test_the_same_size_and_time_stamp(project: Project, age: float) -> None:
    stamp = time.time() - age
    project.write("train.py", COUNTED)
    project.write("x.py", "WORKERS = 0\n")
    os.utime("x.py", (stamp, stamp))
    assert project.codes() == ["train.py: DL301"]
    for workers, after in ((4, []), (0, ["train.py: DL301"])):
        Path("x.py").write_text(f"WORKERS = {workers}\n")
        os.utime("x.py", (stamp, stamp))
        assert project.codes() == after


def test_what_was_written_while_it_was_linted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that changes twice within the resolution of its stamps, once read in between: as git's racy files."""
    project.write("train.py", COUNTED)
    project.write("x.py", "WORKERS = 0\n")
    real = os.stat
    known: dict[str, os.stat_result] = {}

    def frozen(path: object, *rest: object, **more: object) -> os.stat_result:
        status = real(path, *rest, **more)  # type: ignore[arg-type]
        return known.setdefault("x", status) if str(path).endswith("x.py") else status

    monkeypatch.setattr(os, "stat", frozen)
    assert project.codes() == ["train.py: DL301"]
    project.write("x.py", "WORKERS = 4\n")
    later = time.time_ns() + 60_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: later)
    assert project.codes() == []


def test_a_requirement_counts_where_fixes_are_shown(project: Project) -> None:
    project.write(
        "data.py",
        "from torch.utils.data import DataLoader, Dataset\n\n\nclass Bars(Dataset):\n    def __init__(self, names):\n"
        "        self.names = [str(name) for name in names]\n\n    def __len__(self):\n"
        "        return len(self.names)\n\n    def __getitem__(self, index):\n        return self.names[index]\n\n\n"
        "DataLoader(Bars(x), num_workers=2)\n",
    )

    settings = project.settings.replace(samples=(("*", 10_000_000),))

    def fixes(cache: str) -> list[bool]:
        found = lint_found(discover(["."], settings), settings, "tried", cache=cache)
        fixed = (one.fix for one in found)
        return [any("StringDType" in edit.content for edit in each.edits) for each in fixed if each is not None]

    assert fixes("") == fixes(str(project.cache)) == []
    project.write("requirements.txt", "numpy>=2\n")
    assert fixes("") == fixes(str(project.cache)) == [True]
    project.write("requirements.txt", "numpy<3\n")
    assert fixes("") == fixes(str(project.cache)) == []


def test_the_order_of_files_does_not_matter_to_their_classes(project: Project) -> None:
    """A notebook, and a file in a folder that is skipped, define classes for nobody but those that import them."""
    project.write("third_party/base.py", "from torch.utils.data import Dataset\n\n\nclass Base(Dataset):\n    pass\n")
    project.write(
        "data.py",
        "from torch.utils.data import DataLoader\nfrom third_party.base import Base\n\n\nclass Bars(Base):\n"
        "    def __init__(self, names):\n        self.names = [str(name) for name in names]\n\n"
        "    def __getitem__(self, index):\n        return self.names[index]\n\n\nDataLoader(Bars(x), num_workers=2)\n",
    )
    orders = [["data.py", "third_party/base.py"], ["third_party/base.py", "data.py"], ["data.py"]]
    found = [lint_found(discover(order, project.settings), project.settings) for order in orders]
    assert found[0] == found[1] == found[2]
