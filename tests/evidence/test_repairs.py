"""Every shape in which our repairs rewrite functions and arguments runs, and gives what it gave under fork before."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.settings import Settings
from evidence.harness import lay_out, run

HEAD = """
from functools import reduce

import probe
import torch
from torch.utils.data import DataLoader

PAD = 10
keep = lambda rows: rows
"""
MAIN = """

if __name__ == "__main__":
    import operator
    import sys

    width = 5
    for name in MAKERS.split():  # by a name in a library call: the linter would see that errors are expected
        try:
            make = operator.attrgetter(name)(sys.modules[__name__])
            probe.say(**{name: repr(list(make(range(4))))})
        except Exception as error:
            probe.say(**{name: type(error).__name__})
"""

LAMBDAS = """
def inline(data):
    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=lambda rows: torch.tensor(rows).sum())


def captures(data, scale=3):
    offset = scale + 1
    return DataLoader(
        data, batch_size=2, num_workers=1, collate_fn=lambda rows, k=2, p=PAD: [offset * row + k + p for row in rows]
    )


def chosen(data, plain=False):
    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=list if plain else lambda rows: rows[0])


def by_default(data, collate_fn=lambda rows: rows[-1]):
    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=collate_fn)


def by_name(data):
    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=keep)


def by_keywords(data):
    keywords = {"num_workers": 1}
    keywords["collate_fn"] = lambda rows: {
        "sum": sum(rows),
        "all": [row for row in rows],
    }
    return DataLoader(data, batch_size=2, **keywords)


def later(data):
    loader = DataLoader(data, batch_size=2, num_workers=1)
    loader.collate_fn = lambda *rows, **more: (rows, more)
    return loader


class Task:
    def loader(self, data):
        def inner(depth):
            return DataLoader(data, batch_size=2, num_workers=1, collate_fn=lambda rows: reduce(max, rows, depth))

        return inner(2)


def in_a_method(data):
    return Task().loader(data)


class Padding:
    def __init__(self, value):
        self.value = value

    def pad(self, rows, times=1):
        return rows + [self.value] * times


@torch.no_grad()
def total(rows, start=0):
    return sum(rows) + start


def forwards_to_a_method(data, value=8):
    padding = Padding(value)
    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=lambda rows: padding.pad(rows))


def forwards_more_to_a_method(data, value=8):
    padding = Padding(value)
    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=lambda rows: padding.pad(rows, times=2))


def forwards_by_keyword(data):
    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=lambda batch: total(rows=batch, start=2))


def forwards_to_torch(data):
    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=lambda rows: torch.as_tensor(rows))


MAKERS = (
    "inline captures chosen by_default by_name by_keywords later in_a_method "
    "forwards_to_a_method forwards_more_to_a_method forwards_by_keyword forwards_to_torch"
)
"""

LOCAL = """
def once(data, scale=3):
    @torch.no_grad()
    def collate(rows, size=1, **more):
        \"\"\"Scales.\"\"\"
        return [row * scale + size for row in rows]

    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=collate)


def twice(data, pad=7):
    def collate(rows):
        return rows + [pad]

    print(collate([]))
    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=collate)


def make_collate(pad):
    def collate(rows):
        return rows, pad

    return collate


def factory(data):
    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=make_collate(0))


def recursive(data):
    def flatten(rows):
        return [rows] if isinstance(rows, int) else [each for row in rows for each in flatten(row)]

    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=flatten)


def total(rows, start=0):
    return sum(rows) + start


def forwards(data):
    def collate(batch):
        return total(batch)

    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=collate)


def forwards_more(data, start=3):
    def collate(batch):
        return total(batch, start)

    return DataLoader(data, batch_size=2, num_workers=1, collate_fn=collate)


MAKERS = "once twice factory recursive forwards forwards_more"
"""

ARGUMENTS = """
def persistent(data):
    return DataLoader(data, num_workers=0, persistent_workers=True)


def persistent_by_default(data, workers=0):
    return DataLoader(data, num_workers=workers, persistent_workers=True)


def persistent_by_keywords(data):
    keywords = {"persistent_workers": True}
    return DataLoader(data, **keywords)


def persistent_stored(data, workers=0):
    keywords = {"num_workers": workers}
    keywords["persistent_workers"] = True
    return DataLoader(data, **keywords)


def prefetching(data):
    return DataLoader(data, num_workers=0, prefetch_factor=2)


def prefetching_workers_left_out(data):
    return DataLoader(data, prefetch_factor=4)


def spawning(data):
    return DataLoader(data, num_workers=0, multiprocessing_context="spawn")


def waiting(data):
    return DataLoader(data, timeout=5)


def batches(data):
    sampler = torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(data), 2, False)
    return DataLoader(data, batch_size=2, batch_sampler=sampler)


def no_batches(data):
    return DataLoader(data, batch_size=None, drop_last=True)


MAKERS = (
    "persistent persistent_by_default persistent_by_keywords persistent_stored prefetching "
    "prefetching_workers_left_out spawning waiting batches no_batches"
)
"""

FUNCTIONS = {"DL201": LAMBDAS, "DL202": LOCAL}


def repaired(source: str, codes: set[str], folder: Path) -> str:
    """The program as our own fixer leaves it, with nothing left of what these rules report."""
    result = fix_source(source.encode(), str(lay_out(source, folder / "repair")), unsafe=True)
    assert codes <= result.fixed.keys()
    assert [one for one in result.remaining if one.code in codes] == []
    return result.source.decode()


@pytest.mark.parametrize("code", FUNCTIONS)
def test_functions_that_could_not_be_sent_do_the_same_elsewhere(code: str, tmp_path: Path) -> None:
    before = HEAD + FUNCTIONS[code] + MAIN
    broken = run(before, tmp_path, start_method="forkserver").values
    assert set(broken.values()) <= {"PicklingError", "AttributeError"}
    expected = run(before, tmp_path, start_method="fork").values
    assert expected.keys() == broken.keys()
    assert run(repaired(before, {code}, tmp_path), tmp_path, start_method="forkserver").values == expected


def test_arguments_that_raised_raise_no_more(tmp_path: Path) -> None:
    before = HEAD + ARGUMENTS + MAIN
    broken = run(before, tmp_path).values
    assert set(broken.values()) <= {"ValueError", "AssertionError"}
    mended = run(repaired(before, {"DL301", "DL302", "DL303", "DL304"}, tmp_path), tmp_path).values
    assert mended.keys() == broken.keys()
    assert all(batches.startswith("[") for batches in mended.values())


NUMBERS = """
import probe
import torch
from torch.utils.data import DataLoader, Dataset

"""
ROWS = """
class Rows{number}(Dataset):
    def __init__(self, table):
        self.values_{number} = [{kind}(row) for row in table]

    def __len__(self):
        return len(self.values_{number})

    def __getitem__(self, index):
        value = self.values_{number}[index]
        return {sample}

"""
COLLATE = """
def {name}(rows):
    return torch.tensor(rows) if isinstance(rows[0], (float, int)) else rows


if __name__ == "__main__":
    options = dict(batch_size=2, num_workers=1{option})
    for loader in [{loaders}]:
        probe.say(**{{type(loader.dataset).__name__: repr(list(loader))}})
"""
SAMPLES = (
    "value",
    "torch.tensor(value)",
    "torch.tensor([value])",
    "torch.tensor([value], dtype=torch.float32)",
    "float(value)",
    "torch.as_tensor(value * 2)",
    "value / 4",
    "{'value': value, 'first': value > 1}",
    "torch.ones(2, dtype=torch.float32).numpy() * value",
    "torch.FloatTensor([value])",
    "f'{value:.1f}'",
    "max(value, 2)",
    "str(2 ** (value * 40))",
)


@pytest.mark.parametrize(
    ("kind", "collates", "fixed"), [("float", False, 7), ("float", True, 0), ("int", False, 9), ("int", True, 0)]
)
def test_samples_keep_their_dtype_where_numbers_become_an_array(
    kind: str, collates: bool, fixed: int, tmp_path: Path
) -> None:
    rows = "".join(ROWS.format(number=number, kind=kind, sample=sample) for number, sample in enumerate(SAMPLES))
    loaders = ", ".join(f"DataLoader(Rows{number}(range(1, 5)), **options)" for number in range(len(SAMPLES)))
    name, option = ("collate", ", collate_fn=collate") if collates else ("unused", "")
    source = NUMBERS + rows + COLLATE.format(name=name, option=option, loaders=loaders)
    settings = Settings(select=("DL101",), samples=(("*", 10_000_000),))
    result = fix_source(source.encode(), str(lay_out(source, tmp_path / "repair")), settings, unsafe=True)
    assert result.fixed.get("DL101", 0) == fixed
    before, after = (run(text, tmp_path).values for text in (source, result.source.decode()))
    assert len(before) == len(SAMPLES)
    assert after == before
