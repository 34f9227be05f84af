"""What moves to module level finds the names that it found before: programs run before and after the fix."""

from __future__ import annotations

import contextlib
import io
import random
import sys
import time
import types
from collections import Counter

import pytest

from dataloader_lint.engine.fixer import fix_source
from reliability.budget import within
from reliability.captures import programs
from reliability.sweep import EVERY_RULE


class DataLoader:
    """As much of torch's as the programs ask for."""

    def __init__(self, dataset: object, **options: object) -> None:
        self.__dict__.update(options, dataset=dataset)


@pytest.fixture(autouse=True)
def stub_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "torch.utils", "torch.utils.data"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules["torch.utils.data"].DataLoader = DataLoader  # type: ignore[attr-defined]


def outcome(text: str) -> tuple[str, str]:
    """What a program prints, and the exception that ends it."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(text, "program.py", "exec", dont_inherit=True), {"__name__": "__main__"})
        except Exception as error:
            return printed.getvalue(), type(error).__name__
    return printed.getvalue(), ""


def check(what: str, text: str) -> Counter[str]:
    result = fix_source(text.encode(), "/nonexistent/program.py", EVERY_RULE, unsafe=True)
    before = outcome(text)
    counts = Counter({"programs": 1, "ran": not before[1], "fixed": bool(result.fixed)})
    counts.update(result.fixed)
    if result.fixed:
        after = result.source.decode()
        assert outcome(after) == before, f"{what}\n{after}"
    return counts


def test_some_programs() -> None:
    counts: Counter[str] = Counter()
    for number, (what, text) in enumerate(programs(random.Random(1))):
        if number == 150:
            break
        counts += check(what, text)
    assert counts["ran"] > 110
    assert counts["DL201"] > 15
    assert counts["DL202"] > 15


@pytest.mark.parametrize(
    ("program", "fixed"),
    [
        ("def make[T](d, k: T):\n    return DataLoader(d, num_workers=2, collate_fn=lambda b: (b, k, T))\n", None),
        (
            "class A[T]:\n    def f(self, d):\n        return DataLoader(d, num_workers=2, collate_fn=lambda b: T)\n",
            None,
        ),
        ("def make(d):\n    type T = int\n    return DataLoader(d, num_workers=2, collate_fn=lambda b: T)\n", None),
        (
            "def make(d):\n    def f[T: (int, str)](): pass\n    return DataLoader(d, num_workers=2, collate_fn=f)\n",
            None,
        ),
        (
            "def make[T](d, k: T) -> T:\n    return DataLoader(d, num_workers=2, collate_fn=lambda b: (b, k))\n",
            "def _collate_for_make(b: Any, k: Any) -> Any:\n",
        ),
        (
            "def make[T](d: T, k: int) -> T:\n    return DataLoader(d, num_workers=2, collate_fn=lambda b: (b, k))\n",
            "def _collate_for_make(b: Any, k: int) -> Any:\n",
        ),
        ("def make[T](d):\n    return DataLoader(d, num_workers=2, collate_fn=lambda b: [T for T in [T]])\n", None),
        ("def make[T](d):\n    return DataLoader(d, num_workers=2, collate_fn=lambda b: [T for T in b])\n", "(b):\n"),
    ],
)
def test_type_parameters(program: str, fixed: str | None) -> None:
    """Not run, as older Pythons cannot."""
    text = f"from torch.utils.data import DataLoader\n\n\n{program}"
    result = fix_source(text.encode(), "/nonexistent/program.py", EVERY_RULE, unsafe=True)
    assert {one.code for one in result.remaining} <= {"DL201", "DL202"}
    assert result.source.decode() == text if fixed is None else fixed in result.source.decode()


@pytest.mark.long
def test_all_programs() -> None:
    first = int(time.time())
    counts: Counter[str] = Counter()
    for what, text in within("programs that move a callable", programs(random.Random(first))):
        counts += check(what, text)
    print(first, dict(counts))
