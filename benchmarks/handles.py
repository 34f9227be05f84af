"""Pickles each handle that a Dataset may keep, and reads with it in two forked workers: docs/evidence/handles.md.

    python -m benchmarks.handles            all; the page says which package is missing
    python -m benchmarks.handles --only lmdb.open
    python -m benchmarks.handles --older FOLDER     a folder with older versions, from `pip install --target FOLDER`

Each handle has a program of its own, because some hang. It runs three times: without workers, which must give what was
written, and with them, where the Dataset keeps the handle, or a global does. Each of the 200 samples makes 20 reads,
and compares them with what was written. That is repeated until something goes wrong, for at most five seconds, since
whether two reads meet is chance. The programs are in `handle_programs.py` and `handle_programs_of_libraries.py`.
Nothing is measured in time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

from benchmarks import handle_programs as of_python
from benchmarks import handle_programs_of_libraries as of_libraries
from benchmarks import processes
from benchmarks.handle_programs import Handle

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "evidence" / "handles.md"
LIMIT = 120  # seconds for a program

PROGRAM = """
import json
import multiprocessing
import pickle
import sys
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

COUNT = 200
READS = 20
SECONDS = 5
KEPT = []
BOTH_ARE_READY = multiprocessing.get_context("fork").Barrier(2)
HANDLE = None


def prepare():
{prepare}


def make():
{make}


def read(handle, index):
{read}


class Kept(Dataset):
    def __init__(self, is_global):
        global HANDLE
        self.handle = None if is_global else make()
        HANDLE = make() if is_global else None

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        handle = HANDLE if self.handle is None else self.handle
        wrong = 0
        for step in range(READS):
            wanted = (index + 77 * step) % COUNT
            try:
                wrong += read(handle, wanted) != wanted
            except Exception as error:
                return f"{{type(error).__name__}}: {{error}}"
        return wrong


def short(errors):
    # Paths say nothing to a reader.
    return " ".join(word for word in errors[0].split() if "/" not in word)[:90] if errors else ""


def start(worker_id):
    BOTH_ARE_READY.wait(20)


if __name__ == "__main__":
    prepare()
    kept = Kept(sys.argv[1] == "global")
    try:
        pickle.dumps(HANDLE if kept.handle is None else kept.handle)
        pickled = "yes"
    except Exception as error:
        pickled = f"{{type(error).__name__}}: {{error}}"
    print(json.dumps({{"pickled": pickled}}), flush=True)
    if sys.argv[1] == "alone":
        wrong = [index for index in range(COUNT) if read(kept.handle, index) != index]
        print(json.dumps({{"alone": not wrong, "wrong": wrong}}), flush=True)
        if pickled == "yes":
            options = {{"num_workers": 1, "multiprocessing_context": "spawn", "timeout": 60}}
            try:
                found = list(DataLoader(kept, batch_size=None, sampler=range(20), **options))
            except Exception as error:
                found = [f"{{type(error).__name__}}: {{error}}"]
            errors = [each if isinstance(each, str) else "wrong data" for each in found if each]
            print(json.dumps({{"arrived": short(errors)}}), flush=True)
        sys.exit()
    loader = DataLoader(
        kept, batch_size=None, num_workers=2, multiprocessing_context="fork", timeout=10, worker_init_fn=start
    )
    found = []
    end = time.monotonic() + SECONDS
    try:
        while not any(found) and time.monotonic() < end:
            found.clear()
            found.extend(loader)
    except Exception as error:
        found.append(f"{{type(error).__name__}}: {{error}}")
    errors = [each for each in found if isinstance(each, str)]
    wrong = sum(1 for each in found if not isinstance(each, str) and each)
    found = {{"samples": len(found), "wrong": wrong, "raised": len(errors), "first": short(errors)}}
    print(json.dumps(found), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Installed:
    """The interpreter with the packages, and a folder with the older versions that some handles need."""

    python: str
    older: str

    def environment(self, package: str) -> dict[str, str]:
        """The environment in which Python finds the version of a package that a handle needs."""
        return {**os.environ, "PYTHONPATH": self.older} if "<" in package else dict(os.environ)

    def version(self, package: str) -> str:
        """The installed version of a package; empty for Python itself and for what is not installed."""
        name = package.partition("<")[0]
        ask = [self.python, "-c", f"import importlib.metadata as m; print(m.version({name!r}))"]
        return processes.run(ask, env=self.environment(package)).stdout.strip() if name else ""


def run(handle: Handle, installed: Installed, where: str) -> dict[str, object]:
    """Runs the program of a handle that `where` keeps: how pickling went, and how many samples were wrong or raised."""
    bodies = {name: indent(dedent(getattr(handle, name)), "    ") for name in ("prepare", "make", "read")}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "program.py"
        script.write_text(PROGRAM.format(**bodies), encoding="utf-8")
        hung = False
        command, env = [installed.python, script.name, where], installed.environment(handle.package)
        with processes.started(command, cwd=folder, env=env, seconds=LIMIT) as running:
            try:
                running.wait()
            except TimeoutError:
                hung = True
            out, err = running.out.decode(), running.err.decode()
    found: dict[str, object] = {"hung": hung}
    for line in out.splitlines():
        if line.startswith("{"):
            found.update(json.loads(line))
    if "pickled" not in found or (where == "alone" and not found.get("alone")):
        found["error"] = (err.strip().splitlines() or ["it fails without workers"])[-1]
    return found


def row(handle: Handle, runs: dict[str, dict[str, object]], number: str) -> str:
    """The row of the page, from all runs and the version of the package."""
    name = f"`{handle.name}`" + (f" {number}" if number else "")
    error = next((each["error"] for each in runs.values() if "error" in each), None)
    if error:
        reason = f"install {handle.package}" if "No module named" in str(error) else error
        return f"| {name} | not run: {reason} | | |"
    said = runs["alone"]["pickled"]
    pickled = "yes" if said == "yes" else f"no: `{said}`"
    if runs["alone"].get("arrived"):
        pickled = f"yes, but a spawned worker cannot read: `{runs['alone']['arrived']}`"
    return f"| {name} | {pickled} | {_reads(runs['dataset'])} | {_reads(runs['global'])} |"


def _reads(found: dict[str, object]) -> str:
    if found["hung"] or "samples" not in found:
        return "hangs"
    first = str(found["first"])
    if first.startswith("RuntimeError: DataLoader timed out"):
        return "hangs: `DataLoader timed out`"
    counts = [f"{found[what]} {what}" for what in ("wrong", "raised") if found[what]]
    return (" and ".join(counts) or "all right") + (f": `{first}`" if first else "")


HEAD = """<!-- Made by `python -m benchmarks.handles`: run it again instead of editing. -->

# Handles that a Dataset keeps

Each handle was opened in the main process, pickled, and then read by a DataLoader with two forked workers, which began
at the same time: 200 samples of 20 reads each, compared with what was written. What could be pickled was read in a
spawned worker, too: 20 samples. The handle was kept by the Dataset, opened in
`__init__`, and in a second run by a global of the module. As whether two reads meet is chance, epochs were repeated
until one went wrong, for at most five seconds. The rule is DL205.

| Handle | Can be pickled | Kept by the Dataset: of 200 samples | Kept by a global: of 200 samples |
|---|---|---|---|
"""


def main() -> None:
    """Runs all programs and writes the page; with `--only`, it prints the rows instead."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="")
    options.add_argument("--python", default=sys.executable, help="the interpreter with the packages")
    options.add_argument("--older", default="", help="a folder with the older versions of packages")
    given = options.parse_args()
    installed = Installed(given.python, given.older)
    rows = []
    for handle in (*of_python.HANDLES, *of_libraries.HANDLES):
        if given.only in handle.name:
            runs = {where: run(handle, installed, where) for where in ("alone", "dataset", "global")}
            rows.append(row(handle, runs, installed.version(handle.package)))
            print(rows[-1], flush=True)
    if not given.only:
        PAGE.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
