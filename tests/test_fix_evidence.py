"""Under real torch with spawned workers: what raised before a fix runs after it, and gives what it gave under fork."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dataloader_lint.fixer import fix_source

pytestmark = pytest.mark.evidence

HEAD = """
import sys
from functools import reduce

import torch
from torch.utils.data import DataLoader

PAD = 10
keep = lambda rows: rows
"""
MAIN = """

if __name__ == "__main__":
    torch.multiprocessing.set_start_method(sys.argv[1])
    width = 5
    for make in MAKERS:
        try:
            print(make.__name__, [batch for batch in make(range(4))])
        except Exception as error:
            print(make.__name__, type(error).__name__)
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


MAKERS = [inline, captures, chosen, by_default, by_name, by_keywords, later, in_a_method]
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


MAKERS = [once, twice, factory, recursive]
"""

PERSISTENT = """
def literal(data):
    return DataLoader(data, num_workers=0, persistent_workers=True)


def by_default(data, workers=0):
    return DataLoader(data, num_workers=workers, persistent_workers=True)


def by_keywords(data):
    keywords = {"persistent_workers": True}
    return DataLoader(data, **keywords)


def stored(data, workers=0):
    keywords = {"num_workers": workers}
    keywords["persistent_workers"] = True
    return DataLoader(data, **keywords)


MAKERS = [literal, by_default, by_keywords, stored]
"""

SEEDS = """
def inline(data):
    return DataLoader(data, num_workers=1, worker_init_fn=lambda worker: torch.manual_seed(worker))


def captures(data, seed=3):
    return DataLoader(data, num_workers=1, worker_init_fn=lambda worker: torch.manual_seed(seed + worker))


MAKERS = [inline, captures]
"""

KEPT = """
class Doubled(torch.utils.data.Dataset):
    def __init__(self, data):
        self.data = data
        self.change = lambda row: row * 2

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.change(self.data[index])


def kept(data):
    return DataLoader(Doubled(data), num_workers=1)


MAKERS = [kept]
"""

PREFETCHING = """
def literal(data):
    return DataLoader(data, num_workers=0, prefetch_factor=2)


def left_out(data):
    return DataLoader(data, prefetch_factor=4)


MAKERS = [literal, left_out]
"""

CONTEXT = """
def literal(data):
    return DataLoader(data, num_workers=0, multiprocessing_context="spawn")


def waits(data):
    return DataLoader(data, timeout=5)


MAKERS = [literal, waits]
"""

SAMPLING = """
def batches(data):
    sampler = torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(data), 2, False)
    return DataLoader(data, batch_size=2, batch_sampler=sampler)


def no_batches(data):
    return DataLoader(data, batch_size=None, drop_last=True)


MAKERS = [batches, no_batches]
"""

CASES = {
    "DL201": LAMBDAS,
    "DL202": LOCAL,
    "DL203": SEEDS,
    "DL204": KEPT,
    "DL301": PERSISTENT,
    "DL302": PREFETCHING,
    "DL303": CONTEXT,
    "DL304": SAMPLING,
}
# What raises wherever workers come from; the rest only where they are spawned.
ARGUMENTS = ("DL301", "DL302", "DL303", "DL304")

UNGUARDED = """
import sys

import torch
from torch.utils.data import DataLoader

torch.multiprocessing.set_start_method(sys.argv[1], force=True)
loader = DataLoader(range(4), batch_size=2, num_workers=1)
total = 0
for batch in loader:
    total += int(batch.sum())
print("total", total)
"""


def run(path: Path, method: str) -> dict[str, str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(path), method]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if line[0].isalpha())


@pytest.mark.parametrize("code", CASES)
def test_what_raised_runs(code: str, tmp_path: Path) -> None:
    source = (HEAD + CASES[code] + MAIN).encode()
    before, after = tmp_path / "before.py", tmp_path / "after.py"
    before.write_bytes(source)
    result = fix_source(source, str(after), unsafe=True)
    assert code in result.fixed
    assert [one for one in result.remaining if one.code == code] == []
    after.write_bytes(result.source)

    broken = run(before, "spawn")
    mended = run(after, "spawn")
    assert mended.keys() == broken.keys()
    assert not any(text.endswith("Error") for text in mended.values())
    if code in ARGUMENTS:
        assert set(broken.values()) <= {"ValueError", "AssertionError"}
        return
    assert set(broken.values()) <= {"PicklingError", "AttributeError"}
    assert run(before, "fork") == mended == run(after, "fork")


def test_an_unguarded_script_runs_under_its_guard(tmp_path: Path) -> None:
    before, after = tmp_path / "before.py", tmp_path / "after.py"
    before.write_text(UNGUARDED, encoding="utf-8")
    result = fix_source(UNGUARDED.encode(), str(after))
    assert result.fixed == {"DL206": 1}
    after.write_bytes(result.source)

    command = [sys.executable, str(before), "spawn"]
    broken = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert broken.returncode != 0
    assert "before the current process has finished its bootstrapping phase" in " ".join(broken.stderr.split())
    assert run(after, "spawn") == run(after, "fork") == run(before, "fork") == {"total": "6"}
