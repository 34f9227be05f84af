"""What it costs to work out a value, counted in questions that are answered."""

from __future__ import annotations

from itertools import chain, repeat
from pathlib import Path

import libcst as cst
import pytest

from dataloader_lint import Settings
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.pipeline.session import Session
from dataloader_lint.semantics.interrupts import StoppedError, stop_unless
from dataloader_lint.semantics.values.values import Const, Frame, Library

SUBCLASS = """
class Scans{number}(Scans):
    def choose(self, split):
        super().__init__(self.settings, self.root)
        self.split = split
"""
HEAD = """
import glob
from pathlib import Path
from torch.utils.data import DataLoader, Dataset

class Scans(Dataset):
    def __init__(self, settings, root=None):
        self.settings = settings
        self.root = root if root is not None else Path(self.settings.root)
"""
SINGLE = """
class Single(Scans):
    def __init__(self, settings, root=None):
        super().__init__(settings, root)
        self.root = root
        self.paths = sorted(glob.glob(str(root / "*.bin")) if self.root.is_dir() else [self.root])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.paths[index]

def loader(settings, root: Path):
    return DataLoader(Single(settings, root), num_workers=4)
"""


def steps_for_heirs(number: int, folder: Path) -> int:
    """How many questions linting a Dataset takes that has so many siblings, each of which tells of its own objects."""
    text = HEAD + "".join(SUBCLASS.format(number=each) for each in range(number)) + SINGLE
    session = Session()
    found = lint_source(text, str(folder / "scans.py"), Settings(select=("DL101",)), session)
    assert [one.code for one in found] == ["DL101"]
    return session.evaluation.steps


def test_siblings_of_a_dataset_cost_no_more_than_their_number(tmp_path: Path) -> None:
    assert steps_for_heirs(16, tmp_path) < 4 * steps_for_heirs(4, tmp_path)


def evaluated(names: list[str], first: str, folder: Path) -> tuple[int, set[object]]:
    """How many questions it takes to tell a name that a loop makes of all others, and its values."""
    others = ((name, " or ".join(other for other in names if other != name)) for name in names)
    lines = [f"    {name} = '{name}'" for name in names]
    lines += ["    for _ in range(count):", *(f"        {name} = {rest}" for name, rest in others)]
    text = "\n".join(["def mix(count):", *lines, f"    return {first}", ""])
    session = Session()
    function = session.analyse(str(folder / "mix.py"), text).module.root.inner[0]
    returned = function.own(cst.Return)[0].value
    assert returned is not None
    found = session.evaluation.values(returned, session.evaluation.frame_of(function))
    return session.evaluation.steps, {getattr(value, "value", None) for value in found}


@pytest.mark.parametrize("first", ["a", "d", "g"])
def test_names_that_a_loop_mixes(first: str, tmp_path: Path) -> None:
    steps, values = evaluated(list("abcdefg"), first, tmp_path)
    assert values >= set("bcdefg") | {first}  # nobody reads "a" before the loop binds that name again
    assert steps < 1_000


def test_what_is_the_same_in_every_frame_is_asked_once(tmp_path: Path) -> None:
    text = "import numpy\n\ndef quiet():\n    numpy.random.seed(1)\n    numpy.seterr('ignore')\n"
    session = Session()
    function = session.analyse(str(tmp_path / "quiet.py"), text).module.root.inner[0]
    ev = session.evaluation
    names = set()
    for _ in range(4):
        frame = Frame(function, {})
        for call in function.own(cst.Call):
            names.update(ev.values(call.func, frame))
            assert all(isinstance(each, Const) for each in ev.values(call.args[0].value, frame))
    assert names == {Library("numpy.random.seed"), Library("numpy.seterr")}
    assert ev.steps == 0


def test_a_parameter_is_worked_out_once_for_all_its_uses(tmp_path: Path) -> None:
    asked = []
    text = "def pick(names):\n    return [names, names, names]\n\npick(make())\n"
    session = Session()
    function = session.analyse(str(tmp_path / "pick.py"), text).module.root.inner[0]
    ev = session.evaluation
    callers = ev.callers
    ev.callers = lambda scope: asked.append(scope) or callers(scope)  # type: ignore[method-assign, func-returns-value]
    for use in function.module.tree.find(function.own(cst.Return)[0], cst.Name):
        ev.values(use, ev.frame_of(function))
    assert asked == [function]


def test_work_that_nobody_waits_for_any_more_stops() -> None:
    """As when the next key overtakes a lint in an editor: no rule takes it for an error of its own."""
    is_wanted = chain([True], repeat(False))
    with pytest.raises(StoppedError):
        stop_unless(lambda: next(is_wanted), lambda: lint_source(LISTS, "lists.py"))
    assert lint_source(LISTS, "lists.py") != []


LISTS = """\
from torch.utils.data import DataLoader, Dataset

class Words(Dataset):
    def __init__(self, path):
        self.words = [line for line in open(path)]
    def __getitem__(self, index):
        return self.words[index]
    def __len__(self):
        return len(self.words)

loader = DataLoader(Words("words.txt"), num_workers=2)
"""
