"""What rules say of notebooks, where nothing that is defined reaches a spawned worker, and no module is imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dataloader_lint import Settings, lint_paths, lint_source
from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.engine.fixer import fix_source
from notebook_texts import encoded, notebook

IMPORT = "from functools import partial\n\nfrom torch.utils.data import DataLoader, Dataset, TensorDataset\n"
ROWS = """\
class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index"""
COLLATE = "def collate(rows):\n    return rows"
LOCAL_COLLATE = """\
def make(data):
    def collate(rows):
        return rows

    return DataLoader(data, num_workers=2, collate_fn=collate)"""
LOCAL_ROWS = """\
def make():
    class Rows(Dataset):
        def __getitem__(self, index):
            return index

    return DataLoader(Rows(), num_workers=2)"""
FOLDER = """\
from torchvision.datasets import ImageFolder

loader = DataLoader(ImageFolder(".", transform={}), num_workers=2)"""
MAIN = """\
def main():
    global scale
    scale = 3
    for rows in DataLoader(Rows(), num_workers=2):
        print(rows)"""


def found(*cells: str, **settings: Any) -> list[Diagnostic]:
    return lint_source(encoded(notebook(IMPORT, *cells)), "nb.ipynb", Settings(**settings))


@pytest.mark.parametrize(
    ("code", "cells", "said"),
    [
        (
            "DL201",
            ["loader = DataLoader(data, num_workers=2, collate_fn=lambda rows: rows)"],
            ["is a lambda: pickling it for workers fails", "define it with `def` in a .py file and import it"],
        ),
        (
            "DL201",
            ["loader = DataLoader(data, num_workers=2, collate_fn=partial(lambda rows, n: rows, n=1))"],
            ["is a lambda in a `partial`: pickling it for workers fails", "in a .py file and import it"],
        ),
        (
            "DL202",
            [COLLATE, "loader = DataLoader(data, num_workers=2, collate_fn=collate)"],
            ["`collate` (`collate_fn`) is defined in this notebook", "(macOS, ", "import it from a .py file"],
        ),
        (
            "DL202",
            [COLLATE, "loader = DataLoader(data, num_workers=2, collate_fn=partial(collate))"],
            ["`collate` (`collate_fn`) is defined in this notebook"],
        ),
        (
            "DL202",
            [LOCAL_COLLATE],
            ["`collate` is a nested `collate_fn`", "move it to a .py file and use `partial`"],
        ),
        (
            "DL203",
            ["def seed(number):\n    pass", "loader = DataLoader(data, num_workers=2, worker_init_fn=seed)"],
            ["`seed` (`worker_init_fn`) is defined in this notebook", "import it from a .py file"],
        ),
        (
            "DL203",
            ["loader = DataLoader(data, num_workers=2, worker_init_fn=lambda number: None)"],
            ["the `worker_init_fn` of `DataLoader` is a lambda", "define it with `def` in a .py file"],
        ),
        (
            "DL204",
            ["def double(x):\n    return x * 2", FOLDER.format("double")],
            ["`ImageFolder` holds `double` of this notebook", "import it from a .py file"],
        ),
        (
            "DL204",
            [
                "import webdataset as wds",
                "def pair(sample):\n    return sample['jpg'], sample['cls']",
                "loader = wds.WebLoader(wds.WebDataset('a.tar').map(pair), num_workers=2)",
            ],
            ["`WebDataset.map` holds `pair` of this notebook", "import it from a .py file"],
        ),
        (
            "DL204",
            [FOLDER.format("lambda x: x")],
            ["`ImageFolder` holds this lambda", "define it with `def` in a .py file and import it"],
        ),
        (
            "DL208",
            [ROWS, "loader = DataLoader(Rows(), num_workers=2)"],
            ["the Dataset `Rows` is defined in this notebook", "(macOS, ", "import it from a .py file"],
        ),
        (
            "DL208",
            [LOCAL_ROWS],
            ["is nested in `make`", "move it to a .py file and pass what it uses"],
        ),
    ],
)
def test_what_a_spawned_worker_cannot_find(code: str, cells: list[str], said: list[str]) -> None:
    [one] = found(*cells, select=(code,))
    assert one.code == code
    for each in said:
        assert each in one.message
    content = encoded(notebook(IMPORT, *cells))
    assert fix_source(content, "nb.ipynb", Settings(select=(code,)), unsafe=True).source == content, "no help here"
    assert found(*cells, select=(code,), start_method="fork") == []


@pytest.mark.parametrize(
    "cells",
    [
        [ROWS, COLLATE, "loader = DataLoader(Rows(), collate_fn=collate)"],
        [ROWS, COLLATE, "loader = DataLoader(Rows(), num_workers=0, collate_fn=collate)"],
        [ROWS, COLLATE, "loader = DataLoader(Rows(), num_workers=count(), collate_fn=collate)"],
        [ROWS, COLLATE, "DataLoader(Rows(), num_workers=2, collate_fn=collate, multiprocessing_context='fork')"],
        [ROWS, "for row in Rows():\n    print(row)"],
        ["from shapes import Rows, collate\nloader = DataLoader(Rows(), num_workers=2, collate_fn=collate)"],
        ["loader = DataLoader(TensorDataset(x), num_workers=2)\nfor batch in loader:\n    print(batch)"],
        [f"@wrapped\n{COLLATE}", "loader = DataLoader(data, num_workers=2, collate_fn=collate)"],
        ["%%writefile shapes.py\n" + ROWS, "loader = DataLoader(data, num_workers=2)"],
        [f"{ROWS}\n\n    def __reduce__(self):\n        return str, ()", "loader = DataLoader(Rows(), num_workers=2)"],
    ],
)
def test_silent(cells: list[str]) -> None:
    assert found(*cells) == []


def test_what_a_notebook_imports_is_found(tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text(f"{IMPORT}\n\n{ROWS}\n\n\n{COLLATE}\n")
    cells = ["from shapes import Rows, collate", "loader = DataLoader(Rows(), num_workers=2, collate_fn=collate)"]
    (tmp_path / "nb.ipynb").write_bytes(encoded(notebook(IMPORT, *cells)))
    assert lint_paths([tmp_path]) == []


def test_nothing_imports_a_notebook(tmp_path: Path) -> None:
    """A module of the same name is another one."""
    (tmp_path / "shapes.ipynb").write_bytes(encoded(notebook(f"{IMPORT}\n{ROWS}")))
    (tmp_path / "shapes.py").write_text(f"{IMPORT}\n\n{ROWS}\n")
    (tmp_path / "train.py").write_text(
        f"{IMPORT}\nfrom shapes import Rows\n\nloader = DataLoader(Rows(), num_workers=2)\n"
    )
    assert lint_paths([tmp_path]) == []


def test_a_notebook_needs_no_guard() -> None:
    loop = "loader = DataLoader(TensorDataset(x), num_workers=2)\nfor batch in loader:\n    print(batch)"
    start = "import multiprocessing\n\nmultiprocessing.set_start_method('spawn')"
    assert found(loop, start) == []
    script = f"{IMPORT}\n{loop}\n"
    assert [one.code for one in lint_source(script, "nb.py")] == ["DL206"]


def test_no_worker_imports_a_notebook_again() -> None:
    cells = [
        "scale = 1",
        ROWS.replace("return index", "return index * scale"),
        MAIN,
        "main()",
    ]
    assert [one.code for one in found(*cells)] == ["DL208"]
    script = "\n\n".join([IMPORT, *cells[:-1], 'if __name__ == "__main__":\n    main()\n'])
    assert [one.code for one in lint_source(script, "nb.py")] == ["DL211"]
