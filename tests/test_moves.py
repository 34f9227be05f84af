"""DL401: which moves of parts of default batches are safe not to block."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from dataloader_lint.fixer import fix_source
from dataloader_lint.settings import Settings

HEAD = "import argparse\nimport torch\nfrom torch.utils.data import DataLoader, Dataset, TensorDataset\n"
CUDA = 'torch.device("cuda" if torch.cuda.is_available() else "cpu")'
ROWS = """
class Rows(Dataset):
    def __init__(self, rows, transform):
        self.rows, self.transform = rows, transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {sample}

def train(rows, transform, options):
    for {target} in DataLoader(Rows(rows, transform), pin_memory=True{more}):
        print({moved})
"""


def rows(
    moved: str = 'image.to("cuda")',
    sample: str = "self.transform(self.rows[index]), 1",
    target: str = "image, label",
    more: str = "",
) -> str:
    return HEAD + dedent(ROWS).format(moved=moved, sample=sample, target=target, more=more)


def own(method: str, base: str = "dict") -> str:
    return f"class Record({base}):\n    {method}\n        return self\n"


SAFE, UNSAFE, NONE = "safe", "unsafe", "none"
# The file with the move, what other files hold, and which fix there is.
PARTS: dict[str, tuple[str, dict[str, str], str]] = {
    "a part of a tuple": (rows(), {}, SAFE),
    "a part of a dict": (rows('batch["x"].to("cuda")', '{"x": self.transform(1)}', "batch"), {}, SAFE),
    "a part of what nobody knows": (rows('batch[0].to("cuda")', "self.transform(1)", "batch"), {}, SAFE),
    "with cuda": (rows("image.cuda()"), {}, SAFE),
    "batches of a known size": (rows(more=", batch_size=8"), {}, SAFE),
    "a Dataset from elsewhere": (
        HEAD + 'def train(ds):\n    for x, y in DataLoader(ds, pin_memory=True):\n        print(x.to("cuda"))\n',
        {},
        SAFE,
    ),
    "a class with a move like that of tensors": (
        rows() + own("def to(self, device, non_blocking=False):"),
        {"other.py": own("def to(self, *args, **kwargs):")},
        SAFE,
    ),
    "another `to`": (rows(), {"other.py": "def total(self, to):\n    return a.to == to\n"}, SAFE),
    # `default_collate` keeps the classes of dicts, named tuples and lists, which may have moves of their own.
    "a class of the file": (rows() + own("def to(self, device):"), {}, UNSAFE),
    "a class of another file": (rows(), {"lib/other.py": own("def to(self, device):", "UserDict")}, UNSAFE),
    "a class with `cuda`": (rows("image.cuda()"), {"other.py": own("def cuda(self):", "NamedTuple")}, UNSAFE),
    "a class of a notebook": (rows(), {"a.ipynb": '{"cells": [{"source": ["def to(self, device):"]}]}'}, UNSAFE),
    "a move by another name": (rows(), {"other.py": "class Record(dict):\n    to = move\n"}, UNSAFE),
    "dicts of a library": (
        rows(),
        {"other.py": "from transformers import AutoTokenizer\n"},
        UNSAFE,
    ),
    "a class that is registered": (rows(), {"other.py": "default_collate_fn_map[Graph] = stack\n"}, UNSAFE),
    "an attribute of a batch": (rows('batch.x.to("cuda")', "self.transform(1)", "batch"), {}, UNSAFE),
    "batches of any size": (rows(more=", batch_size=options.size"), {}, UNSAFE),
    "samples as they are": (rows(more=", batch_size=None"), {}, UNSAFE),
    "a whole batch": (rows('batch.to("cuda")', "self.transform(1)", "batch"), {}, NONE),
    "a collate_fn": (rows(more=", collate_fn=options.collate"), {}, NONE),
}


def fix_of(source: str, others: dict[str, str], folder: Path) -> str:
    (folder / "setup.cfg").touch()
    for name, content in {**others, "train.py": source}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    settings = Settings(select=("DL401",))
    for kind in (SAFE, UNSAFE):
        result = fix_source(source.encode(), str(folder / "train.py"), settings, unsafe=kind == UNSAFE)
        if result.fixed:
            return kind if b"non_blocking=True" in result.source else f"{kind} by type"
    return NONE


@pytest.mark.parametrize("kind", PARTS)
def test_parts_of_default_batches(kind: str, tmp_path: Path) -> None:
    source, others, expected = PARTS[kind]
    assert fix_of(source, others, tmp_path) == expected
