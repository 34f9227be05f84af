"""Runs the program of each proof under the doctor, and writes the table in docs/doctor.md. Takes some ten minutes.

    python -m benchmarks.doctor_evidence
    python -m benchmarks.doctor_evidence --only DL101 --only DL602

The program that a rule reports should name the rule and its line; the repaired one should not name the rule. Only what
was run appears in the table: with `--only`, the other rows stay as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import processes
from dataloader_lint.engine.linter import lint_source
from evidence.harness import HERE, Proof, find_proofs, lay_out

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "doctor.md"
START, END = "<!-- evidence: made by benchmarks/doctor_evidence.py -->", "<!-- end of evidence -->"
_ROW = re.compile(r"^\| (DL\d{3}) \|.*$", re.MULTILINE)

# What the programs are called with, as the tests of the proofs do; others take nothing.
ARGUMENTS = {
    "DL212": (),
    "DL306": ("400", "0.005"),
    "DL308": ("8",),
    "DL309": ("3",),
    "DL310": ("--workers", "0"),
    "DL316": ("2",),
    "DL401": ("64",),
    "DL402": ("1024",),
    "DL503": ("parallel",),
    "DL602": ("3",),
    "DL604": ("0", "1"),
    "DL605": ("32", "100"),
    "DL606": ("64", "10000", "1"),
    "DL607": ("16",),
    "DL610": ("2", "0"),
    "DL611": ("300",),
    "DL613": ("0", "no"),
    "DL614": ("32",),
    "DL619": ("2",),
}
# Whose workers hold a copy of what they are sent only where they are not forked.
START_METHODS = {"DL106": "forkserver", "DL206": "spawn", "DL210": "spawn", "DL211": "spawn"}
# What else the environment must hold, or must not.
ENVIRONMENT: dict[str, dict[str, str]] = {"DL502": {"OMP_NUM_THREADS": ""}, "DL503": {"OMP_NUM_THREADS": "2"}}


@dataclass(frozen=True, slots=True)
class Seen:
    """What the doctor says of one program: its symptoms, and (code, line) of the findings that explain them."""

    titles: dict[str, str]
    findings: set[tuple[str, int]]

    @property
    def codes(self) -> set[str]:
        """The codes of the findings."""
        return {code for code, _ in self.findings}


def main() -> int:
    """Run the programs and write the table."""
    parser = argparse.ArgumentParser(description="Run the programs of the proofs under the doctor.")
    parser.add_argument("--only", action="append", metavar="CODE", help="run only the proof of this rule")
    options = parser.parse_args()
    proofs = {code: proof for code, proof in find_proofs().items() if code in (options.only or find_proofs())}
    with ThreadPoolExecutor(2) as pool:
        rows = dict(zip(proofs, pool.map(row, proofs.values()), strict=True))
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(START)
    table, tail = rest.split(END)
    kept = {match[1]: match[0] for match in _ROW.finditer(table)}
    kept |= {code: text for code, text in rows.items() if text}
    for code in [code for code, text in rows.items() if not text]:
        kept.pop(code, None)
    lines = ["| Rule | Measured before the fix | Named | After the fix |", "|---|---|---|---|"]
    lines += [kept[code] for code in sorted(kept)]
    PAGE.write_text(f"{head}{START}\n{os.linesep.join(lines)}\n{END}{tail}", encoding="utf-8", newline="\n")
    print(f"{len(kept)} of {len(find_proofs())} rules are named")
    return 0


def row(proof: Proof) -> str:
    """The row of one proof; "" where the doctor does not name the rule."""
    before, after = proof.programs()
    with tempfile.TemporaryDirectory(prefix="doctor-") as folder:
        path = lay_out(before, Path(folder) / "lint")
        lines = {one.start.line for one in lint_source(before.encode(), str(path), proof.lint_settings())}
        seen = examined(proof.rule, before, Path(folder) / "before")
        named = sorted(line for code, line in seen.findings if code == proof.rule and line in lines)
        if not named:
            print(f"{proof.rule}: not named; {seen.titles}", file=sys.stderr, flush=True)
            return ""
        repaired = examined(proof.rule, after, Path(folder) / "after")
    title = seen.titles[proof.rule].replace("|", "/")
    left = "named still" if proof.rule in repaired.codes else "not named"
    print(f"{proof.rule}: {title}; {left}", file=sys.stderr, flush=True)
    return f"| {proof.rule} | {title} | {proof.rule} at line {named[0]} | {left} |"


def examined(code: str, program: str, folder: Path) -> Seen:
    """Run a program under the doctor."""
    path = lay_out(program, folder)
    hooks = folder / "hooks"
    hooks.mkdir()
    shutil.copy(HERE / "platform_default.py", hooks / "sitecustomize.py")
    report = folder / "report.json"
    command = [sys.executable, "-m", "dataloader_lint", "doctor", str(path), "--seconds", "40", "--stall", "10"]
    command += ["--output-format", "json", "--output-file", str(report), "--", *ARGUMENTS.get(code, ())]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(hooks), str(ROOT)]),  # this very version is what runs
        "PROOF_START_METHOD": START_METHODS.get(code, "fork"),
        **ENVIRONMENT.get(code, {}),
    }
    try:
        processes.run(command, cwd=folder, env=environment, seconds=120)
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    except (TimeoutError, OSError, ValueError) as error:
        return Seen({code: f"no report: {error}"[:100]}, set())
    titles: dict[str, str] = {}
    findings: set[tuple[str, int]] = set()
    for symptom in found["symptoms"]:
        for one in symptom["findings"]:
            titles.setdefault(one["code"], symptom["title"])
            findings.add((one["code"], one["row"]))
        if not symptom["findings"]:
            titles.setdefault(symptom["kind"], symptom["title"])
    return Seen(titles, findings)


if __name__ == "__main__":
    sys.exit(main())
