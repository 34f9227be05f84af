"""What each rule adds to a run: its own checks, and a run with and without it.

    python -m benchmarks.rule_cost                          the eight packages of `benchmarks.compare`
    python -m benchmarks.rule_cost --packages timm,TTS --rules DL616,DL617

One run counts the calls of functions and the CPU time of each rule's checks. What others ask later is in it too, for
whoever asks first works it out: it is the most that a rule can add. For rules above `NEAR`, or those of `--rules`, a
run without the rule counts what it adds in fact. An opt-in rule is run beside the others instead.

Calls of Python's and of C's functions are counted, which other work on the machine does not disturb.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from benchmarks import processes
from benchmarks.options import LIST, names, say
from benchmarks.real_code import PACKAGES, unpack

if TYPE_CHECKING:
    from benchmarks.measures import Plan

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 1.0  # percent of a run that a rule may add
NEAR = 0.5  # percent from which on a run without the rule is made
SECONDS = 3600  # that one run may take
LINT = ("--isolated", "--no-cache", "-j", "1", "--exit-zero", "--output-format", "concise")
Figures = dict[str, Any]


class Counting:
    """Counts the calls of functions in this process from now on."""

    def __init__(self) -> None:
        self.calls = 0
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, _frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" or event == "c_call":
            self.calls += 1


def count(arguments: Sequence[str]) -> Figures:
    """Lint in this process; its calls and CPU seconds, and by rule those of its `find` and `check`."""
    from dataloader_lint.cli import main as lint
    from dataloader_lint.rules import registry

    counting = Counting()
    calls: Counter[str] = Counter()
    seconds: defaultdict[str, float] = defaultdict(float)

    def counted(code: str, ask: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        def ask_and_count(*arguments: object) -> Iterator[Any]:
            calls_before, before = counting.calls, time.process_time()
            found = list(ask(*arguments))
            calls[code] += counting.calls - calls_before
            seconds[code] += time.process_time() - before
            return iter(found)

        return ask_and_count

    rules = registry.found_rules()
    for code, found in rules.items():
        if found.check is not None:
            find = counted(code, found.find) if found.find is not None else None
            rules[code] = replace(found, find=find, check=counted(code, found.check))
    before = time.process_time()
    sys.stdout, out = sys.stderr, sys.stdout
    try:
        lint([*LINT, *arguments])
    finally:
        sys.stdout = out
    total = time.process_time() - before
    return {"calls": counting.calls, "seconds": total, "of_rules": {"calls": calls, "seconds": seconds}}


def counted_run(folders: Sequence[Path], options: Sequence[str] = ()) -> Figures:
    """What `count` finds, in a process of its own, whose sets have the same order each time."""
    program = [sys.executable, "-m", "benchmarks.rule_cost", "count", *options, *map(str, folders)]
    done = processes.run(program, check=True, cwd=ROOT, env=_environment(), seconds=SECONDS)
    found: Figures = json.loads(done.stdout)
    return found


def _environment() -> dict[str, str]:
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR", "SYSTEMROOT") if key in os.environ}
    return {**kept, "PYTHONHASHSEED": "0"}


def measure(folders: Sequence[Path], chosen: Sequence[str] | None, say: Callable[[str], None]) -> Figures:
    """By rule: the share of a run that its checks take, and what the run takes more than one without the rule."""
    from dataloader_lint.rules.registry import found_rules

    rules = {code: each.rule for code, each in found_rules().items() if each.check is not None}
    optional = [code for code, rule in rules.items() if not rule.is_on]
    say("a run with all rules")
    whole = counted_run(folders, _selecting(optional))
    own = whole["of_rules"]
    basis = {what: whole[what] - sum(own[what].get(code, 0) for code in optional) for what in ("calls", "seconds")}
    shares = {
        code: {what: round(100 * own[what].get(code, 0) / basis[what], 3) for what in ("calls", "seconds")}
        for code in rules
    }
    near = [code for code in rules if max(shares[code].values()) >= NEAR] if chosen is None else chosen
    added: dict[str, float] = {}
    default = 0
    for code in near:
        if not default:
            say("the default rules")
            default = counted_run(folders)["calls"]
        is_on = rules[code].is_on
        say(f"without {code}" if is_on else f"with {code}")
        other = counted_run(folders, ("--ignore", code) if is_on else _selecting([code]))["calls"]
        added[code] = round(100 * (default - other if is_on else other - default) / default, 3)
    return {
        "packages": [folder.name for folder in folders],
        "calls": whole["calls"],
        "names": {code: rule.name for code, rule in rules.items()},
        "optional": optional,
        "shares": shares,
        "added": added,
    }


def _selecting(codes: Sequence[str]) -> tuple[str, ...]:
    return ("--extend-select", ",".join(codes)) if codes else ()


def measure_rules(plan: Plan, packages: Sequence[Path]) -> Figures:
    """What each rule adds to a run over all packages."""
    return measure(packages, None, lambda text: plan.say(f"    {text}"))


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one rule, in percent of a run: calls and CPU time of its checks, and what it adds in fact."""

    code: str
    name: str
    calls: float
    seconds: float
    added: float | None


def rows(found: Mapping[str, Any]) -> list[Row]:
    """What is known of each rule, the costliest first."""
    listed = [
        Row(code, found["names"][code], share["calls"], share["seconds"], found["added"].get(code))
        for code, share in found["shares"].items()
    ]
    return sorted(listed, key=lambda row: -(row.calls if row.added is None else row.added))


def main() -> int:
    """Measure and print; exits 1 if a rule adds more than `LIMIT` percent."""
    if sys.argv[1:2] == ["count"]:
        print(json.dumps(count(sys.argv[2:])))
        return 0
    parser = argparse.ArgumentParser(description="Measure what each rule adds to a run.")
    parser.add_argument("--packages", type=names, default=LIST, metavar="NAMES", help="on these packages")
    parser.add_argument("--rules", type=names, metavar="CODES", help="with and without these only; may be empty")
    options = parser.parse_args()
    chosen = [package for package in PACKAGES if package.name in options.packages]
    for package in chosen:
        unpack(package)
    found = measure([package.folder for package in chosen], options.rules, say)
    print(f"{found['calls']:,} calls; percent of a run:\n{'':<48}{'calls':>9}{'CPU time':>9}{'added':>9}")
    for row in rows(found):
        added = "" if row.added is None else f"{row.added:>9.2f}"
        print(f"{row.code} {row.name:<42}{row.calls:>9.2f}{row.seconds:>9.2f}{added}")
    return 1 if any(added > LIMIT for added in found["added"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
