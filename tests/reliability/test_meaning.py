"""Under real torch: what a safe repair leaves behind gives the same batches, in the same order, of the same types."""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint.engine.fixer import fix_source
from reliability.budget import within
from reliability.programs import random_program, render
from reliability.sweep import EVERY_RULE

pytestmark = [
    pytest.mark.evidence,
    pytest.mark.skipif(sys.platform != "linux", reason="the programs are run in forked processes"),
]

RUNNER = Path(__file__).parent / "run_programs.py"
# What the repaired pitfalls raise, or other words for it behind the repair of another one.
PITFALLS = re.compile(
    r"persistent_workers option needs|prefetch_factor option could|requires timeout == 0"
    r"|multiprocessing_context can only"
    r"|mutually exclusive|takes 0 positional arguments|expected unspecified"
)


def repaired(seeds: range) -> tuple[list[tuple[str, str]], Counter[str]]:
    """The programs that have a safe repair, before and after it, and how often each code was repaired."""
    pairs, codes = [], Counter[str]()
    for seed in seeds:
        text = render(random_program(seed))
        result = fix_source(text.encode(), "/nonexistent/program.py", EVERY_RULE)
        if result.fixed:
            pairs.append((text, result.source.decode()))
            codes.update(result.fixed)
    return pairs, codes


def check(pairs: list[tuple[str, str]]) -> Counter[str]:
    """Run all pairs; how many ran before, and how many do now."""
    done = processes.run([sys.executable, RUNNER], input=json.dumps(pairs), check=True)
    counts: Counter[str] = Counter()
    for (before, after), line in zip(pairs, done.stdout.splitlines(), strict=True):
        (printed, error), (printed_after, error_after) = json.loads(line)
        shown = f"{before}\n--- printed {printed!r} {error!r}\n{after}\n--- printed {printed_after!r} {error_after!r}"
        if error and PITFALLS.search(error):
            counts["raised before"] += 1
            counts["runs now"] += not error_after
        else:
            counts["ran before"] += not error
            assert (printed_after, error_after) == (printed, error), shown
    return counts


def test_a_few_programs() -> None:
    pairs, codes = repaired(range(60))
    counts = check(pairs[:30])
    assert counts["ran before"] >= 3
    assert counts["runs now"] >= 1
    assert len(codes) >= 3


@pytest.mark.long
def test_many_programs() -> None:
    first = int(time.time())
    counts, repairs = Counter[str](), Counter[str]()
    for seed in within("hundreds of programs run under torch", range(first, first + 4_000, 100)):
        pairs, codes = repaired(range(seed, seed + 100))
        repairs += codes
        counts += check(pairs)
    print(first, dict(counts), dict(repairs))
    assert counts["ran before"] > 5
