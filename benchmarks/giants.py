"""Lints huge repositories, one process each without a cache, and says which take more time or memory than they may.

    python -m benchmarks.giants ~/checkouts
    python -m benchmarks.giants ~/checkouts --only diffusers --seconds 60 --megabytes 600

Each folder in the given one is a repository. Every rule runs, and each fix is tried, as `--output-format json` shows
them. Exit code 1: one is over a limit, has a file that took too long (DL000 says so; one that cannot be read is none),
or an internal error (DL999).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.costs import Command, run
from benchmarks.options import say
from benchmarks.tables import table

ROOT = Path(__file__).resolve().parent.parent
LINT = ("--isolated", "--no-cache", "--jobs", "1", "--select", "DL", "--output-format", "json", ".")
SECONDS, MEGABYTES = 60.0, 600.0
_LATE = "takes too long"


@dataclass(frozen=True, slots=True)
class Giant:
    """What linting one repository takes (CPU seconds, MiB at the peak), and how many findings it gives.

    `late` of the `unreadable` files (DL000) took too long; `errors` are internal ones (DL999).
    """

    name: str
    cpu: float
    memory: float
    findings: int
    unreadable: int
    late: int
    errors: int

    def is_within(self, seconds: float, megabytes: float) -> bool:
        """True if it keeps to the limits, and nothing of it is left out."""
        return self.cpu <= seconds and self.memory <= megabytes and not self.late and not self.errors


def main(arguments: Sequence[str] | None = None) -> int:
    """Lint each repository and print the table. Exit code 2: there is none."""
    parser = argparse.ArgumentParser(prog="giants", description="Measure the linter on huge repositories.")
    parser.add_argument("folder", type=Path, help="each folder in it is a repository")
    parser.add_argument(
        "--only", action="append", default=[], metavar="WORD", help="whose names hold this (repeatable)"
    )
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"of CPU, for each ({SECONDS:.0f})")
    parser.add_argument("--megabytes", type=float, default=MEGABYTES, help=f"at the peak ({MEGABYTES:.0f})")
    options = parser.parse_args(arguments)
    chosen = [
        each
        for each in (sorted(options.folder.iterdir()) if options.folder.is_dir() else ())
        if each.is_dir() and (not options.only or any(word in each.name for word in options.only))
    ]
    if not chosen:
        parser.exit(2, f"{parser.prog}: no repository in {options.folder}\n")
    giants = []
    for folder in chosen:
        giants.append(measure(folder))
        say(f"{folder.name}: {giants[-1].cpu:.1f} s")
    print(report(giants, options.seconds, options.megabytes))
    return 0 if all(each.is_within(options.seconds, options.megabytes) for each in giants) else 1


def measure(folder: Path) -> Giant:
    """What one run over a repository takes. Raises RuntimeError where the run fails."""
    command = Command((sys.executable, "-P", "-c", _START.format(str(ROOT)), *LINT))
    with tempfile.TemporaryDirectory() as outputs:
        output = Path(outputs) / "findings.json"
        cost = run(command, folder, output)
        found = json.loads(output.read_text(encoding="utf-8"))
    left_out = [each for each in found if each["code"] == "DL000"]
    late = sum(_LATE in each["message"] for each in left_out)
    errors = sum(each["code"] == "DL999" for each in found)
    findings = len(found) - len(left_out) - errors
    return Giant(folder.name, cost.cpu, cost.memory, findings, len(left_out), late, errors)


def report(giants: Sequence[Giant], seconds: float, megabytes: float) -> str:
    """A table with one row for each repository."""
    rows = [
        [
            each.name,
            f"{each.cpu:.1f}",
            f"{each.memory:.0f}",
            str(each.findings),
            str(each.unreadable),
            str(each.late),
            str(each.errors),
            "yes" if each.is_within(seconds, megabytes) else "no",
        ]
        for each in giants
    ]
    return table(["repository", "CPU (s)", "peak (MiB)", "findings", "DL000", "too late", "DL999", "within"], rows)


_START = "import sys; sys.path.insert(0, {!r}); from dataloader_lint.__main__ import main; sys.exit(main())"

if __name__ == "__main__":
    sys.exit(main())
