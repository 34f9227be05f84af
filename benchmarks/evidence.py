"""Measures what the rules say, and writes docs/evidence.md with its pictures. Takes tens of minutes.

    python -m benchmarks.evidence             measure everything, write figures, page and pictures
    python -m benchmarks.evidence --only DL308 --only memory
    python -m benchmarks.evidence --redraw    write page and pictures again from the figures of the last time

All figures of the page come from docs/evidence/figures.json, which only a measurement writes; what the proofs say in
words comes from the proofs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.evidence_measure import describe_machine, measurements, read_proofs
from benchmarks.evidence_programs import STORAGES
from benchmarks.pictures import Bar, Line, Panel, draw_bars, draw_lines
from docs.generate import PICTURES, ROOT, read_pages

PAGE = ROOT / "docs" / "evidence.md"
FOLDER = ROOT / "docs" / "evidence"
FIGURES = FOLDER / "figures.json"

KINDS = {
    "waits": "waits 2 ms for each sample",
    "computes": "computes for each sample",
    "memory": "samples in memory",
}
Figures = dict[str, Any]


def main() -> int:
    """Measure, unless told to take the figures of the last time, and write the page and the pictures."""
    parser = argparse.ArgumentParser(description="Measure what the rules say.")
    parser.add_argument("--redraw", action="store_true", help="measure nothing: draw the figures of the last time")
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="measure only this (DL101, memory, workers, restarts, batches)"
    )
    options = parser.parse_args()
    if not options.redraw:
        measure(options.only)
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    pictures = draw_all(figures)
    for name, picture in pictures.items():
        (FOLDER / name).write_text(picture, encoding="utf-8", newline="\n")
    PAGE.write_text(render_page(figures), encoding="utf-8", newline="\n")
    print(f"wrote {PAGE.relative_to(ROOT)} and {len(pictures)} pictures")
    return 0


def measure(only: Sequence[str] | None) -> None:
    """Measure everything, or what `only` names, and write each figure when it is there."""
    known = measurements()
    FOLDER.mkdir(exist_ok=True)
    old = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    figures = {name: old[name] for name in known if name in old}
    for name in only or known:
        with tempfile.TemporaryDirectory(prefix="evidence-") as folder:
            found = known[name](Path(folder), lambda what: print(what, file=sys.stderr, flush=True))
        figures[name] = newer(figures.get(name), {**found, "measured": describe_machine()})
        ordered = {name: figures[name] for name in known if name in figures}
        FIGURES.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8", newline="\n")


def newer(old: Figures | None, found: Figures) -> Figures:
    """The figures to keep: what was measured earlier, with its machine, where nothing could be measured now."""
    return old if old is not None and "missing" in found and "missing" not in old else found


def draw_all(figures: Figures) -> dict[str, str]:
    """Draw every picture: its file name and its text."""
    workers, restarts, batches = figures["workers"], figures["restarts"], figures["batches"]
    lines = [
        Panel(method, [Line(STORAGES[kind], [(x, y / 2**20) for x, y in points]) for kind, points in kinds.items()])
        for method, kinds in figures["memory"]["points"].items()
    ]
    repairs = {"DL308": "restarts", "DL605": "file reads", "DL606": "collating", "DL607": "gc"}
    both = ["c0", "c3"]
    return {
        "memory.svg": draw_lines(
            f"Memory of all processes while two workers read {figures['memory']['samples']:,} file names",
            f"Beyond what the same program takes with few names; {_with(figures['memory'])}",
            lines,
            "MiB",
            "of the epoch",
        ),
        "workers.svg": draw_bars(
            "Time per epoch, by num_workers",
            f"Median, smallest and largest; {_with(workers)}",
            [Panel(title, bars(workers[kind])) for kind, title in KINDS.items()],
            "ms",
        ),
        "restarts.svg": draw_bars(
            "Time per epoch of 10 small batches, with two workers",
            f"Median, smallest and largest; {_with(restarts)}",
            [Panel(method, bars(restarts[method], both)) for method in figures["memory"]["points"]],
            "ms",
        ),
        "batching.svg": draw_bars(
            "What a batch costs: an epoch by batch_size, and one batch by its rows",
            f"Median, smallest and largest; {_with(batches)}",
            [
                Panel("4,096 samples, by batch_size", bars(batches["batch_size"])),
                Panel("grow a batch row by row", bars(batches["grown"], ["c0"])),
                Panel("join all rows at once", bars(batches["joined"])),
            ],
            "ms",
        ),
        "repairs.svg": draw_bars(
            "Time of the programs of four proofs, before and after the fix",
            f"Median, smallest and largest; {_with(figures['DL308'])}",
            [
                Panel(
                    f"{code} {name}", bars({side: figures[code][side]["seconds"] for side in ("before", "after")}, both)
                )
                for code, name in repairs.items()
            ],
            "ms",
        ),
    }


def _with(figures: Figures) -> str:
    on = figures["measured"]
    return f"torch {on['torch']}, Python {on['python']}, {on['cores']} cores, {on['date']}"


def bars(seconds: dict[str, list[float]], styles: Iterable[str] = ("c3",)) -> list[Bar]:
    """A bar in milliseconds for each label, in colours that the last of `styles` goes on with."""
    colours = list(styles)
    return [
        Bar(
            label,
            1000 * statistics.median(runs),
            1000 * min(runs),
            1000 * max(runs),
            colours[min(index, len(colours) - 1)],
        )
        for index, (label, runs) in enumerate(seconds.items())
    ]


def render_page(figures: Figures) -> str:
    """Render docs/evidence.md."""
    pages = {page.rule.code: page for page in read_pages()}
    rows = ["| Rule | Before | After | Fixed by | Ran with |", "|---|---|---|---|---|"]
    for code, proof in read_proofs().items():
        found = figures[code]
        claims = (("before", proof.symptom), ("after", proof.cure))
        before, after = (_cell(claim, found.get(side), found.get("missing", ())) for side, claim in claims)
        if "before" in found and found["before"]["seconds"]:
            ratio = statistics.median(found["before"]["seconds"]) / statistics.median(found["after"]["seconds"])
            after += f"<br>ratio of the medians: {ratio:,.{0 if ratio >= 10 else 1}f}"
        link = f'<a id="{code.lower()}"></a>[{code}](rules.md#{pages[code].anchor}) {pages[code].rule.name}'
        ran = f"{found['start_method']}, torch {found['measured']['torch']}"
        rows.append(f"| {link} | {before} | {after} | {found['repair']} | {ran} |")
    pictures = []
    for picture in PICTURES:
        links = ", ".join(f"[{code}](rules.md#{pages[code].anchor})" for code in picture.rules)
        word = "Rule" if len(picture.rules) == 1 else "Rules"
        pictures.append(f"![{picture.caption}](evidence/{picture.file})\n\n{picture.caption} {word}: {links}.")
    parts = [
        "<!-- Made by `python -m benchmarks.evidence`: measure again instead of editing. -->",
        "# Evidence",
        INTRODUCTION,
        _where(figures),
        "## Plots",
        *pictures,
        "## Every proof",
        TABLE,
        "\n".join(rows),
    ]
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """\
For each rule a small program in [tests/evidence](https://github.com/dataloader-lint/dataloader-lint/tree/main/tests/evidence)
shows the pitfall under real torch. The linter reports the program with this rule and no other. The tests run it and see
the symptom, then run the fixed program and see that the symptom is gone. If the rule has an autofix, the fixed program
is what `--fix` makes of the first one. `python -m pytest -m evidence` runs all of them.

One command makes this page and its plots. It runs the same programs at a realistic size and writes
[all figures](evidence/figures.json):

```sh
pip install '.[test]' && python -m benchmarks.evidence
```"""

TABLE = """\
*Before* and *After* say what the proof shows, and below it what was measured. Times are the median of several runs,
with the smallest and the largest value in parentheses. The fork server of these measurements has imported torch before
it starts workers, as it does from Python 3.14 on, where it imports the script first."""


def _where(figures: Figures) -> str:
    """Which machines the figures are from, and what they could not be measured on."""
    runs = [each["measured"] for each in figures.values()]
    machines = sorted(
        {
            f"torch {on['torch']}, Python {on['python']}, {on['system']}, {on['cpu']}, {on['cores']} cores, "
            f"{on['memory']} GiB of memory, " + (f"one {on['gpu']}" if on["gpu"] else "no GPU") + f", {on['date']}"
            for on in runs
        }
    )
    parts = ["Measured with:", "\n".join(f"- {machine}" for machine in machines)]
    loads = [on["load"] / on["cores"] for on in runs]
    if max(loads) > 1:
        parts.append(
            f"The machine was busy with other work: {min(loads):.1f} to {max(loads):.1f} runnable processes per "
            "core. Times are noisy; compare the ratios and their ranges. Counts and bytes do not depend on the load."
        )
    missing: dict[str, list[str]] = {}
    for code, found in figures.items():
        for need in found.get("missing", ()):
            missing.setdefault(need, []).append(code)
    for need, codes in missing.items():
        parts.append(
            f"**Not measured: no {need} was available.** The programs of {', '.join(codes)} were not run. Their tests "
            f"are skipped without {need}."
        )
    return "\n\n".join(parts)


def _cell(text: str, run: Figures | None, missing: Sequence[str]) -> str:
    if run is None:
        return f"{_escape(text)}<br>not measured: needs {' and '.join(missing)}"
    seen = f"<br>`{run['seen'].replace('`', chr(39)).replace('|', '/')}`" if run["seen"] else ""
    if run["seconds"]:
        low, middle, high = min(run["seconds"]), statistics.median(run["seconds"]), max(run["seconds"])
        seen += f"<br>{_seconds(middle)} ({_seconds(low)} to {_seconds(high)})"
    return _escape(text) + seen


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


if __name__ == "__main__":
    sys.exit(main())
