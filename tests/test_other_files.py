"""What other files mean by their imports: a fix is held back only where one of them can mean the file that is fixed."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.semantics.project.import_texts import imports_of, plain
from dataloader_lint.settings import Settings

MOVE = dedent(
    """
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    device = "cuda"

    def train(images):
        for (batch,) in DataLoader(TensorDataset(images), pin_memory=True):
            print(batch.to(device))
    """
)
SETS = "print(steps.device)\n\nclass Own:\n    device = 'mps'\n"
# By the files beside `b/steps.py`, True if they hold the fix of it back.
FOLDERS: dict[str, tuple[dict[str, str], bool]] = {
    "a sibling has its own": ({"a/run.py": f"import steps\n{SETS}", "a/steps.py": ""}, False),
    "a star of its own": ({"a/run.py": f"from steps import *\n{SETS}", "a/steps.py": ""}, False),
    "a package of its own": ({"a/run.py": f"from steps import x\n{SETS}", "a/steps/__init__.py": ""}, False),
    "with dots": ({"a/run.py": f"from . import steps\n{SETS}", "a/steps.py": ""}, False),
    "with dots, without a file": ({"a/run.py": f"from .steps import x\n{SETS}"}, False),
    "of the folder above": ({"a/run.py": f"import steps\n{SETS}", "steps.py": ""}, False),
    "of a library": ({"a/run.py": f"from torch.optim import steps\n{SETS}"}, False),
    "the same folder": ({"b/run.py": f"import steps\n{SETS}"}, True),
    "the same folder, with a dot": ({"b/run.py": f"from . import steps\n{SETS}"}, True),
    "the same folder, all names": ({"b/run.py": f"from steps import *\n{SETS}"}, True),
    "a member over lines": (
        {"a/run.py": f"from b import (  # all\n    other,  # (of them)\n    steps as s\n)\n{SETS}"},
        True,
    ),
    "continued": ({"a/run.py": f"from \\\n  b.\\\n  steps import x\n{SETS}"}, True),
    "behind a semicolon": ({"b/run.py": f"import os; import steps\n{SETS}"}, True),
    "behind a colon": ({"b/run.py": f"if True: from steps import x\n{SETS}"}, True),
    "in a text": ({"b/run.py": f"exec('import steps')\n{SETS}"}, True),
    "with a form feed": ({"b/run.py": f"\f  \fimport os, steps\n{SETS}"}, True),
    "behind a byte order mark": ({"b/run.py": f"\ufeffimport steps\n{SETS}"}, True),
    "the folder above": ({"b/c/run.py": f"import steps\n{SETS}"}, True),
    "the folder above, hidden only for a script": ({"b/c/run.py": f"import steps\n{SETS}", "b/c/steps.py": ""}, True),
    "the folder above, with dots": ({"b/c/run.py": f"from ..steps import x\n{SETS}"}, True),
    "from the root": ({"run.py": f"import b.steps\n{SETS}"}, True),
    "from anywhere": ({"a/run.py": f"import b.steps\n{SETS}"}, True),
    "not found": ({"a/run.py": f"import steps\n{SETS}"}, True),
    "not found in a package": (
        {"a/run.py": f"from a import steps\n{SETS}", "a/__init__.py": "from b import steps"},
        True,
    ),
    "found elsewhere only": ({"a/run.py": f"import steps\n{SETS}", "c/steps.py": ""}, True),
    "another search path": (
        {"a/run.py": f"import sys\nsys.path.insert(0, '../b')\nimport steps\n{SETS}", "a/steps.py": ""},
        True,
    ),
    "another search path, by a module beside it": (
        {
            "a/run.py": f"import paths\nimport steps\n{SETS}",
            "a/steps.py": "",
            "a/paths.py": "import sys\nsys.path[:0] = x",
        },
        True,
    ),
    "run along with this folder": (
        {"a/run.py": f"import steps\n{SETS}", "a/steps.py": "", "b/main.py": "import a.run\nimport steps\n"},
        True,
    ),
    "run along with this folder, by a name": (
        {
            "a/run.py": f"import steps\n{SETS}",
            "a/steps.py": "",
            "b/main.py": "import importlib\nimportlib.import_module('a.run')\n",
        },
        True,
    ),
    "run along with this folder, by a notebook": (
        {
            "a/run.py": f"import steps\n{SETS}",
            "a/steps.py": "",
            "b/main.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": ["from a import run\n"]}]}),
        },
        True,
    ),
    "names in settings": ({"conf/a.yaml": "_target_: b.steps.Own\nwith:\n  device = 'mps'\n"}, True),
}


def _fixed(folder: Path, name: str, others: dict[str, str]) -> dict[str, int]:
    (folder / "setup.cfg").touch()
    for each, content in {**others, name: MOVE}.items():
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_text(content)
    settings = Settings(select=("DL401",))
    return dict(fix_source(MOVE.encode(), str(folder / name), settings, unsafe=True).fixed)


@pytest.mark.parametrize("kind", FOLDERS)
def test_which_file_an_import_means(kind: str, tmp_path: Path) -> None:
    others, is_held_back = FOLDERS[kind]
    assert _fixed(tmp_path, "b/steps.py", others) == ({} if is_held_back else {"DL401": 1})


def test_a_link_is_the_same_file(tmp_path: Path) -> None:
    for folder in "ab":
        (tmp_path / folder).mkdir()
    (tmp_path / "a" / "own.py").symlink_to("../b/steps.py")
    assert _fixed(tmp_path, "b/steps.py", {"a/run.py": f"import own\n{SETS}"}) == {}


def test_a_script_that_is_a_link_looks_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "run.py").symlink_to("../b/run.py")
    others = {"b/run.py": f"import steps\n{SETS}", "a/steps.py": ""}
    assert _fixed(tmp_path, "b/steps.py", others) == {}


@pytest.mark.parametrize(
    ("written", "modules"),
    [
        ("import a", {(0, "a")}),
        ("import a.b as c, d", {(0, "a.b"), (0, "d")}),
        ("from a import b as c, d  # e", {(0, "a"), (0, "a.b"), (0, "a.d")}),
        ("from.a import(b)", {(1, "a"), (1, "a.b")}),
        ("from . . import a", {(2, ""), (2, "a")}),
        ("from ...a.b import (\n    c,  # one)\n)", {(3, "a.b"), (3, "a.b.c")}),
        ("from a import *", {(0, "a")}),
        ("from .. import *", {(2, "")}),
        ("from é import ü", {(0, "é"), (0, "é.ü")}),
    ],
)
def test_imports_are_read(written: str, modules: set[tuple[int, str]]) -> None:
    found = imports_of("a.py", plain(f"x = 1\n{written}\n".encode()))
    assert found.modules == modules
    assert not found.words
    assert found.stars == (modules if "*" in written else set())


@pytest.mark.parametrize("written", ["import a . b", "import a; import b", "from a import b if c", "import", "from a"])
def test_what_cannot_be_read_counts_by_its_words(written: str) -> None:
    found = imports_of("a.py", written.encode())
    assert not found.modules
    assert found.words == set(written.replace(".", " ").replace(";", "").encode().split())
