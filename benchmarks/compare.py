"""Measures what linting costs, beside other tools on the same code, and writes docs/performance.md.

    python -m benchmarks.compare                        everything; hours, of which TorchFix takes the most
    python -m benchmarks.compare --quick                one small package and small sizes, into benchmarks/.cache
    python -m benchmarks.compare --packages TTS,timm --peer-packages TTS --rounds 5
    python -m benchmarks.compare --only startup         one part again, the others as they were measured last
    python -m benchmarks.compare --redraw               the page again, from the figures of the last time

All figures of the page come from docs/performance.json, which only a measurement writes. TorchFix and a flake8 without
our plugin run in virtual environments of their own.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import measures
from benchmarks.compare_page import render_page
from benchmarks.goals import CURVES
from benchmarks.options import LIST, names, say
from benchmarks.real_code import CACHE, PACKAGES, unpack
from benchmarks.rule_cost import measure_rules
from benchmarks.waits import measure_waits

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
FIGURES = ROOT / "docs" / "performance.json"
COPIED = "basicsr"  # small enough to be linted eight times over
PARTS = ("startup", *CURVES, "tenth", "where", "packages", "together", "warm", "rules", "waits")
MEASURES = {**measures.MEASURES, "rules": measure_rules, "waits": measure_waits}


@dataclass(frozen=True, slots=True)
class Target:
    """Where page and figures go."""

    page: Path
    figures: Path

    def load(self) -> dict[str, Any]:
        """The figures of the last time; nothing where there are none."""
        return dict(json.loads(self.figures.read_text(encoding="utf-8"))) if self.figures.exists() else {}

    def save(self, figures: dict[str, Any]) -> None:
        """Write figures and page."""
        self.figures.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        self.page.write_text(render_page(figures), encoding="utf-8")


def main() -> int:
    """Measure and write. What was measured is saved part by part, so nothing is lost when it is stopped."""
    options = parse_options()
    target = Target(CACHE / "performance.md", CACHE / "performance.json") if options.quick else Target(PAGE, FIGURES)
    figures = target.load()
    if options.redraw:
        target.save(figures)
        return 0
    chosen = [package for package in PACKAGES if package.name in options.packages]
    copied = [package for package in PACKAGES if package.name == COPIED]
    for package in (*chosen, *copied):
        unpack(package)
    tools = measures.Tools.install(CACHE, peers="packages" in options.only or "tenth" in options.only)
    peers = [package.name for package in chosen if package.name in options.peer_packages]
    with tempfile.TemporaryDirectory(prefix="compare-") as name:
        plan = measures.Plan(tools, Path(name).resolve(), options.rounds, options.quick, say)
        for part in PARTS:
            if part not in options.only:
                continue
            on = measures.describe(tools)
            if part == "packages":
                figures[part] = {"measured": on}
                for package in chosen:
                    say(f"{package.name} {package.version}")
                    found = measures.measure_package(plan, package.folder, with_peers=package.name in peers)
                    figures[part][f"{package.name} {package.version}"] = found
                    target.save(figures)
            else:
                say(part)
                on_these = copied if part == "copies" else chosen
                figures[part] = {"measured": on, **MEASURES[part](plan, [one.folder for one in on_these])}
                target.save(figures)
    return 0


def parse_options() -> argparse.Namespace:
    """Read the command line; ends the program where a name is not known."""
    parser = argparse.ArgumentParser(description="Measure what linting costs, and write docs/performance.md.")
    parser.add_argument("--packages", type=names, metavar="NAMES", help="measure on these packages")
    parser.add_argument("--peer-packages", type=names, metavar="NAMES", help="flake8 and TorchFix on these only")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each command runs (3)")
    parser.add_argument("--quick", action="store_true", help="small sizes, and the result into benchmarks/.cache")
    parser.add_argument("--only", type=names, default=PARTS, metavar="PARTS", help=", ".join(PARTS))
    parser.add_argument("--redraw", action="store_true", help="measure nothing, write the page again")
    options = parser.parse_args()
    options.packages = options.packages or (("easyocr",) if options.quick else LIST)
    options.peer_packages = options.packages if options.peer_packages is None else options.peer_packages
    known = {package.name for package in PACKAGES}
    if unknown := {*options.packages, *options.peer_packages} - known | set(options.only) - set(PARTS):
        parser.error(f"not known: {', '.join(sorted(unknown))}")
    if options.rounds < 1:
        parser.error("at least one round")
    return options


if __name__ == "__main__":
    sys.exit(main())
