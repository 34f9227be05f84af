"""What a file costs grows as the file does: four times the sites take about four times as long, not sixteen times."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from dataloader_lint import fixer
from dataloader_lint.linter import examine
from dataloader_lint.rules.registry import INTERNAL_ERROR
from reliability.sweep import EVERY_RULE

HEAD = "import os, torch\nfrom torch.utils.data import DataLoader, Dataset\n"
BARS = (
    "class Bars{}(Dataset):\n    def __init__(self, root):\n        self.paths = sorted(os.listdir(root))\n"
    "    def __getitem__(self, index):\n        return self.paths[index]\n"
)
LOADER = "loader = DataLoader(data, num_workers=4, pin_memory=True)\n"


def times(number: int, line: str) -> str:
    return "".join(line.replace("{}", str(each)) for each in range(number))


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
    "early exits": lambda n: "def f(a, data):\n" + times(n, "    if a == {}:\n        return\n    DataLoader(data)\n"),
    "suppressed": lambda n: times(n, "DataLoader(data, persistent_workers=True)  # noqa: DL301\n"),
}


def seconds(work: Callable[[], object]) -> float:
    """CPU time, which other programs on the machine change little."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def lint(sites: str, number: int) -> None:
    examined = examine(HEAD + SITES[sites](number), "/nonexistent/a.py", EVERY_RULE)
    assert not [one for one in examined.diagnostics if one.code == INTERNAL_ERROR]


@pytest.mark.parametrize("sites", SITES)
def test_linting(sites: str) -> None:
    lint(sites, 3)
    few = min(seconds(lambda: lint(sites, 60)) for _ in range(2))
    assert seconds(lambda: lint(sites, 240)) < 10 * few + 0.1


@pytest.mark.long
@pytest.mark.parametrize("sites", SITES)
def test_linting_thousands(sites: str) -> None:
    few = seconds(lambda: lint(sites, 500))
    many = seconds(lambda: lint(sites, 4_000))
    print(f"{sites}: 500 in {few:.2f} s, 4,000 in {many:.2f} s")
    assert many < 20 * few


def test_repairs() -> None:
    def fix(number: int) -> None:
        result = fixer.fix_source((HEAD + SITES["contradictions"](number)).encode(), "/nonexistent/a.py")
        assert result.fixed == {"DL301": number}

    fix(3)
    few = min(seconds(lambda: fix(60)) for _ in range(2))
    assert seconds(lambda: fix(240)) < 9 * few


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
