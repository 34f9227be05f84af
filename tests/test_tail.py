"""The report about functions that decide nothing in real code."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.tail import FALSE, NOTHING, SOMETHING, TRUE, Function, functions, report, watched
from dataloader_lint.rules.registry import found_rules


@pytest.mark.parametrize(
    ("returns", "answers", "way"),
    [
        ("bool", 0, "never called"),
        ("bool", TRUE, "always true"),
        ("bool", FALSE, "never true"),
        ("bool", TRUE | FALSE, "decides"),
        ("bool | None", NOTHING, "always nothing"),
        ("bool | None", NOTHING | FALSE, "never true"),
        ("Values", NOTHING, "always nothing"),
        ("Values", NOTHING | SOMETHING, "decides"),
        ("None", NOTHING, "decides"),
        ("None", 0, "never called"),
    ],
)
def test_ways(returns: str, answers: int, way: str) -> None:
    assert Function("semantics/a.py", "f", 3, returns).way(answers) == way


def test_lines_by_room_and_rule() -> None:
    some = [
        Function("rules/memory/dl104_cache/caches.py", "is_kept", 6, "bool"),
        Function("rules/memory/dl104_cache/caches.py", "caches", 4, "list[Cache]"),
        Function("semantics/dicts/writes.py", "writes", 10, "list[Write]"),
    ]
    answers = Counter(
        {("rules/memory/dl104_cache/caches.py", "is_kept"): FALSE, ("semantics/dicts/writes.py", "writes"): 9}
    )
    lines = "\n".join(report(some, answers, 1)).splitlines()
    assert "| rules | 10 | 4 | 6 | 0 | 0 | 10 | 100% |" in lines
    assert "| all | 20 | 4 | 6 | 0 | 0 | 10 | 50% |" in lines
    assert "| rules/memory/dl104_cache | 10 | 4 | 6 | 0 | 0 | 10 | 100% |" in lines
    assert lines[-1] == "| `rules/memory/dl104_cache/caches.py` | `is_kept` | 6 | never true |"


def test_what_is_watched_are_the_functions_that_are_listed(tmp_path: Path) -> None:
    text = "from torch.utils.data import DataLoader\n\nDataLoader(range(3), persistent_workers=True)\n"
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    seen = {(file, name): answers for file, name, answers in watched(tmp_path)}
    listed = {(each.file, each.name): each for each in functions()}
    module = found_rules()["DL301"].module.removeprefix("dataloader_lint.").replace(".", "/")
    assert listed[f"{module}.py", "check"].way(seen[f"{module}.py", "check"]) == "decides"
    assert listed[f"{module}.py", "raises"].way(seen[f"{module}.py", "raises"]) == "always true"
    assert ("rules/threads/_shared/opencv.py", "_does_work") not in seen
