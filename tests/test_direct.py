"""A function that only calls another one: where that one takes its place, and where a function of its own is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.settings import Settings

HEAD = """\
import functools as ft
from functools import partial
from torch.utils.data import DataLoader, Dataset


def collate(samples, pad_value=0):
    return [samples, pad_value]


"""
HELPERS = """\
import threading


class Collator:
    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, rows):
        return rows


def pad(rows):
    return rows


def pad_samples(samples):
    return samples


def pad_to(samples, length):
    return [sample[:length] for sample in samples]


collator = Collator()
short = lambda rows: rows
"""
KEPT = """\
class Kept(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.fn = {}

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return {}


def make(rows):
    return DataLoader(Kept(rows), num_workers=2)
"""


def fixed(tmp_path: Path, code: str, text: str, *, unsafe: bool = False) -> str:
    """What the safe fixes of a rule, or all of its fixes, make of a file."""
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "helpers.py").write_text(HELPERS, encoding="utf-8")
    file = tmp_path / "train.py"
    file.write_text(text, encoding="utf-8")
    return fix_source(text.encode(), str(file), Settings(select=(code,)), unsafe=unsafe).source.decode()


def loader(option: str, line: str = "pass") -> str:
    return f"def make(data):\n    {line}\n    return DataLoader(data, num_workers=2, {option})\n"


@pytest.mark.parametrize(
    ("line", "option", "expected"),
    [
        ("pass", "partial(lambda rows, value: collate(rows, value), value=0)", "partial(_"),
        ("pass", "ft.partial(lambda rows, value: collate(rows, value), **{'value': 0})", "ft.partial(_"),
        ("fn = lambda rows, value: collate(rows, value)", "partial(fn, value=0)", "partial(fn, value=0)"),
        ("pass", "partial(lambda rows: collate(rows))", "partial(collate)"),
        ("pass", "lambda rows: collate(rows)", "collate"),
        ("fn = lambda rows: collate(rows)", "fn", "fn"),
    ],
)
def test_a_partial_with_keywords_keeps_the_names(line: str, option: str, expected: str, tmp_path: Path) -> None:
    after = fixed(tmp_path, "DL201", HEAD + loader(f"collate_fn={option}", line))
    assert f"num_workers=2, collate_fn={expected}" in after
    assert "lambda" not in after
    assert ("fn = collate" in after) == (expected == "fn")


@pytest.mark.parametrize(
    ("imports", "callee"),
    [
        ("from random import seed", "seed"),
        ("from random import seed as start", "start"),
        ("import random", "random.seed"),
        ("from numpy.random import seed", "seed"),
        ("from numpy import random", "random.seed"),
        ("import numpy.random as npr", "npr.seed"),
        ("import numpy as np", "np.random.seed"),
    ],
)
def test_seeding_stays_that_of_the_worker(imports: str, callee: str, tmp_path: Path) -> None:
    text = f"{imports}\n{HEAD}{loader(f'worker_init_fn=lambda i: {callee}(i)')}"
    after = fixed(tmp_path, "DL203", text)
    assert f"    {callee}(i)\n" in after
    assert f"worker_init_fn=_{callee.rpartition('.')[2]}_worker)" in after


@pytest.mark.parametrize(
    ("imports", "callee", "is_direct"),
    [
        ("from helpers import collator", "collator", False),
        ("from helpers import short", "short", False),
        ("from helpers import missing", "missing", False),
        ("import helpers", "helpers.collator", False),
        ("from helpers import pad", "pad", True),
        ("import helpers", "helpers.pad", True),
        ("from torch.nn.utils.rnn import pad_sequence", "pad_sequence", True),
    ],
)
def test_only_a_function_is_taken_for_one(imports: str, callee: str, is_direct: bool, tmp_path: Path) -> None:
    after = fixed(tmp_path, "DL201", f"{imports}\n{HEAD}{loader(f'collate_fn=lambda rows: {callee}(rows)')}")
    assert (f"collate_fn={callee})" in after) == is_direct
    assert (f"return {callee}(rows)" in after) != is_direct


def test_arguments_by_position_get_the_names_of_an_imported_function(tmp_path: Path) -> None:
    text = f"from helpers import pad_to\n{HEAD}" + loader("collate_fn=lambda rows: pad_to(rows, args.length)", "pass")
    text = text.replace("make(data)", "make(data, args)") + "\n\nargs = read()\nargs = args.parse_args()\n"
    after = fixed(tmp_path, "DL201", text, unsafe=True)
    assert "num_workers=2, collate_fn=ft.partial(pad_to, length=args.length))" in after


def test_a_function_is_named_after_what_it_does(tmp_path: Path) -> None:
    text = f"from torchvision import transforms\n{HEAD}" + KEPT.format(
        "transforms.Compose([transforms.Lambda(lambda x: (x - mean) / std)])", "self.fn(self.rows[index])"
    ).replace("rows):\n        self.rows", "rows, mean, std):\n        self.rows").replace(
        "Kept(rows)", "Kept(rows, 1, 2)"
    )
    after = fixed(tmp_path, "DL204", text, unsafe=True)
    assert "transforms.Lambda(ft.partial(_normalize, mean=mean, std=std))" in after


@pytest.mark.parametrize(
    ("function", "call", "safe", "unsafe"),
    [
        # `apply` calls it by the name of the lambda's parameter, which `collate` does not have.
        ("lambda v: collate(v)", "(lambda f, v: f(v=v))(self.fn, self.rows[index])", "lambda v: collate(v)", "collate"),
        ("lambda samples: collate(samples)", "self.fn(self.rows[index])", "collate", "collate"),
        (
            "lambda rows: pad_samples(rows)",
            "self.fn(self.rows[index])",
            "lambda rows: pad_samples(rows)",
            "pad_samples",
        ),
        ("lambda samples: pad_samples(samples)", "self.fn(self.rows[index])", "pad_samples", "pad_samples"),
    ],
)
def test_other_names_of_parameters_are_not_safe(
    function: str, call: str, safe: str, unsafe: str, tmp_path: Path
) -> None:
    text = f"from helpers import pad_samples\n{HEAD}{KEPT.format(function, call)}"
    assert f"self.fn = {safe}\n" in fixed(tmp_path, "DL204", text)
    assert f"self.fn = {unsafe}\n" in fixed(tmp_path, "DL204", text, unsafe=True)


def test_a_partial_in_a_dataset_keeps_the_names(tmp_path: Path) -> None:
    text = HEAD + KEPT.format("partial(lambda v, by: collate(v, by), by=3)", "self.fn(self.rows[index])")
    after = fixed(tmp_path, "DL204", text)
    assert "(v, by):\n    return collate(v, by)\n" in after
    assert ", by=3)\n" in after
    assert "lambda" not in after
