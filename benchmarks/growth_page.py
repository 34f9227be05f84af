"""The parts of docs/performance.md about work that grows, and about what each rule adds to a run."""

from __future__ import annotations

from typing import Any

from benchmarks.costs import spread
from benchmarks.goals import CURVES, NOISE, exponent_of, memory_of
from benchmarks.rule_cost import rows as rows_of_rules
from benchmarks.tables import number, table

Figures = dict[str, Any]


def curves(figures: Figures) -> str:
    """How the cost grows with the work."""
    rows = []
    for part, title in CURVES.items():
        if part not in figures:
            continue
        found = figures[part]
        what = f"{title} ({found['package']})" if "package" in found else title
        costs = {size: spread(found["costs"][size]["cpu"]).middle for size in found["lines"]}
        cells = ", ".join(
            f"{int(size):,}: {number(seconds)} s" + (" (given up)" if found["given_up"][size] else "")
            for size, seconds in costs.items()
        )
        memory = memory_of(found)
        fitted = exponent_of(found)
        rows.append([what, cells, "" if fitted is None else f"{fitted:.2f}", number(memory)])
    return (
        "CPU time by size, and the exponent b of the time = a * lines^b that fits best, once the time of a file with "
        "nothing but imports is taken off (1: twice the work takes twice the time). Sizes that cost less than "
        f"{NOISE:g} s beyond that are not fitted. A site is a Dataset with a list of paths, its loader and a training "
        "loop.\n\n" + table(["", "CPU time", "exponent", "memory, MiB"], rows)
    )


def rules(found: Figures) -> str:
    """What each rule adds to a run."""
    listed = rows_of_rules(found)
    shown = [row for row in listed if max(row.calls, row.seconds, row.added or 0) >= 0.1]
    rows = [
        [
            f"{row.code} {row.name}",
            number(row.calls),
            number(row.seconds),
            "" if row.added is None else number(row.added),
        ]
        for row in shown
    ]
    return (
        f"One process on {', '.join(found['packages'])}: {found['calls']:,} calls of functions with all rules. *Own* "
        "is what happens while a rule checks, in percent of a run of the default rules; answers that later rules ask "
        "for, too, count for the first one. *Added* is what a run takes more than one without the rule, or, for a rule "
        "that is off by default, with it; only the rules with a figure there were measured so. Counts of calls do not "
        f"depend on what else the machine does. The other {len(listed) - len(shown)} rules have less than 0.1 %.\n\n"
        + table(["", "own, % of calls", "own, % of CPU", "added, % of calls"], rows)
    )
