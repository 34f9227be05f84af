"""The chain of steps that shows a finding: where it points, in each output, from the cache, and in notebooks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dataloader_lint import lint_paths, lint_source
from dataloader_lint.cache.plain import diagnostic, plain
from dataloader_lint.cli.command import main
from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.settings import Settings
from notebook_texts import cell, encoded, notebook

DATA = """\
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        self.rows = [line.strip() for line in open(path)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
"""
TRAIN = """\
from data import Rows
from torch.utils.data import DataLoader


def main():
    return DataLoader(Rows("rows.txt"), num_workers=8)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "data.py").write_text(DATA)
    (tmp_path / "train.py").write_text(TRAIN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def chain(one: Diagnostic) -> list[tuple[str, int, int, str]]:
    return [(Path(each.filename).name, each.position.line, each.position.column, each.text) for each in one.because]


WANTED = [
    ("data.py", 12, 15, "`Rows.__getitem__` reads it here"),
    ("train.py", 6, 11, "`DataLoader` is made here with `num_workers=8`"),
]


def run(*args: str, capsys: pytest.CaptureFixture[str]) -> str:
    main(["--no-cache", "--exit-zero", "--select", "DL101", *args, "."])
    return capsys.readouterr().out


def test_steps_stand_in_other_files(project: Path) -> None:
    (one,) = lint_paths([project], Settings(select=("DL101",)))
    assert chain(one) == WANTED


def test_a_loader_counts_only_if_its_object_has_the_list(project: Path) -> None:
    (project / "data.py").write_text(
        DATA.replace("path):", "path, mode):").replace(
            "        self.rows", "        if mode == 'test':\n            self.rows"
        )
    )
    (project / "train.py").write_text(
        "from data import Rows\nfrom torch.utils.data import DataLoader\n\n\n"
        "def main():\n"
        "    yield DataLoader(Rows('rows.txt', 'train'), num_workers=8)\n"
        "    yield DataLoader(Rows('rows.txt', 'test'), num_workers=2)\n"
    )
    (one,) = lint_paths([project], Settings(select=("DL101",)))
    assert chain(one)[1:] == [("train.py", 7, 10, "`DataLoader` is made here with `num_workers=2`")]


def test_a_subclass_of_a_loader_is_made_where_its_user_says_so(project: Path) -> None:
    (project / "loaders.py").write_text(
        "from torch.utils.data import DataLoader\n\n\n"
        "class Again(DataLoader):\n"
        "    def __init__(self, *args, **kwargs):\n"
        "        super().__init__(*args, **kwargs)\n"
    )
    constructed = "    train_loader = Again(Rows('rows.txt'), num_workers=count)\n"
    for count, shown in (("8", "`num_workers=8`"), ("int(input())", "`num_workers=count`")):
        (project / "train.py").write_text(
            f"from data import Rows\nfrom loaders import Again\n\n\ndef main():\n"
            f"    count = {count}\n{constructed}    return train_loader\n"
        )
        (one,) = lint_paths([project], Settings(select=("DL101",)))
        assert chain(one) == [WANTED[0], ("train.py", 7, 19, f"`train_loader` is made here with {shown}")]


def test_handles_and_object_arrays_have_a_chain(project: Path) -> None:
    (project / "data.py").write_text(
        "import h5py\nimport numpy as np\nfrom torch.utils.data import Dataset\n\n\n"
        "class Rows(Dataset):\n"
        "    def __init__(self, path):\n"
        "        self.file = h5py.File(path)\n"
        "        self.rows = np.load(path, allow_pickle=True)\n\n"
        "    def __getitem__(self, index):\n"
        "        return self.file['x'][index], self.rows[index]['name']\n"
    )
    array, handle = lint_paths([project], Settings(select=("DL103", "DL205")))[::-1]
    assert chain(handle) == [WANTED[1]]
    assert chain(array) == [("data.py", 12, 38, "`Rows.__getitem__` reads it here"), WANTED[1]]


SCENES = """\
import glob
from torch.utils.data import Dataset


class Scenes(Dataset):
    def __init__(self, root, custom=None):
        self.custom = custom
        if {bound}:
            self.paths = custom
        else:
            self.paths = sorted(glob.glob(root))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        if {read}:
            return self.paths[index]["input"]
        return open(self.paths[index]).read()
"""


@pytest.mark.parametrize(
    ("bound", "read", "line"),
    [
        ("custom is not None", "self.custom is not None", 19),
        ("custom", "self.custom", 19),
        ("not custom is None", "not (self.custom is None)", 19),
        ("custom is not None", "self.custom is None", 18),
        ("custom is not None", "index > 3", 18),
    ],
)
def test_a_read_under_the_opposite_test_is_no_step(bound: str, read: str, line: int) -> None:
    (one,) = lint_source(SCENES.format(bound=bound, read=read), "/nonexistent/a.py", Settings(select=("DL101",)))
    assert [(position, text) for _, position, _, text in chain(one)] == [(line, "`Scenes.__getitem__` reads it here")]


def test_steps_through_objects_that_are_called() -> None:
    source = (
        "import cv2\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Compose:\n"
        "    def __init__(self, steps):\n        self.steps = steps\n\n"
        "    def __call__(self, image):\n"
        "        for step in self.steps:\n            image = step(image)\n        return image\n\n\n"
        "class Resize:\n    def __call__(self, image):\n        return cv2.resize(image, (3, 3))\n\n\n"
        "class Images(Dataset):\n"
        "    def __init__(self, images, transform=None):\n"
        "        self.images, self.transform = images, transform\n\n"
        "    def __getitem__(self, index):\n        return self.transform(self.images[index])\n\n\n"
        "def make(images):\n    return DataLoader(Images(images, Compose([Resize()])), num_workers=4)\n"
    )
    (one,) = lint_source(source, "/nonexistent/a.py", Settings(select=("DL501",)))
    assert [(line, text) for _, line, _, text in chain(one)][-2:] == [
        (25, "it calls `Compose.__call__`"),
        (11, "it calls `Resize.__call__`"),
    ]


def test_what_a_caller_passes_is_a_step(project: Path) -> None:
    (project / "train.py").write_text(
        "from data import Rows\nfrom torch.utils.data import DataLoader\n\n\n"
        "def make(path, workers=0):\n"
        "    return DataLoader(Rows(path), num_workers=workers)\n\n\n"
        "def main():\n"
        "    for rows in make('rows.txt', workers=8):\n"
        "        print(rows)\n"
    )
    (one,) = lint_paths([project], Settings(select=("DL101",)))
    assert chain(one) == [
        WANTED[0],
        ("train.py", 6, 11, "`DataLoader` is made here with `num_workers=8`"),
        ("train.py", 10, 41, "`workers` is passed here"),
    ]


def test_an_option_that_is_off_is_shown_as_written(project: Path) -> None:
    (project / "train.py").write_text(
        "import argparse\n\nfrom data import Rows\nfrom torch.utils.data import DataLoader\n\n\n"
        "def main():\n"
        "    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--workers', type=int, default=0)\n"
        "    args = parser.parse_args()\n"
        "    return DataLoader(Rows('rows.txt'), num_workers=args.workers)\n"
    )
    (one,) = lint_paths([project], Settings(select=("DL101",)))
    assert chain(one)[1:] == [("train.py", 11, 11, "`DataLoader` is made here with `num_workers=args.workers`")]


def test_the_loader_is_one_of_the_linted_file(project: Path) -> None:
    (project / "data.py").write_text(CHANGED)
    for name, pipeline, workers in (("predict.py", "None", "4"), ("train.py", "Compose([HorizontalFlip()])", "count")):
        (project / name).write_text(
            "from albumentations import Compose, HorizontalFlip\n"
            "from data import Images\n"
            "from torch.utils.data import DataLoader\n\n\n"
            "def main(images, count):\n"
            f"    pipeline = {pipeline}\n"
            f"    return DataLoader(Images(images, pipeline), num_workers={workers})\n"
        )
    (one,) = lint_paths([project], Settings(select=("DL602",)))
    assert chain(one)[0] == ("train.py", 8, 11, "`DataLoader` is made here with `num_workers=count`")


CHANGED = """\
from torch.utils.data import Dataset


class Images(Dataset):
    def __init__(self, images, change):
        self.images = images
        self.change = change

    def __getitem__(self, index):
        return self.change(image=self.images[index])
"""


def test_steps_survive_the_cache(project: Path) -> None:
    (one,) = lint_paths([project], Settings(select=("DL101",)))
    again = diagnostic(json.loads(json.dumps(plain(one))))
    assert (again, again.because) == (one, one.because)


def test_a_moved_step_is_found_again(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def lines() -> Sequence[str]:
        main(["--exit-zero", "--select", "DL101", "--severity", "DL101:memory", "--output-format", "full", "."])
        return [line for line in capsys.readouterr().out.splitlines() if line.startswith("because")]

    assert lines()[1].endswith("(train.py:6:12)")
    (project / "train.py").write_text("\n\n" + TRAIN)
    assert lines()[1].endswith("(train.py:8:12)")


def test_full_shows_a_line_for_each(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = run("--output-format", "full", "--severity", "DL101:memory", capsys=capsys).splitlines()
    assert [line for line in lines if line.startswith("because")] == [
        "because: `Rows.__getitem__` reads it here (data.py:12:16)",
        "because: `DataLoader` is made here with `num_workers=8` (train.py:6:12)",
    ]


def test_json_and_sarif_point_to_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (one,) = json.loads(run("--output-format", "json", capsys=capsys))
    assert [(Path(each["filename"]).name, each["location"], each["message"]) for each in one["because"]] == [
        (name, {"row": line, "column": column + 1}, text) for name, line, column, text in WANTED
    ]
    report = json.loads(run("--output-format", "sarif", capsys=capsys))
    related = report["runs"][0]["results"][0]["relatedLocations"]
    assert [
        (each["physicalLocation"]["artifactLocation"]["uri"], each["physicalLocation"]["region"]["startLine"])
        for each in related
    ] == [("data.py", 12), ("train.py", 6)]


def test_in_a_notebook_they_stand_in_cells(tmp_path: Path) -> None:
    cells = notebook(cell(DATA), cell("loader = DataLoader(Rows('rows.txt'), num_workers=8)\n"))
    (tmp_path / "a.ipynb").write_bytes(encoded(cells))
    (one,) = lint_paths([tmp_path], Settings(select=("DL101",)))
    assert one.cell == 1
    assert [(each.cell, each.position.line) for each in one.because] == [(1, 12), (2, 1)]


def test_the_advised_copy_reaches_what_is_changed() -> None:
    code = (
        "from torch.utils.data import Dataset\n\n\n"
        "class Boxes(Dataset):\n"
        "    def __init__(self, paths):\n"
        '        self.items = [{"path": path, "boxes": []} for path in paths]\n'
        "    def __len__(self):\n        return len(self.items)\n"
        "    def __getitem__(self, index):\n"
        "        item = self.items[index]\n        CHANGE\n        return item\n"
    )
    settings = Settings(select=("DL613",))
    [inside] = lint_source(code.replace("CHANGE", 'item["boxes"].append(index)'), "boxes.py", settings)
    assert "copy.deepcopy" in inside.advice
    [outside] = lint_source(code.replace("CHANGE", 'item.pop("path")'), "boxes.py", settings)
    assert "`dict(x)`" in outside.advice


def test_the_loader_is_one_whose_workers_run_the_method(tmp_path: Path) -> None:
    """Neither one of a subclass with a method of its own, nor one of a Dataset that keeps such an object."""
    text = DATA.replace("return self.rows[index]", "return cv2.resize(cv2.imread(self.rows[index]), (8, 8))") + (
        "\n\nclass Plain(Rows):\n    def __getitem__(self, index):\n        return self.rows[index]\n"
        "\n\nclass Keeping(Dataset):\n    def __init__(self, rows):\n        self.rows = rows\n"
        "\n    def __getitem__(self, index):\n        return index\n"
        "\n\nplain = DataLoader(Plain('rows.txt'), num_workers=8)\n"
        "keeping = DataLoader(Keeping(Rows('rows.txt')), num_workers=4)\n"
        "resized = DataLoader(Rows('rows.txt'), num_workers=2)\n"
    )
    (found,) = lint_source(f"import cv2\n{text}", tmp_path / "a.py", Settings(select=("DL501",)))
    assert found.because[0].text == "`resized` is made here with `num_workers=2`"
