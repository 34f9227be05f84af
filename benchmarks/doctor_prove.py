"""Runs the program of each proof under `doctor --prove`, and prints a table. Takes half an hour on idle CPUs.

    python -m benchmarks.doctor_prove
    python -m benchmarks.doctor_prove --only DL101 --only DL602

The finding in the program that a rule reports should be confirmed, and the fixed program should have no finding of the
rule that is.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import processes
from benchmarks.doctor_evidence import ARGUMENTS, ENVIRONMENT, ROOT, START_METHODS
from evidence.harness import HERE, Proof, find_proofs, lay_out


@dataclass(frozen=True, slots=True)
class Row:
    """What `--prove` says of a rule in one program: its first verdict, and what was measured."""

    verdict: str
    text: str


def main() -> int:
    """Run the programs and print the table."""
    parser = argparse.ArgumentParser(description="Run the programs of the proofs under `doctor --prove`.")
    parser.add_argument("--only", action="append", metavar="CODE", help="run only the proof of this rule")
    parser.add_argument("--limit", type=float, default=100.0, metavar="N", help="seconds for one program")
    options = parser.parse_args()
    known = find_proofs()
    print("| Rule | Before the fix | Measured | After the fix |\n|---|---|---|---|")
    rows = []
    for code in options.only or known:
        rows.append(row(known[code], options.limit))
        print(rows[-1], flush=True)
    confirmed = sum("| *confirmed* |" in line for line in rows)
    print(f"{confirmed} of {len(rows)} rules are confirmed")
    return 0


def row(proof: Proof, limit: float) -> str:
    """The row of one proof."""
    if proof.unmet():
        return f"| {proof.rule} | needs {', '.join(proof.unmet())} | | |"
    before, after = proof.programs()
    with tempfile.TemporaryDirectory(prefix="prove-") as folder:
        first = proven(proof, before, Path(folder) / "before", limit)
        second = proven(proof, after, Path(folder) / "after", limit)
    text = first.text.replace("|", "/")
    return f"| {proof.rule} | *{first.verdict}* | {text} | {second.verdict} |"


def proven(proof: Proof, program: str, folder: Path, limit: float) -> Row:
    """Run a program under `--prove`."""
    code = proof.rule
    lay_out(program, folder)
    selected = ", ".join(f'"{each}"' for each in proof.lint_settings().extend_select)
    (folder / "pyproject.toml").write_text(f"[tool.dataloader-lint]\nextend-select = [{selected}]\n", encoding="utf-8")
    hooks = folder.parent / f"{folder.name}-hooks"
    hooks.mkdir()
    shutil.copy(HERE / "platform_default.py", hooks / "sitecustomize.py")
    command = [sys.executable, "-m", "dataloader_lint", "doctor", "--prove", "program.py", "--seconds", "20"]
    command += ["--stall", "10", "--limit", str(limit), "--output-format", "json", "--", *ARGUMENTS.get(code, ())]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(hooks), str(ROOT)]),  # this very version is what runs
        "PROOF_START_METHOD": START_METHODS.get(code, "fork"),
        **ENVIRONMENT.get(code, {}),
    }
    try:
        done = processes.run(command, cwd=folder, env=environment, seconds=5 * limit)
    except TimeoutError:
        return Row("no end", "")
    if done.returncode not in (0, 1):
        return Row(f"exit code {done.returncode}", done.stderr[-200:])
    several = [each for each in json.loads(done.stdout)["findings"] if each["code"] == code]
    return Row(several[0]["verdict"], several[0]["text"]) if several else Row("no finding", "")


if __name__ == "__main__":
    sys.exit(main())
