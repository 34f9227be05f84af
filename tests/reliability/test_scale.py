"""What a file costs grows as the file does: four times the sites take about four times as long, not sixteen times."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable

import pytest

from dataloader_lint.engine import fixer
from dataloader_lint.engine.linter import examine
from dataloader_lint.rules.registry import INTERNAL_ERROR
from reliability.shapes import SHAPES
from reliability.sweep import EVERY_RULE

HEAD = "import os\nimport torch\nfrom torch.utils.data import DataLoader, Dataset\n"
BARS = (
    "class Bars{}(Dataset):\n    def __init__(self, root):\n        self.paths = sorted(os.listdir(root))\n"
    "    def __getitem__(self, index):\n        return self.paths[index]\n"
)
LOADER = "loader = DataLoader(data, num_workers=4, pin_memory=True)\n"

READING = (
    "class D(Dataset):\n    def __init__(self, a, r):\n        self.p = sorted(os.listdir(r))\n        self.a = a\n"
    "    def __getitem__(self, i):\n        if self.a:\n            return self.p[0]\n"
)
MADE = "DataLoader(D(1, 'x'), num_workers=2)\n"


def times(number: int, line: str) -> str:
    return "".join(line.replace("{}", str(each)) for each in range(number))


def keeping(number: int, lines: str) -> str:
    """A Dataset with so many attributes, each bound by these lines and read for every sample."""
    reads = times(number, "self.p{}[i], ")
    head = "class D(Dataset):\n    def __init__(self, r):\n"
    read = f"    def __getitem__(self, i):\n        return ({reads})\n"
    return f"{head}{times(number, lines)}{read}DataLoader(D('x'), num_workers=2)\n"


def caching(number: int, store: str, methods: str = "") -> str:
    """A Dataset that fills so many caches, in `__getitem__` or in methods of their own."""
    bound = times(number, "        self.c{} = dict()\n")
    head = f"class D(Dataset):\n    def __init__(self, r):\n        self.r = r\n{bound}"
    filled = times(number, store)
    read = f"    def __getitem__(self, i):\n{filled}        return i\n    def __len__(self):\n        return 9\n"
    return f"{head}{read}{times(number, methods)}DataLoader(D('x'), num_workers=2)\n"


SITES: dict[str, Callable[[int], str]] = {
    "loaders": lambda n: times(n, "loader{} = DataLoader(data, num_workers=4, collate_fn=lambda rows: rows)\n"),
    "contradictions": lambda n: times(n, "loader{} = DataLoader(data, persistent_workers=True)\n"),
    "one name": lambda n: times(n, LOADER),
    "loops": lambda n: LOADER + times(n, "for x in loader:\n    x = x.to('cuda')\n"),
    "moves in a loop": lambda n: f"{LOADER}for x in loader:\n" + times(n, "    x{} = x.to('cuda')\n"),
    "moves of one name": lambda n: f"{LOADER}for x in loader:\n" + times(n, "    x = x.to('cuda')\n"),
    "functions": lambda n: times(
        n, "def f{}(data):\n    for x in DataLoader(data, num_workers=1):\n        x.cuda()\n"
    ),
    "local collate functions": lambda n: (
        "def make(data):\n"
        + times(
            n, "    def c{}(rows):\n        return rows\n    l{} = DataLoader(data, num_workers=2, collate_fn=c{})\n"
        )
    ),
    "datasets": lambda n: times(n, BARS) + "DataLoader(Bars0('x'), num_workers=2)\n",
    "epochs": lambda n: f"{LOADER}for epoch in range(3):\n" + times(n, "    for x in loader: pass\n"),
    "branches": lambda n: (
        "if a:\n    n = 0\n" + times(n, "elif a == {}:\n    n = {}\n") + "DataLoader(d, num_workers=n)\n"
    ),
    "assignments": lambda n: times(n, "n = {}\n") + "DataLoader(data, num_workers=n)\n",
    "branches with loaders": lambda n: (
        "def f(a, data):\n    if a:\n        n = 0\n"
        + times(n, "    elif a == {}:\n        return DataLoader(data, num_workers={})\n")
    ),
    "branches with lists": lambda n: (
        "class D(Dataset):\n    def __init__(self, a, r):\n        if a:\n            self.p = []\n"
        + times(n, "        elif a == {}:\n            self.p = sorted(os.listdir(r))\n")
        + "    def __getitem__(self, i):\n        return self.p[i]\nDataLoader(D(1, 'x'), num_workers=2)\n"
    ),
    "branches in worker code": lambda n: (
        READING + times(n, "        elif self.a == {}:\n            return self.p[i]\n") + MADE
    ),
    "early exits in worker code": lambda n: (
        READING + times(n, "        if self.a == {}:\n            return self.p[i]\n") + MADE
    ),
    "early exits in a row": lambda n: (
        "def f(a, data):\n" + times(n, "    if a == {}:\n        return\n") + "    DataLoader(data)\n"
    ),
    "early exits": lambda n: "def f(a, data):\n" + times(n, "    if a == {}:\n        return\n    DataLoader(data)\n"),
    "lists of a class": lambda n: keeping(n, "        self.p{} = sorted(os.listdir(r))\n"),
    "lists of a class under names": lambda n: keeping(
        n, "        p{} = sorted(os.listdir(r))\n        self.p{} = p{}\n"
    ),
    "lists that grow in one loop": lambda n: keeping(
        n, "        self.p{} = []\n        for x in r:\n            self.p{}.append(x)\n"
    ),
    "one attribute": lambda n: keeping(1, times(n, "        self.p0 = sorted(os.listdir(r))\n")),
    "lists filled in one loop": lambda n: (
        "class D(Dataset):\n    def __init__(self, r):\n        self.p = []\n        for x in r:\n"
        + times(n, "            self.p.append(x + {})\n")
        + "    def __getitem__(self, i):\n        return self.p[i]\nDataLoader(D('x'), num_workers=2)\n"
    ),
    "caches": lambda n: caching(n, "        if i not in self.c{}:\n            self.c{}[i] = open(self.r[i]).read()\n"),
    "caches with a limit": lambda n: caching(
        n,
        "        key = self.r[i]\n        if len(self.c{}) < self.n:\n            self.c{}[key] = open(key).read()\n",
    ),
    "caches in methods": lambda n: caching(
        n, "        self.m{}(i)\n", "    def m{}(self, i):\n        self.c{}[i] = open(self.r[i]).read()\n"
    ),
    "loaders of one dict": lambda n: (
        "def f(d, k):\n    kw = dict(num_workers=k, persistent_workers=True)\n" + times(n, "    DataLoader(d, **kw)\n")
    ),
    "options": lambda n: (
        "import argparse\np = argparse.ArgumentParser()\n"
        + times(n, "p.add_argument('--a{}', type=int, default={})\n")
        + "a = p.parse_args()\n"
        + times(n, "DataLoader(data, num_workers=a.a{}, persistent_workers=True)\n")
    ),
    "suppressed": lambda n: times(n, "DataLoader(data, persistent_workers=True)  # noqa: DL301\n"),
}


def seconds(work: Callable[[], object]) -> float:
    """CPU time, which other programs on the machine change little, without that for what earlier tests left behind."""
    gc.collect()
    gc.disable()
    try:
        start = time.thread_time()
        work()
        return time.thread_time() - start
    finally:
        gc.enable()


def lint(sites: str, number: int) -> None:
    examined = examine(HEAD + SITES[sites](number), "/nonexistent/a.py", EVERY_RULE)
    assert not [one for one in examined.diagnostics if one.code == INTERNAL_ERROR]


def grows_in_line(work: Callable[[int], None], few: int, factor: float) -> bool:
    """True if four times as much takes at most `factor` times as long; tried a few times, as machines are busy."""
    for _ in range(4):
        short = min(seconds(lambda: work(few)) for _ in range(2))
        if min(seconds(lambda: work(4 * few)) for _ in range(2)) < factor * short + 0.1:
            return True
    return False


@pytest.mark.parametrize("sites", SITES)
def test_linting(sites: str) -> None:
    lint(sites, 3)
    assert grows_in_line(lambda number: lint(sites, number), 60, 10)


# With how many of them the calls are counted first: enough that what grows with the square would show.
IN_LINE = {
    "branches": 100,
    "branches in worker code": 100,
    "branches with loaders": 100,
    "caches": 100,
    "caches in methods": 40,
    "caches with a limit": 100,
    "early exits": 100,
    "early exits in a row": 100,
    "early exits in worker code": 100,
    "lists of a class": 40,
    "lists of a class under names": 40,
    "lists filled in one loop": 40,
    "one attribute": 40,
    "loaders of one dict": 40,
    "options": 40,
}


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, which is the same on every machine."""
    number = 0

    def count(*_: object) -> None:
        nonlocal number
        number += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return number


@pytest.mark.parametrize("sites", IN_LINE)
def test_calls_grow_in_line(sites: str) -> None:
    """Four times the sites, at most 4 ** 1.15 times the calls."""
    few = IN_LINE[sites]
    lint(sites, 3)
    assert calls(lambda: lint(sites, 4 * few)) < 4.93 * calls(lambda: lint(sites, few))


@pytest.mark.parametrize("shape", SHAPES)
def test_calls_for_shapes_grow_in_line(shape: str) -> None:
    """Four times the parts, at most 4 ** 1.16 times the calls."""

    def work(number: int) -> None:
        examined = examine(HEAD + SHAPES[shape](number), "/nonexistent/a.py", EVERY_RULE)
        assert not [one for one in examined.diagnostics if one.code == INTERNAL_ERROR]

    work(3)
    assert calls(lambda: work(100)) < 5 * calls(lambda: work(25))


@pytest.mark.long
@pytest.mark.parametrize("sites", SITES)
def test_linting_thousands(sites: str) -> None:
    few = seconds(lambda: lint(sites, 500))
    many = seconds(lambda: lint(sites, 4_000))
    print(f"{sites}: 500 in {few:.2f} s, 4,000 in {many:.2f} s")
    assert many < 20 * few


IMAGES = f"{BARS}    def __len__(self):\n        return len(self.paths)\n"
OWN_IMAGES = IMAGES.replace("paths", "paths{}")
SIZES = IMAGES.replace("sorted(os.listdir(root))", "np.array([len(each) for each in root], dtype=object)")
SCRIPT = f"{BARS.replace('{}', '')}loader = DataLoader(Bars('x'), num_workers=2)\n"


def in_function(line: str) -> str:
    return "def f{}(data, n, model):\n    " + line.replace("\n", "\n    ") + "\n"


TENSORS = "TENSORS = TensorDataset(torch.ones(9))\n"
# By code, and a word where there are several: a file with so many repairs of that rule, or one that moves so much.
REPAIRS: dict[str, Callable[[int], str]] = {
    "DL101": lambda n: times(n, IMAGES),
    "DL101 own names": lambda n: times(n, OWN_IMAGES),
    "DL103": lambda n: times(n, SIZES),
    "DL201": lambda n: times(n, in_function("DataLoader(data, num_workers=4, collate_fn=lambda rows: rows[{}])")),
    "DL201 same": lambda n: times(n, in_function("DataLoader(data, num_workers=4, collate_fn=lambda rows: rows)")),
    "DL201 captured": lambda n: times(n, in_function("DataLoader(data, num_workers=4, collate_fn=lambda x: x[n])")),
    "DL201 named": lambda n: times(
        n, "c{} = lambda rows: rows[{}]\nl{} = DataLoader(data, num_workers=4, collate_fn=c{})\n"
    ),
    "DL202": lambda n: times(
        n, in_function("def c(rows):\n    return rows[n]\nDataLoader(data, num_workers=4, collate_fn=c)")
    ),
    "DL202 one function": lambda n: (
        "def f(data, size):\n"
        + times(
            n, "    def c{}(rows):\n        return rows[size]\n    DataLoader(data, num_workers=4, collate_fn=c{})\n"
        )
    ),
    "DL203": lambda n: times(
        n, in_function("DataLoader(data, num_workers=4, worker_init_fn=lambda each: os.nice({}))")
    ),
    "DL206": lambda n: SCRIPT + times(n, "for x in loader:\n    print(x, {})\n"),
    "DL206 strings": lambda n: SCRIPT + "for x in loader:\n    print(x)\n" + times(n, "a{} = '''\n  one\n'''\n"),
    "DL212": lambda n: times(
        n, "def seed{}():\n    print(0)\nDataLoader(data, num_workers=2, worker_init_fn=seed{})\n"
    ),
    "DL301": lambda n: times(n, "loader{} = DataLoader(data, persistent_workers=True)\n"),
    "DL302": lambda n: times(n, "DataLoader(data, prefetch_factor=2)\n"),
    "DL303": lambda n: times(n, in_function("DataLoader(data, num_workers=0, timeout=30)")),
    "DL304": lambda n: times(n, in_function("DataLoader(data, batch_size=None, drop_last=True)")),
    "DL309": lambda n: times(
        n, in_function("l = DataLoader(data, num_workers=4)\nfor e in range(10):\n    for x in l:\n        model(x)")
    ),
    "DL310": lambda n: times(n, in_function("DataLoader(data, num_workers=n, persistent_workers=True)")),
    "DL310 dicts": lambda n: times(
        n, in_function("kw = dict(num_workers=n, persistent_workers=True)\nkw['timeout'] = 5\nDataLoader(data, **kw)")
    ),
    "DL311": lambda n: times(n, in_function("DataLoader(data, pin_memory=True, pin_memory_device='cuda')")),
    "DL401": lambda n: (
        TENSORS + times(n, in_function("for x, in DataLoader(TENSORS, pin_memory=True):\n    x = x.cuda()"))
    ),
    "DL402": lambda n: times(n, in_function("for x in DataLoader(data):\n    model(x.to('cuda', non_blocking=True))")),
    "DL403": lambda n: times(n, in_function("for x in DataLoader(data, pin_memory=True):\n    model(x.to('cpu'))")),
    "DL502": lambda n: times(n, "os.environ['OMP_NUM_THREADS'] = '{}'\n"),
    "DL603": lambda n: times(
        n,
        in_function(
            "s = DistributedSampler(data)\nl = DataLoader(data, sampler=s)\nfor e in range(n):\n"
            "    for x in l:\n        model(x).backward()"
        ),
    ),
}
ONE_FOR_ALL = ("DL202 one function", "DL206", "DL206 strings")
MORE = "import numpy as np\nfrom torch.utils.data import DistributedSampler, TensorDataset\n"


def fix(sites: str, number: int) -> None:
    source = (HEAD + MORE + REPAIRS[sites](number)).encode()
    result = fixer.fix_source(source, "/nonexistent/a.py", EVERY_RULE, unsafe=True)
    assert result.fixed.get(sites.partition(" ")[0]) == (1 if sites in ONE_FOR_ALL else number)
    assert not [one for one in result.remaining if one.code == INTERNAL_ERROR]


@pytest.mark.parametrize("sites", ["DL101", "DL201 same", "DL202 one function", "DL206", "DL301", "DL310 dicts"])
def test_repairs(sites: str) -> None:
    fix(sites, 3)
    assert grows_in_line(lambda number: fix(sites, number), 40, 9)


@pytest.mark.long
@pytest.mark.parametrize("sites", REPAIRS)
def test_a_thousand_repairs(sites: str) -> None:
    few = seconds(lambda: fix(sites, 125))
    many = seconds(lambda: fix(sites, 1_000))
    print(f"{sites}: 125 in {few:.2f} s, 1,000 in {many:.2f} s")
    assert many < 20 * few + 0.5


def test_a_repair_that_does_not_hold_costs_few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a round for each finding, 200 of them would take two hundred times as long as one."""
    source = HEAD + times(200, "a{} = DataLoader(data, persistent_workers=True)\n")
    rounds = []

    def counted(text: str, *arguments: object) -> object:
        rounds.append(1)
        if "a77 = DataLoader(data)" in text:
            text += "(\n"  # as if this one repair had broken the file
        return examine(text, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(fixer, "examine", counted)
    result = fixer.fix_source(source.encode(), "/nonexistent/a.py")
    assert result.fixed == {"DL301": 199}
    assert [one.code for one in result.dropped] == ["DL301"]
    assert len(rounds) < 60
