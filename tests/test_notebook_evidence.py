"""Notebooks run by a real kernel: before and after a repair, and with what spawned workers are said not to find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dataloader_lint import Settings, lint_source
from dataloader_lint.engine.fixer import fix_source
from notebook_texts import source_of

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

pytestmark = pytest.mark.evidence

IMPORT = "import torch\nfrom torch.utils.data import DataLoader, Dataset, TensorDataset"
# A fork server that has loaded torch already starts workers that need not.
PRELOADING = "import multiprocessing\nmultiprocessing.set_forkserver_preload(['torch'])"
DATA = "data = TensorDataset(torch.arange(4))"
MODULE = """\
from torch.utils.data import Dataset


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index


def collate(rows):
    return rows


def prepare(number):
    pass
"""
# Each makes a loader; whether it can start workers is what the cell prints.
LOADERS = {
    "Rows(), num_workers=1": "DL208",
    "data, num_workers=1, collate_fn=collate": "DL202",
    "data, num_workers=1, worker_init_fn=prepare": "DL203",
    "data, num_workers=1, collate_fn=lambda rows: rows": "DL201",
    "data, num_workers=1": "",
}
DIED = "RuntimeError: DataLoader worker"


def saved(path: Path, *cells: str) -> bytes:
    """A notebook as Jupyter itself writes it."""
    content = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    nbformat.write(content, path)
    return path.read_bytes()


def run(path: Path, *, may_fail: bool = False) -> Any:
    """The notebook after a kernel has run it in its folder."""
    content = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        content,
        timeout=300,
        kernel_name="python3",
        allow_errors=may_fail,
        resources={"metadata": {"path": path.parent}},
    )
    client.execute()
    nbformat.validate(content)
    return content


def test_a_repair_before_and_after(tmp_path: Path) -> None:
    path = tmp_path / "nb.ipynb"
    cells = [
        f"%matplotlib --list\n{IMPORT}",
        DATA,
        "loader = DataLoader(data, batch_size=2, persistent_workers=True)  # größer",
        "!echo done\nprint([batch[0].tolist() for batch in loader])",
    ]
    saved(path, *cells)
    before = run(path, may_fail=True)
    assert before.cells[2].outputs[-1].ename == "ValueError"
    nbformat.write(before, path)  # with the outputs of that run
    content = path.read_bytes()

    result = fix_source(content, str(path))
    assert (result.fixed, result.remaining) == ({"DL301": 1}, [])
    assert result.source == content.replace(b", persistent_workers=True)", b")")
    assert json.loads(result.source)["cells"][2]["outputs"] == json.loads(content)["cells"][2]["outputs"]
    path.write_bytes(result.source)
    after = run(path)
    assert "[[0, 1], [2, 3]]" in printed(after.cells[3])
    assert source_of(result.source, 3) == "loader = DataLoader(data, batch_size=2)  # größer"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_what_spawned_workers_find(method: str, tmp_path: Path) -> None:
    def tried(arguments: str) -> str:
        return (
            f"loader = DataLoader({arguments}, multiprocessing_context={method!r})\n"
            "try:\n    print(len(list(loader)), 'batches')\n"
            "except Exception as error:\n    print(f'{type(error).__name__}: {error}')"
        )

    path = tmp_path / "nb.ipynb"
    (tmp_path / "pyproject.toml").touch()  # the project ends here, whatever else lies in the temporary folder
    content = saved(path, f"{IMPORT}\n{PRELOADING}\n{DATA}", MODULE, *map(tried, LOADERS))
    places = {(one.cell, one.code) for one in lint_source(content, str(path), Settings(select=("DL2",)))}
    # A class and a function are reported where the class is defined and where the function is handed over.
    expected = {
        (2 if code == "DL208" else number, code) for number, code in enumerate(LOADERS.values(), start=3) if code
    }
    assert places == expected
    results = {code: printed(cell) for code, cell in zip(LOADERS.values(), run(path).cells[2:], strict=True)}
    assert results.pop("") == "4 batches\n"
    assert results.pop("DL201").startswith("PicklingError: Can't pickle <function <lambda>")
    assert all(result.startswith(DIED) for result in results.values()), results

    # As advised.
    moved = sorted({arguments.replace("lambda rows: rows", "collate") for arguments in LOADERS})
    content = saved(
        path,
        f"%%writefile shapes.py\n{MODULE}",
        f"{IMPORT}\nfrom shapes import *\n{PRELOADING}\n{DATA}",
        *map(tried, moved),
    )
    assert lint_source(content, str(path), Settings(select=("DL2",))) == []
    assert [printed(cell) for cell in run(path).cells[2:]] == ["4 batches\n"] * len(moved)


def printed(cell: Any) -> str:
    """What a cell wrote to standard output."""
    return "".join(one.text for one in cell.outputs if one.output_type == "stream" and one.name == "stdout")
