"""Writes docs/performance.md from the figures of `benchmarks.compare`; knows no figure of its own but the targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.costs import Spread, ratios, spread
from benchmarks.editor import CPU, KEY, MOVE, QUICK_FIX, late
from benchmarks.goals import CURVES, Goal, added, goals, packages_of
from benchmarks.growth_page import curves, rules
from benchmarks.tables import number, table, times
from benchmarks.where import PARSE

Figures = dict[str, Any]

HEAD = """\
<!-- Made by `python -m benchmarks.compare`: measure again instead of editing. -->

# Performance

What linting costs, compared with other tools on the same code."""

TRIED = """\
## Tried, and left out

Measured on 2026-11-24 on a busy machine, in CPU time: three rounds for compiled modules, one for each way to share out.

**Compiled modules.** The ten modules with the most time (`semantics/syntax/tree.py`, `names.py`, `flow.py`,
`expressions.py`, `semantics/values/values.py`, `fixpoint.py`, `evaluate.py` and `source/fast_tree/`) have a third of a
run. Compiled with mypyc 2.4.1, a run on torch-geometric, ultralytics and monai takes 0.88 (0.85 to 0.91) of its time:
nodes are LibCST's, so their fields are read as slowly as before. Other facts have another fifth of a run; if they
gained as much, a run would be 1.2 to 1.25 times as fast. Wheels for each platform would have to give 1.5.

**Other shares for two processes.** The modules of a project lead to each other, so each process opens nearly all that
one alone does: 307 of 330 files each in torch-geometric, 118 and 107 of 124 in ultralytics. They evaluate 1.5 and 1.7
times as many expressions together. The process that ends last takes this much of the time of a single one:

| | torch-geometric | ultralytics |
| --- | --: | --: |
| neighboring files in parts, as each is free (today) | 0.75 | 0.90 |
| the first half of the files by path, and the second | 0.86 | 0.93 |
| every second file | 0.74 | 0.93 |
| DL1 and DL2, and all other rules | 0.83 | 0.87 |
| DL1, DL2 and DL6, and all other rules | 0.88 | 0.94 |

A fork once shared modules are open would save CPU time, but no wall time: one process does what all need while others
wait. For 1.6 times the speed, at most a quarter of a run could be needed by both; it is half to three quarters."""

HOW = """\
## How it is measured

One command makes this page and [all figures](performance.json):

```sh
pip install '.[dev]' && python -m benchmarks.compare
```

Every command is a process of its own, so start-up is part of every figure. Its time is CPU time, user and system, of
the process and of its children: other work on the machine disturbs it less than wall time. The commands run in turn,
round by round, and ratios are taken within a round. A cell shows the median and, if there are several values, the
smallest and the largest. TorchFix, which takes long, runs once. Memory is that of the
largest process. The parts of this page, and packages of the table, may come from several runs of the command
(`--only`, `--packages`), some of them at the same time.

The code is that of releases on PyPI, which `benchmarks/real_code.py` pins, unpacked and not installed.

- **dataloader-lint, 1 process**: `dataloader-lint --isolated --no-cache -j 1`, the default rules
- **dataloader-lint, all cores**: the same with `-j 0`
- **dataloader-lint, warm cache**: `--cache-dir`, filled by a run before
- **parse only**, a lower bound: read every file, ask the gate, and `libcst.parse_module` those whose text has a class
  with a base named `...Dataset` or `...DataModule`, or a call of a name that ends in `Loader`; the garbage collector is
  off
- **parse every candidate**: the same for all files that pass the gate
- **flake8 alone**: `flake8 --isolated --jobs=1 --select=E9` in an environment without the plugin
- **flake8 with dataloader-lint**: `flake8 --isolated --jobs=1 --select=DL`
- **TorchFix**: `torchfix --select ALL --jobs 1`, in an environment of its own
- **ruff**: `ruff check --isolated --no-cache`, its default rules, all cores"""

TOOLS = {
    "one": "dataloader-lint, 1 process",
    "cores": "dataloader-lint, all cores",
    "warm": "dataloader-lint, warm cache",
    "floor": "parse only",
    "gated": "parse every candidate",
    "ruff": "ruff",
    "flake8": "flake8 alone",
    "plugin": "flake8 with dataloader-lint",
    "torchfix": "TorchFix",
}


def render_page(figures: Figures) -> str:
    """Render docs/performance.md; what was not measured is left out."""
    parts = [HEAD]
    if "waits" in figures:
        parts += ["## Where people wait", _waits(figures["waits"])]
    if packages := packages_of(figures):
        parts += ["## Side by side", _tools(packages), _packages(packages)]
    if any(name in figures for name in CURVES):
        parts += ["## As the work grows", curves(figures)]
    if "startup" in figures:
        parts += ["## Start-up", _startup(figures["startup"])]
    if "tenth" in figures:
        parts += ["## In flake8", _tenth(figures["tenth"])]
    if "together" in figures:
        parts += ["## Several projects at once", _together(figures["together"])]
    if "warm" in figures:
        parts += ["## With a cache", _warm(figures["warm"])]
    if "rules" in figures:
        parts += ["## What each rule adds", rules(figures["rules"])]
    if "where" in figures:
        parts += ["## Where the time goes", _where(figures["where"])]
        parts.append(TRIED)
    parts += [HOW, _machines(figures)]
    if found := goals(figures):
        parts += ["## Targets", _goals(found)]
    return "\n\n".join(parts) + "\n"


def _machines(figures: Figures) -> str:
    runs = [part["measured"] for part in figures.values()]
    seen = {
        f"- {on['system']}, {on['cpu']}, {on['cores']} cores, {on['memory']} GiB of memory; Python {on['python']}, "
        f"dataloader-lint {on['dataloader-lint']}, LibCST {on['libcst']}, flake8 {on['flake8']}, ruff {on['ruff']}, "
        f"TorchFix {on['torchfix']}; {on['date']}"
        for on in runs
    }
    parts = ["Measured with:", "\n".join(sorted(seen))]
    loads = [on["load"] / on["cores"] for on in runs]
    if loads and max(loads) > 0.5:
        parts.append(
            f"The machine was busy with other work: {min(loads):.1f} to {max(loads):.1f} runnable processes per core. "
            "Wall-clock times are noisy; compare the ratios and their ranges."
        )
    return "\n\n".join(parts)


def _goals(found: list[Goal]) -> str:
    return table(
        ["Measure", "Target", "Measured", "Met"],
        [[goal.what, goal.aim, times(goal.measured, goal.unit), goal.verdict] for goal in found],
    )


def _tools(packages: dict[str, Figures]) -> str:
    """All packages together: what each tool costs, and how many times what one process of ours does."""
    rows = []
    for tool, title in TOOLS.items():
        on = [found for found in packages.values() if tool in found["costs"]]
        if not on:
            continue
        lines = sum(found["lines"] for found in on)
        cpu = added(on, tool, "cpu")
        wall = added(on, tool, "wall")
        seconds = spread(cpu).middle
        rows.append(
            [
                f"{title}" if len(on) == len(packages) else f"{title}, {len(on)} of {len(packages)} packages",
                number(seconds),
                number(spread(wall).middle),
                number(lines / seconds),
                times(ratios(cpu, added(on, "floor", "cpu"))),
                times(ratios(cpu, added(on, "one", "cpu"))),
                number(max(max(found["costs"][tool]["memory"]) for found in on)),
            ]
        )
    total = {key: sum(found[key] for found in packages.values()) for key in ("files", "lines", "parsed_files")}
    same = all(found["same"] for found in packages.values())
    printed = "the same byte for byte" if same else "**not** the same"
    text = (
        f"{len(packages)} packages, {total['files']:,} files, {total['lines']:,} lines; {total['parsed_files']:,} "
        f"files define a Dataset or build a DataLoader. The output is {printed} in one process, on all cores and "
        f"with a warm cache. Each command ran {_rounds(packages)}. A tool that ran on some of the packages only is "
        "compared with what the others cost on these."
    )
    head = [
        "",
        "CPU, s",
        "wall, s",
        "lines per s of CPU",
        "/ parse only",
        "/ dataloader-lint, 1 process",
        "memory, MiB",
    ]
    return f"{text}\n\n{table(head, rows)}"


def _rounds(packages: dict[str, Figures]) -> str:
    """How often the commands ran, but for TorchFix."""
    numbers = sorted({len(found["costs"]["one"]["cpu"]) for found in packages.values()})
    texts = ["once" if each == 1 else f"{each} times" for each in numbers]
    return texts[0] if len(texts) == 1 else f"{texts[0]} to {texts[-1]}, depending on the package"


def _packages(packages: dict[str, Figures]) -> str:
    rows = []
    for name, found in packages.items():
        costs = found["costs"]

        def ratio(one: str, other: str, costs: Figures = costs) -> str:
            both = one in costs and other in costs
            return times(ratios(costs[one]["cpu"], costs[other]["cpu"])) if both else ""

        rows.append(
            [
                name,
                f"{found['lines']:,}",
                str(found["findings"]),
                number(spread(costs["one"]["cpu"]).middle),
                ratio("one", "floor"),
                ratio("one", "gated"),
                ratio("torchfix", "one"),
                ratio("plugin", "flake8"),
                number(max(costs["one"]["memory"])),
            ]
        )
    head = ["", "lines", "findings", "CPU, s", "/ parse only", "/ parse every candidate"]
    return table([*head, "TorchFix / it", "flake8 with it / alone", "memory, MiB"], rows)


def _startup(found: Figures) -> str:
    titles = {
        "bare": "`python -c pass`",
        "no_matter": "one file that cannot matter",
        "libcst": '`python -c "import libcst"`',
        "small": f"one small file with {found['findings']} findings",
    }
    rows = [
        [title, times(_milliseconds(found, name, "cpu")), times(_milliseconds(found, name, "wall"))]
        for name, title in titles.items()
    ]
    return table(["", "CPU, ms", "wall, ms"], rows)


def _milliseconds(found: Figures, name: str, what: str) -> Spread:
    return spread([1000 * value for value in found["costs"][name][what]])


def _tenth(found: Figures) -> str:
    costs = found["costs"]
    rows = [[TOOLS[name], times(spread(costs[name]["cpu"]))] for name in ("flake8", "plugin")]
    rows.append(["with dataloader-lint / alone", times(ratios(costs["plugin"]["cpu"], costs["flake8"]["cpu"]))])
    return (
        f"A tree of {found['files']} modules of {', '.join(found['packages'])} with {found['lines']:,} lines; a tenth "
        "of the modules define a Dataset or build a DataLoader.\n\n" + table(["", "CPU, s"], rows)
    )


def _together(found: Figures) -> str:
    costs = found["costs"]
    rows = [
        [TOOLS[name], *(times(spread(costs[name][what])) for what in ("cpu", "wall", "memory"))]
        for name in ("one", "cores")
    ]
    shared = times(ratios(costs["one"]["wall"], costs["cores"]["wall"]))
    rows.append(["1 process / all cores", "", shared, ""])
    return (
        f"One command for {', '.join(found['packages'])}. Processes share these out better than the files of one "
        "project, whose modules each of them opens."
        + (" The output is the same byte for byte.\n\n" if found["same"] else "\n\n")
        + table(["", "CPU, s", "wall, s", "memory, MiB"], rows)
    )


def _warm(found: Figures) -> str:
    titles = {"cold": "first run", "unchanged": "again, nothing changed", "changed": "again, one file changed"}
    rows = [
        [title, times(spread(found["costs"][name]["cpu"])), times(spread(found["costs"][name]["wall"]))]
        for name, title in titles.items()
    ]
    return (
        f"A tree of {found['files']:,} files with {found['lines']:,} lines, made of copies of "
        f"{', '.join(found['packages'])}; {found['matter']:,} of them define a Dataset or build a DataLoader."
        + (" All cores. The second run prints what the first one does.\n\n" if found["same"] else " All cores.\n\n")
        + table(["", "CPU, s", "wall, s"], rows)
    )


def _waits(found: Figures) -> str:
    return "\n\n".join([*([_hook(found)] if "costs" in found else []), *([_editor(found)] if found["editor"] else [])])


def _hook(found: Figures) -> str:
    changed = found["changed"]
    titles = {
        "cold": "without a cache",
        "unchanged": "nothing changed",
        "unled": f"`{changed['unled']}` changed, which no loader leads to",
        "leaf": f"`{changed['leaf']}` changed, which is linted itself",
        "central": f"`{changed['central']}` changed, which most linted files depend on",
        "comment": "the same file, a comment more",
        "body": "the same file, another statement in the body of a method",
        "default": "the same file, another default of a constructor",
    }
    measured = {name: title for name, title in titles.items() if name in found["costs"]}
    rows = [[title, times(spread(found["costs"][name]["cpu"]))] for name, title in measured.items()]
    kinds = " if nothing else is said" if "comment" in measured else ""
    return (
        f"A hook, or a second run, on {found['package']}: one process with a cache, after a function was added to one "
        f"file{kinds}.\n\n" + table(["", "CPU, s"], rows)
    )


def _editor(found: Figures) -> str:
    rows = []
    for file, each in found["editor"].items():
        several = each["times"]
        name, _, path = file.partition(": ")
        cells = [f"{name}, `{path}`, {each['lines']:,} lines", number(several[CPU][0])]
        for what in (KEY, MOVE, QUICK_FIX):
            asked = several.get(what)
            cells.append(f"{number(spread(asked).middle)} ({number(late(asked))})" if asked else "")
        rows.append(cells)
    head = ["", "CPU of a key, ms", "findings after a key, ms", "actions after a move, ms", "quick fixes, ms"]
    return (
        "An editor in front of the language server, with nothing but keys and questions in turn. Times on the wall are "
        "the median, and the 95th percentile in brackets; that of a key has the pause of up to 100 ms in it before "
        "linting begins, and grows with what else the machine does.\n\n" + table(head, rows)
    )


def _where(found: Figures) -> str:
    total = sum(found["kinds"].values())
    kinds = {kind: seconds / total for kind, seconds in sorted(found["kinds"].items(), key=lambda each: -each[1])}
    places = sorted(((seconds / total, place) for place, seconds in found["places"].items()), reverse=True)[:10]
    introduction = (
        f"One process without a cache, on {', '.join(found['packages'])}. A timer looks once in a millisecond of CPU "
        "time what runs. What other modules of the project are opened and worked out for counts as well: "
        f"{found['parsed']['files']:,.0f} files with {found['parsed']['lines']:,.0f} lines are parsed in all, as what "
        "they say decides about others."
    )
    files = (
        "The files of `dataloader_lint` with the most time, without imports and parsing; each has what it calls in the "
        "standard library and in LibCST:"
    )
    return "\n\n".join(
        [
            introduction,
            table(["", "share of CPU"], [[kind, f"{share:.1%}"] for kind, share in kinds.items()]),
            files,
            table(["", "share of CPU"], [[f"`{place}`", f"{share:.1%}"] for share, place in places]),
            next_factor(kinds),
        ]
    )


def next_factor(kinds: Mapping[str, float]) -> str:
    """What it would take to be twice as fast, from the shares of what is done."""
    parsing = kinds.get(PARSE, 0.0)
    half = f"If half as much were parsed and all else stayed, a run would take {1 - parsing / 2:.0%} of its time now"
    if parsing >= 0.5:
        return (
            f"What the next factor of two would take: parsing has {parsing:.0%}, so it cannot come from anything else. "
            f"{half}."
        )
    others = {kind: share for kind, share in kinds.items() if kind != PARSE}
    largest = max(others, key=lambda kind: others[kind])
    needed = (0.5 - parsing / 2) / (1 - parsing)
    return (
        f"What the next factor of two would take: parsing has {parsing:.0%}, so it cannot come from parsing alone. "
        f"{half}; for half of the time, {needed:.0%} of everything else would have to go as well. The largest part of "
        f"that is *{largest}*, with {others[largest]:.0%} of the whole."
    )
