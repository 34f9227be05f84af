"""Runs the program of each proof under `doctor --prove`, and writes the table in docs/doctor.md. Takes an hour.

    python -m benchmarks.doctor_prove
    python -m benchmarks.doctor_prove --only DL101 --only DL602

The finding in the program that a rule reports should be confirmed, and the fixed program should have no finding of the
rule that is. Only what was run appears in the table: with `--only`, the other rows stay as they are.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import processes
from benchmarks.doctor_evidence import ARGUMENTS, ENVIRONMENT, PAGE, ROOT, START_METHODS
from evidence.harness import HERE, Proof, find_proofs, lay_out

START, END = "<!-- prove: made by benchmarks/doctor_prove.py -->", "<!-- end of prove -->"
_ROW = re.compile(r"^\| (DL\d{3}) \|.*$", re.MULTILINE)
_VERDICT = re.compile(r"^\S*program\.py:(\d+) (DL\d{3}) (confirmed|breaks|no effect here|not tried)$")


@dataclass(frozen=True, slots=True)
class Row:
    """What `--prove` says of a rule in one program: its first verdict, and what was measured."""

    verdict: str
    text: str


def main() -> int:
    """Run the programs and write the table."""
    parser = argparse.ArgumentParser(description="Run the programs of the proofs under `doctor --prove`.")
    parser.add_argument("--only", action="append", metavar="CODE", help="run only the proof of this rule")
    parser.add_argument("--limit", type=float, default=100.0, metavar="N", help="seconds for one program")
    options = parser.parse_args()
    proofs = {code: proof for code, proof in find_proofs().items() if code in (options.only or find_proofs())}
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(START)
    table, tail = rest.split(END)
    kept = {match[1]: match[0] for match in _ROW.finditer(table)}
    for code, proof in proofs.items():
        kept[code] = row(proof, options.limit)
        print(kept[code], file=sys.stderr, flush=True)
    lines = ["| Rule | Before the fix | Measured | After the fix |", "|---|---|---|---|"]
    lines += [kept[code] for code in sorted(kept)]
    PAGE.write_text(f"{head}{START}\n{os.linesep.join(lines)}\n{END}{tail}", encoding="utf-8", newline="\n")
    confirmed = sum("| *confirmed* |" in line for line in lines)
    print(f"{confirmed} of {len(kept)} rules are confirmed")
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
    command += ["--stall", "10", "--limit", str(limit), "--", *ARGUMENTS.get(code, ())]
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
    lines = done.stdout.splitlines()
    for number, line in enumerate(lines):
        found = _VERDICT.match(line)
        if found and found[2] == code:
            rest = []
            for each in lines[number + 1 :]:
                if not each.startswith("    "):
                    break
                rest.append(each.strip())
            return Row(found[3], " ".join(rest))
    return Row("no finding" if done.returncode in (0, 1) else f"exit code {done.returncode}", done.stderr[-200:])


if __name__ == "__main__":
    sys.exit(main())
