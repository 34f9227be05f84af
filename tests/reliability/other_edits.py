"""Random edits of what is not a module: notebooks, configuration files, and the files of directed cases."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from collections.abc import Sequence as Several
from pathlib import Path
from typing import Any

from reliability.cache_cases import ASKING, CASES, LOADING
from reliability.sequences import EDITS, PAST, PIECES, WORDS, Edit, Sequence

State = dict[str, str | None]

# Kinds of questions that no directed case is about, in projects where they are asked.
ASKED_TOO: tuple[tuple[dict[str, str], State], ...] = (
    (
        {
            "tool/__init__.py": "",
            "tool/train.py": LOADING + "from . import parts\n\nloader = DataLoader(parts.rows.DATA, num_workers=0)\n",
        },
        {"tool/parts/rows.py": "DATA = range(8)\n"},
    ),
    ({"data.py": ASKING}, {"config.yaml": "_target_: data.Lines\n"}),
    (
        {
            "data.py": f"import cv2\n{LOADING}from api import make\n\n\nclass Rows(Dataset):\n"
            "    def __init__(self, paths, size: Shrink):\n"
            "        self.paths = paths\n        self.size = size\n\n    def __getitem__(self, index):\n"
            "        return self.size(cv2.imread(self.paths[index]))\n"
        },
        {"shrink.py": "class Shrink:\n    pass\n", "make.py": LOADING + "def make(x):\n    return DataLoader(x)\n"},
    ),
)
_MAKING = LOADING + "\n\ndef make(n):\n    return DataLoader([1], num_workers=n, persistent_workers=True)\n"
_WITHOUT = LOADING + "DataLoader([1], num_workers=WORKERS, persistent_workers=True)\n"
# Edits of one file that change what is found in another, in ways that no text of the other shows.
FROM_AFAR: tuple[tuple[dict[str, str], State], ...] = (
    (
        {
            "one.py": "WORKERS = 0\n",
            "two.py": "WORKERS = 4\n",
            "names.py": "NAME = 'two'\n",
            "main.py": "import importlib\nfrom names import NAME\nWORKERS = importlib.import_module(NAME).WORKERS\n"
            + _WITHOUT,
        },
        {"names.py": "NAME = 'one'\n"},
    ),
    (
        {
            "options.py": "WORKERS = 0\n",
            "more.py": "",
            "main.py": "from options import *\nfrom more import *\n" + _WITHOUT,
        },
        {"more.py": "WORKERS = 4\n"},
    ),
    (
        {"options.py": "WORKERS = 0\n", "api.py": "from below import *\n", "main.py": "from api import *\n" + _WITHOUT},
        {"below.py": "from lowest import *\n", "lowest.py": "from options import *\n"},
    ),
    (
        {"train.py": _MAKING, "main.py": "from torch import multiprocessing as mp\nfrom train import *\n"},
        {"main.py": "from torch import multiprocessing as mp\nfrom train import *\nmp.spawn(make, args=(0,))\n"},
    ),
    (
        {
            "train.py": _MAKING,
            "main.py": "from multiprocessing import Pool\nfrom train import make\nPool().map(make, [0])\n",
        },
        {"main.py": "from multiprocessing import Pool\nfrom train import make\nPool().apply_async(make, (0,))\n"},
    ),
)
SCENES: tuple[tuple[dict[str, str], State], ...] = (
    *((case.before, case.after) for case in CASES),
    *ASKED_TOO,
    *FROM_AFAR,
)
CONFIGS = ("config.yaml", "conf/train.yml", "settings.json", "entry.toml", "options.ini", "tool.cfg")
TABLES = (
    "",
    "[tool.dataloader-lint]\n",
    '[tool.dataloader-lint]\nignore = ["DL1"]\n',
    '[tool.dataloader-lint]\nextend-select = ["DL4"]\n',
    '[tool.dataloader-lint]\nextend-datasets = ["somewhere.Base"]\n',
    '[tool.dataloader-lint]\nextend-dataloaders = ["loaders.make"]\n',
    '[tool.dataloader-lint]\nstart-method = "spawn"\n',
    '[project]\nname = "x"\nrequires-python = ">=3.12"\n',
)


def notebooks(sequence: Sequence) -> list[Path]:
    """The notebooks, in order, wherever they lie."""
    return sorted(path for path in sequence.home.parent.rglob("*.ipynb") if path.is_file())


def add_scenes(home: Path, places: Iterable[int]) -> None:
    """Put the files of some of `SCENES` into folders of the project, for `_scene` to change."""
    for place in places:
        _write(home, place, dict(SCENES[place][0]))


def _write(home: Path, place: int, files: State) -> None:
    for name, text in files.items():
        path = home / f"scene{place}" / name
        if text is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (PAST, PAST))


def _scene(sequence: Sequence) -> str:
    """The change of a directed case is made, or undone."""
    found = sorted(int(path.name[5:]) for path in sequence.home.glob("scene*") if path.name[5:].isdigit())
    if not found:
        return ""
    place = sequence.chance.choice(found)
    folder = sequence.home / f"scene{place}"
    before, after = SCENES[place]
    if any(each.is_file() and each != folder for name in (*before, *after) for each in (folder / name).parents):
        return ""  # another edit has made a file of a folder
    if any((folder / name).is_dir() or (folder / name).is_symlink() for name in (*before, *after)):
        return ""
    is_changed = all((folder / name).is_file() and (folder / name).read_text() == text for name, text in after.items())
    undone: State = {name: before.get(name) for name in after}
    _write(sequence.home, place, {**before, **(undone if is_changed else after)})
    return f"{place}: {'before' if is_changed else 'after'}"


def _cell(text: str, kind: str = "code") -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True), "outputs": []}


def _save(sequence: Sequence, path: Path, cells: Several[dict[str, Any]]) -> None:
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    sequence.put(path, json.dumps(content, indent=1))


def _cells(path: Path) -> list[dict[str, Any]] | None:
    """The cells of a notebook; None where an edit has broken it."""
    try:
        cells = json.loads(path.read_text())["cells"]
    except ValueError:
        return None
    return cells if isinstance(cells, list) else None


def _using(sequence: Sequence) -> str:
    """Code that uses a name of a module of the project."""
    path = sequence.file()
    if path is None:
        return sequence.chance.choice(PIECES)
    text = path.read_bytes().decode("utf-8", "replace")
    names = re.findall(r"^(?:class|def) (\w+)", text, re.MULTILINE) or ["x"]
    name, module = sequence.chance.choice(names), path.stem if path.stem != "__init__" else path.parent.name
    folder = sequence.chance.choice(["", "", f"{path.parent.name}."])
    return sequence.chance.choice(
        [
            f"from {folder}{module} import {name}\n{LOADING}DataLoader({name}(x), num_workers=2)\n",
            f"import {folder}{module}\n{LOADING}DataLoader({module}.{name}(x), num_workers=0)\n",
            f"from {folder}{module} import *\n{name}.device = 'cuda'\n",
            f"from {folder}{module} import {name}\n{name}(0, collate_fn=lambda rows: rows)\n",
            f"%run {module}.py\n!python {module}.py\nset_epoch = {module}.{name}\n",
        ]
    )


def _add_notebook(sequence: Sequence) -> str:
    folders = [sequence.home, *(path.parent for path in sequence.files())]
    stem = sequence.chance.choice(["explore", "use", *(path.stem for path in sequence.files())])
    path = sequence.chance.choice(folders) / f"{stem}.ipynb"
    if path.exists():
        return ""
    texts = [_using(sequence), sequence.chance.choice(PIECES), "# Title\n"]
    _save(sequence, path, [_cell(text, "markdown" if text == "# Title\n" else "code") for text in texts])
    return str(path.relative_to(sequence.home.parent))


def _edit_notebook(sequence: Sequence) -> str:
    found = notebooks(sequence)
    if not found:
        return _add_notebook(sequence)
    path = sequence.chance.choice(found)
    cells = _cells(path)
    if not cells or sequence.chance.random() < 0.3:
        _save(sequence, path, [*(cells or []), _cell(_using(sequence))])
        return f"{path.name}: one more cell"
    place = sequence.chance.randrange(len(cells))
    text = "".join(cells[place]["source"])
    other = {"0": "4", "2": "0", "4": "0", "True": "False", "False": "True"}
    words = list(re.finditer(r"\b(?:[024]|True|False|\w{3,})\b", text))
    if not words or sequence.chance.random() < 0.2:
        del cells[place]
        _save(sequence, path, cells)
        return f"{path.name}: no cell {place}"
    word = sequence.chance.choice(words)
    new = other.get(word[0], sequence.chance.choice([f"{word[0]}_x", *WORDS]))
    cells[place] = _cell(text[: word.start()] + new + text[word.end() :], cells[place]["cell_type"])
    _save(sequence, path, cells)
    return f"{path.name}: {word[0]} -> {new}"


def _break_notebook(sequence: Sequence) -> str:
    found = notebooks(sequence)
    if not found:
        return ""
    path = sequence.chance.choice(found)
    text = path.read_text()
    sequence.put(path, text[: len(text) // 2])
    return path.name


def _remove_notebook(sequence: Sequence) -> str:
    found = notebooks(sequence)
    if not found:
        return ""
    path = sequence.chance.choice(found)
    path.unlink()
    return path.name


def _rename_notebook(sequence: Sequence) -> str:
    found = notebooks(sequence)
    if not found:
        return ""
    path = sequence.chance.choice(found)
    folder = sequence.chance.choice([path.parent, *(each.parent for each in sequence.files())])
    target = folder / sequence.chance.choice([f"{path.stem}s.ipynb", path.name])
    if target.exists():
        return ""
    path.rename(target)
    return f"{path.name} -> {target.relative_to(sequence.home.parent)}"


def _config(sequence: Sequence) -> str:
    """A configuration file comes to name something of the project, or goes."""
    path, module = sequence.home / sequence.chance.choice(CONFIGS), sequence.file()
    if path.exists() and sequence.chance.random() < 0.3:
        path.unlink()
        return f"no {path.name}"
    if module is None or path.parent.is_file():
        return ""
    names = re.findall(r"^(?:class|def) (\w+)", module.read_bytes().decode("utf-8", "replace"), re.MULTILINE) or ["x"]
    name = sequence.chance.choice(names)
    text = sequence.chance.choice(
        [
            f"_target_: {module.stem}.{name}\n",
            f'{{"_target_": "{module.stem}.{name}", "device": "cuda"}}\n',
            f"[options.entry_points]\nconsole_scripts =\n    run = {module.stem}:{name}\n",
            f"{name}: 1\n",
            "workers: 4\n",
        ]
    )
    if path.exists() and path.read_text() == text:
        return ""
    sequence.put(path, text)
    return f"{path.name}: {text!r}"


def _tool_table(sequence: Sequence) -> str:
    """The settings in a pyproject.toml change."""
    folders = sorted({sequence.home, *(path.parent for path in sequence.files())} - {sequence.home.parent})
    path = sequence.chance.choice(folders) / "pyproject.toml"
    text = sequence.chance.choice(TABLES)
    if path.exists() and path.read_text() == text:
        return ""
    sequence.put(path, text)
    return f"{path.relative_to(sequence.home.parent)}: {text!r}"


OTHER_EDITS: tuple[Edit, ...] = (
    *(8 * (_edit_notebook, _scene)),
    *(3 * (_add_notebook, _config, _tool_table)),
    *(2 * (_rename_notebook, _remove_notebook)),
    _break_notebook,
)
ALL_EDITS: tuple[Edit, ...] = (*EDITS, *OTHER_EDITS)
SCENE_EDITS: tuple[Edit, ...] = (*ALL_EDITS, *(len(ALL_EDITS) * (_scene,)))
