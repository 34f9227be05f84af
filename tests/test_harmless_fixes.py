"""Programs that safe fixes must leave as they are: something in sight depends on what a fix would change."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from dataloader_lint import lint_source
from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.settings import Settings

LOADER = "from torch.utils.data import DataLoader\n"
SEED = LOADER + dedent(
    """
    def seed():
        print(0)

    def make(dataset):
        return DataLoader(dataset, num_workers=2, worker_init_fn=seed)
    """
)
KEYWORDS = LOADER + dedent(
    """
    OPTIONS = {"persistent_workers": True}

    def make(dataset):
        return DataLoader(dataset, num_workers=0, **OPTIONS)
    """
)
SCRIPT = LOADER + dedent(
    """
    result = 0
    for batch in DataLoader(range(8), num_workers=2):
        result += 1
    """
)
METHOD = LOADER + "import torch.multiprocessing as mp\nmp.set_start_method('spawn')\n"
EPOCHS = """
    def train(dataset, update):
        loader = DataLoader(dataset, num_workers=2{0})
        for epoch in range(3):
            {1}
            for batch in loader:
                update(batch)
    """
MOVE = """
import torch
from torch.utils.data import DataLoader, TensorDataset
{0}

def train(images{1}):
    for (batch,) in DataLoader(TensorDataset(images), pin_memory=True):
        print(batch.to({2}))
"""
MOVE_OF_OBJECT = """
import torch
from torch.utils.data import DataLoader, TensorDataset

class Trainer:
    def __init__(self):
        self.device = torch.device("cuda")

    def train(self, images):
        for (batch,) in DataLoader(TensorDataset(images), pin_memory=True):
            print(batch.to(self.device))

"""


def notebook(*lines: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": list(lines)}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@dataclass(frozen=True)
class Case:
    """A file that is fixed, called `train.py`, and what stands beside it."""

    name: str
    code: str
    text: str
    others: dict[str, str]
    unsafe: bool = False  # whether unsafe fixes must leave it alone, too


def case(name: str, code: str, text: str, *, unsafe: bool = False, **others: str) -> Case:
    files = {f"{stem.replace('__', '.')}": dedent(content) for stem, content in others.items()}
    return Case(name, code, dedent(text), files, unsafe)


CASES = [
    # Other loaders are made from the same keywords.
    case("keywords of the module", "DL301", KEYWORDS, unsafe=True),
    case(
        "keywords of a class",
        "DL301",
        LOADER
        + dedent(
            """
            class Loaders:
                options = {"persistent_workers": True}
                loader = DataLoader(range(8), num_workers=0, **options)

            print(Loaders.options)
            """
        ),
        unsafe=True,
    ),
    # What the argument does besides giving a value.
    case(
        "a name that is bound in the argument",
        "DL303",
        LOADER
        + "def make(dataset):\n    loader = DataLoader(dataset, timeout=(limit := 5))\n    return loader, limit\n",
        unsafe=True,
    ),
    case(
        "an argument that runs code",
        "DL302",
        LOADER
        + dedent(
            """
            def factor():
                print("asked")
                return 4

            def make(dataset):
                return DataLoader(dataset, num_workers=0, prefetch_factor=factor())
            """
        ),
        unsafe=True,
    ),
    # What is under the guard has no name for other files.
    case("a name that is imported", "DL206", SCRIPT, app__py=LOADER + "from train import result\n", unsafe=True),
    case("a name of the module", "DL206", SCRIPT, app__py=LOADER + "import train as t\nprint(t.result)\n", unsafe=True),
    # Persistent workers keep what the Dataset was, and an argument can be given only once.
    case(
        "a new epoch for the Dataset",
        "DL309",
        LOADER + dedent(EPOCHS.format("", "dataset.set_epoch(epoch)")),
        unsafe=True,
    ),
    case(
        "an attribute of the Dataset",
        "DL309",
        LOADER + dedent(EPOCHS.format("", "loader.dataset.epoch = epoch")),
        unsafe=True,
    ),
    case(
        "a part of the Dataset",
        "DL309",
        LOADER + dedent(EPOCHS.format("", "loader.dataset.items[0] = epoch")),
        unsafe=True,
    ),
    case(
        "given by keywords already",
        "DL309",
        LOADER
        + dedent(EPOCHS.format(", **options", "pass")).replace(
            "    loader =", "    options = {'persistent_workers': False}\n    loader ="
        ),
        unsafe=True,
    ),
    # Older versions of torch read it.
    case(
        "read by older versions",
        "DL311",
        LOADER + "def make(ds):\n    return DataLoader(ds, pin_memory_device='cuda')\n",
    ),
    # On MPS a copy that does not block can corrupt the data, and anybody may choose MPS.
    case("a device by default", "DL401", MOVE.format("", ", device=torch.device('cuda')", "device"), unsafe=True),
    case("a device by name", "DL401", MOVE.format("", ", name=None", "name or 'cuda'"), unsafe=True),
    case(
        "a device that is set",
        "DL401",
        MOVE.format("device = 'cuda'\nglobals()['device'] = 'mps'", "", "device"),
        unsafe=True,
    ),
    case(
        "a device that a function sets",
        "DL401",
        MOVE.format("device = 'cuda'\ndef choose(name):\n    global device\n    device = name", "", "device"),
        unsafe=True,
    ),
    case(
        "a device that another file sets",
        "DL401",
        MOVE.format("device = torch.device('cuda')", "", "device"),
        unsafe=True,
        main__py=LOADER + "import train as steps\nsteps.device = 'mps'\n",
    ),
    case(
        "a device in a dict", "DL401", MOVE.format("CONFIG = {'device': 'cuda'}", "", "CONFIG['device']"), unsafe=True
    ),
    case(
        "one of several devices",
        "DL401",
        MOVE.format("", ", devices=('cuda', 'mps')", "torch.device(devices[0])"),
        unsafe=True,
    ),
    case(
        "a device of an object",
        "DL401",
        MOVE_OF_OBJECT + "trainer = Trainer()\ntrainer.device = 'mps'\n",
        unsafe=True,
    ),
    case("a device of a class", "DL401", MOVE_OF_OBJECT + "class Own(Trainer):\n    device = 'mps'\n", unsafe=True),
    case(
        "a device of a class elsewhere",
        "DL401",
        MOVE_OF_OBJECT,
        unsafe=True,
        own__py=LOADER + "from train import Trainer\n\nclass Own(Trainer):\n    device = 'mps'\n",
    ),
    # A class of the project may need the argument.
    case(
        "an own move",
        "DL404",
        """
        import torch

        class Scores:
            def to(self, device, *, non_blocking):
                return torch.zeros(3)

        def predict():
            scores = Scores()
            scores = scores.to("cpu", non_blocking=True)
            return scores.numpy()
        """,
        unsafe=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code} {case.name}")
def test_what_depends_on_it_goes_on_working(case: Case, tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").touch()
    for name, content in case.others.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    file = tmp_path / "train.py"
    source = case.text.encode()
    file.write_bytes(source)
    settings = Settings(select=(case.code,))
    assert [one.code for one in lint_source(source, str(file), settings)] == [case.code]
    assert fix_source(source, str(file), settings, unsafe=case.unsafe).source == source


def test_a_new_name_does_not_take_the_place_of_another_one(tmp_path: Path) -> None:
    kept = """
        from torch.utils.data import DataLoader, Dataset


        class Kept(Dataset):
            def __init__(self):
                self.fn = lambda x: x + 1

            def __len__(self):
                return 8

            def __getitem__(self, index):
                return self.fn(index)


        def make():
            return DataLoader(Kept(), num_workers=2)
        """
    result = fix_source(dedent(kept).encode(), str(tmp_path / "train.py"), Settings(select=("DL204",)))
    assert b"def _fn_for_kept(x):" in result.source


ALONE = {
    "DL206": SCRIPT,
    "DL210": METHOD,
    "DL212": SEED,
    "DL301": KEYWORDS.replace("**OPTIONS", "persistent_workers=True"),
    "DL401": MOVE_OF_OBJECT,
}


# A safe fix changes arguments of one call, or the callable that is passed. These move statements or change a signature.
NOT_LOCAL = ("DL206", "DL210", "DL212")


@pytest.mark.parametrize("code", ALONE)
def test_only_a_local_fix_is_safe(code: str, tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "other.py").write_text("import json\n\n\ndef run(model):\n    return json.dumps(model.train())\n")
    file = tmp_path / "train.py"
    source = dedent(ALONE[code]).encode()
    file.write_bytes(source)
    settings = Settings(select=(code,))
    assert fix_source(source, str(file), settings).fixed == ({} if code in NOT_LOCAL else {code: 1})
    assert fix_source(source, str(file), settings, unsafe=True).fixed == {code: 1}


# Comments that divide a script into cells, for Jupytext, VS Code and Databricks.
CELLS = ("# %%", "#%% md", "# + {}", "# COMMAND ----------", "# Databricks notebook source")


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("code", ["DL201", *ALONE])
def test_no_fix_goes_into_a_cell(code: str, cell: str, tmp_path: Path) -> None:
    collate = LOADER + "loader = DataLoader(range(8), num_workers=2, collate_fn=lambda rows: rows)\n"
    source = f"{cell}\n{dedent(ALONE.get(code, collate))}".encode()
    file = tmp_path / "train.py"
    settings = Settings(select=(code,))
    # A kernel runs the cells, whose workers import nothing from them.
    expected = [] if code in ("DL206", "DL210") else [code]
    assert [one.code for one in lint_source(source, str(file), settings)] == expected
    assert fix_source(source, str(file), settings, unsafe=True).source == source


def test_an_argument_that_is_given_is_changed(tmp_path: Path) -> None:
    source = (LOADER + dedent(EPOCHS.format(", persistent_workers=False", "pass"))).encode()
    result = fix_source(source, str(tmp_path / "a.py"), Settings(select=("DL309",)), unsafe=True)
    assert result.source == source.replace(b"persistent_workers=False", b"persistent_workers=True")
