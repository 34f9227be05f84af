"""Every kind of question is recorded, and what was recorded reaches whoever rests on it: without, findings go stale."""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dataloader_lint.facts.analysis import Session
from dataloader_lint.facts.project import dependencies
from dataloader_lint.facts.project.answers import KINDS, Answers
from dataloader_lint.facts.project.dependencies import OPENED, OTHER_FILES, Answer, Dependencies, behind
from dataloader_lint.linter import lint_source
from dataloader_lint.settings import Settings
from dataloader_lint.source import states
from reliability.sequences import PAST
from reliability.test_cache_sequences import PROJECTS, lint, made

LOADING = "from torch.utils.data import DataLoader, Dataset, IterableDataset\n"
ROWS = """\
class Rows({0}):
    def __init__(self, names):
        self.names = [str(name) for name in names]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return self.names[index]


"""
USED = "DataLoader(Rows(x), num_workers=2)\n"
IMAGES = """\
import cv2
from torch.utils.data import DataLoader, Dataset
from pkg.deep import x


class Images(Dataset):
    def __init__(self, p): self.p = p
    def __getitem__(self, i): return cv2.resize(self.p[i], (2, 2))


loader = DataLoader(Images(x), num_workers=4)
"""
SEEDED = """\
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
SAMPLED = """\
from torch.utils.data import DataLoader, DistributedSampler

from middle import run

loader = DataLoader(range(8), sampler=DistributedSampler(range(8)))
for {0} in range(3):
    run(loader)
"""
PERSISTENT = """\
from torch.utils.data import DataLoader, Dataset

from middle import run


class Rows(Dataset):
    def __init__(self):
        self.scale = 1

    def __getitem__(self, index):
        return index * self.scale


data = Rows()
loader = DataLoader(data, num_workers=2, persistent_workers=True)
for epoch in range(3):
    data.scale = epoch
    run(loader)
"""
MIDDLE = "from engine import *\n\nDataLoader = None\n\n\ndef run(loader):\n    fit(loader)\n"
FIT = "def fit(loader):\n    for batch in loader:\n        batch.backward()\n"
DEEPER = (
    "# DataLoader\nfrom deeper import learn\n\n\ndef fit(loader):\n    for batch in loader:\n        learn(batch)\n"
)
LOOKED_AT = """\
if __name__ == "__main__":
    for row in Rows(open("names")):
        print(row)
"""
LIMIT = "import cv2\n\ncv2.setNumThreads(0)\n"


@dataclass(frozen=True)
class Case:
    """A project, and a change of it that changes what is found.

    `kinds` are those of questions without which nobody notices. The first is the one that the case is about; others, if
    any, are those that notice the change as well.
    """

    name: str
    kinds: str
    before: dict[str, str]
    after: dict[str, str | None]
    fixes: str = ""


CASES = [
    Case(
        "a constant of another file",
        "content",
        {
            "train.py": LOADING + "import x\nDataLoader(d, persistent_workers=True, num_workers=x.N)\n",
            "x.py": "N = 0\n",
        },
        {"x.py": "N = 4\n"},
    ),
    Case(
        "a module that was missing",
        "located",
        {"train.py": LOADING + "from env.x import N\nDataLoader(d, persistent_workers=True, num_workers=N)\n"},
        {"env/x.py": "N = 0\n"},
    ),
    Case(
        "a submodule that was missing",
        "below",
        {
            "train.py": LOADING + "import env\nDataLoader(d, persistent_workers=True, num_workers=env.x.N)\n",
            "env/__init__.py": "",
        },
        {"env/x.py": "N = 0\n"},
    ),
    Case(
        "a package around a module that is imported",
        "packages",
        {"data.py": IMAGES, "pkg/deep.py": "x = 1\n", "limits.py": LIMIT},
        {"pkg/__init__.py": "import limits\n"},
    ),
    Case(
        "a package around a script",
        "packaged",
        {"tool/show.py": LOADING + "\n\n" + ROWS.format("Dataset") + LOOKED_AT},
        {"tool/__init__.py": ""},
    ),
    Case(
        "what the project requires",
        "requirements",
        {"data.py": LOADING + "\n\n" + ROWS.format("Dataset") + USED},
        {"requirements.txt": "numpy<2\n"},
        "tried",
    ),
    Case(
        "a caller",
        "callers importers users_at holders held located",
        {"train.py": LOADING + "\n\ndef make(n):\n    return DataLoader(x, num_workers=n, persistent_workers=True)\n"},
        {"other.py": "from train import make\n\nloader = make(0)  # a DataLoader\n"},
    ),
    Case(
        "a loader elsewhere",
        "users_at importers",
        {"data.py": LOADING + "\n\n" + ROWS.format("Dataset")},
        {"train.py": LOADING + "from data import Rows as R\n\nloader = DataLoader(R(x), num_workers=0)\n"},
    ),
    Case(
        "the workers of a loader elsewhere",
        OPENED,
        {
            "data.py": LOADING + "\n\n" + ROWS.format("Dataset"),
            "train.py": LOADING + "from data import Rows\n\nDataLoader(Rows(x), num_workers=0)\n",
        },
        {"train.py": LOADING + "from data import Rows\n\nDataLoader(Rows(x), num_workers=2)\n"},
    ),
    Case(
        "a word in another file",
        "held",
        {"a.py": SEEDED, "b.py": LOADING + "OPTS = {'persistent_workers': True}\n"},
        {"b.py": LOADING + "OPTS = {}\n"},
    ),
    Case(
        "a limit of threads above",
        "holders",
        {"data.py": IMAGES, "pkg/deep.py": "x = 1\n"},
        {"main.py": "import data\n" + LIMIT},
    ),
    Case(
        "a function that comes to be defined",
        "function",
        {
            "train.py": PERSISTENT,
            "middle.py": "from engine import fit\n\nDataLoader = None\n\n\ndef run(loader):\n    fit(loader)\n",
            "engine.py": "def learn(loader):\n    for batch in loader:\n        batch.step()\n\n\nfit = learn\n",
        },
        {"other.py": "def fit():\n    pass\n"},
    ),
    Case(
        "a function that comes to train",
        "leading located opened",
        {
            "train.py": SAMPLED.format("turn"),
            "middle.py": MIDDLE,
            "engine.py": DEEPER,
            "deeper.py": "# DataLoader\ndef learn(x):\n    x.forward()\n",
        },
        {"deeper.py": "# DataLoader\ndef learn(x):\n    x.backward()\n"},
    ),
    Case(
        "a base that becomes a Dataset",
        "dataset located opened",
        {
            "root.py": "class Root:\n    pass\n",
            "parts.py": "from root import Root\n\n\nclass Middle(Root):\n    pass\n",
            "data.py": LOADING
            + "from parts import Middle\n\n\n"
            + ROWS.format("Middle").replace("__getitem__", "row")
            + USED,
        },
        {
            "root.py": LOADING
            + "\n\nclass Root(Dataset):\n    def __getitem__(self, index):\n        return self.row(index)\n"
        },
    ),
    Case(
        "a base that becomes a Dataset, for a file that speaks of no loading",
        "heirs",
        {
            "root.py": "class Root:\n    pass\n",
            "parts.py": "from root import Root\n\n\nclass Middle(Root):\n    pass\n",
            "data.py": "import h5py\nfrom parts import Middle\n\n\nclass Rows(Middle):\n"
            "    def __init__(self, path):\n        self.file = h5py.File(path)\n\n"
            "    def __getitem__(self, index):\n        return self.file[index]\n",
        },
        {"root.py": LOADING + "\n\nclass Root(Dataset):\n    pass\n"},
    ),
    Case(
        "an heir that fills a list",
        "importers",
        {
            "base.py": LOADING + "\n\nclass Rows(Dataset):\n    def __init__(self, file):\n        self.file = file\n"
            "        self.infos = self.load()\n\n    def load(self):\n        raise NotImplementedError\n\n"
            "    def __getitem__(self, index):\n        return self.infos[index]\n"
        },
        {
            "videos.py": "import functools\nfrom base import Rows\n\n\nclass Videos(Rows):\n    def load(self):\n"
            "        infos = []\n        for line in open(self.file):\n            infos.append(dict(name=line))\n"
            "        return infos\n"
        },
    ),
    Case(
        "a function that comes to collate",
        "collating opened",
        {
            "pack.py": "# A DataLoader takes it.\ndef pack(rows):\n    return lambda: rows\n",
            "train.py": LOADING + "import pack\n\nloader = DataLoader(x, num_workers=2, collate_fn=None)\n",
        },
        {"train.py": LOADING + "import pack\n\nloader = DataLoader(x, num_workers=2, collate_fn=pack.pack)\n"},
    ),
]


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
    """Whether the change matters, and whether a run with a cache notices."""
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


# Their answers matter only in ways that other questions tell of as well, as far as we know.
ONLY_ASKED = {
    ("namespace", "parts", 0): {"__init__.py": "", "parts/rows.py": ""},
    (OTHER_FILES, "uses name", "Lines"): {"config.yaml": "_target_: data.Lines\n"},
    ("class", "Shrink"): {"shrink.py": "class Shrink:\n    pass\n"},
    ("beside_loaders", "make"): {"make.py": LOADING + "loader = DataLoader(x)\n"},
}
ASKING = """\
from torch.utils.data import DataLoader, Dataset
from api import make


class Lines(Dataset):
    def __init__(self, file, extra: Shrink):
        self.lines = [f"{line} " for line in open(file)]
        self.extra = extra
        self.later = lambda x: x

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        return self.lines[index], self.extra[index]
"""


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
    assert later.hold(path, {each: answer for each, answer in recorded.items() if each != question})


def test_there_is_a_case_for_every_kind() -> None:
    assert {case.kinds.split()[0] for case in CASES} | {str(question[0]) for question in ONLY_ASKED} == set(KINDS)


def test_only_one_place_of_facts_goes_to_the_disk() -> None:
    """What reads past `Disk` and `Answers` would not be noticed when it changes."""
    facts = Path(inspect.getfile(Session)).parent
    touching = re.compile(
        r"\bos\.(?:path\.(?:is|exists|lexists|getmtime|getsize|realpath)|stat|lstat|listdir|scandir|walk)\b|(?<![.\w])open\(|\.(?:read_text|read_bytes|exists|is_file|is_dir|iterdir)\("
    )
    found = {
        path.relative_to(facts).as_posix()
        for folder in (facts, facts.parent / "edits", facts.parent / "rules")
        for path in folder.rglob("*.py")
        if any(touching.search(line) for line in _code(path))
    }
    assert found == {"project/disk.py"}


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
