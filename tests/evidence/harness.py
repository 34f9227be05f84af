"""Run-time proofs: a program that a rule reports shows its symptom, and its repaired twin does not.

`test_dl101.py` holds the proof of DL101: `PROOF = Proof(...)` and a test that runs both programs, each as a script of
its own. They write JSON lines with `import probe` (see there) and start workers as the platform's default says, which
the harness sets: `fork` as on Linux up to Python 3.13, `forkserver` as from 3.14 on, `spawn` as on macOS and Windows.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

from benchmarks import processes
from dataloader_lint.diagnostics import Level
from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.settings import Settings

HERE = Path(__file__).parent
START_METHODS = ("fork", "forkserver", "spawn")
_DEFAULT = Settings()
# What does not copy the main process into its workers: everything that they get is pickled.
PICKLING = ("forkserver", "spawn")


class Need(Enum):
    """What a machine must have for the programs of a proof to show anything."""

    CUDA = "CUDA"
    MPS = "MPS"
    TWO_CPUS = "two CPUs"

    def is_met(self) -> bool:
        """True if this machine has it."""
        if self is Need.TWO_CPUS:
            return len(os.sched_getaffinity(0)) >= 2
        import torch

        return torch.backends.mps.is_available() if self is Need.MPS else torch.cuda.is_available()


@dataclass(frozen=True, slots=True)
class Error:
    """An exception by the name of its type, and its text."""

    type: str
    text: str

    def __str__(self) -> str:
        return f"{self.type}: {self.text}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of running a program.

    `said` holds all that it wrote with `probe.say`, one object a line; `error` the exception that ended its main
    process, if one did, and `worker_errors` those that ended workers while they started. `hung` means that it was ended
    because it took too long. `stderr` is all the rest that it wrote.
    """

    said: list[dict[str, Any]]
    error: Error | None
    worker_errors: list[Error]
    hung: bool
    stderr: str

    @property
    def values(self) -> dict[str, Any]:
        """All that a program said that must neither raise nor hang, in one dict."""
        assert not self.hung, f"did not come to an end\n{self.stderr}"
        assert self.error is None, self.stderr
        return {key: value for line in self.said for key, value in line.items()}

    @property
    def raised(self) -> Error:
        """The exception of a program that must raise."""
        assert not self.hung, f"did not come to an end\n{self.stderr}"
        assert self.error is not None, f"raised nothing\n{self.said}\n{self.stderr}"
        return self.error


@dataclass(frozen=True, slots=True)
class Proof:
    """The two programs that prove a rule.

    `symptom` and `cure` say in a few words what is seen when `before` and the repaired program run. The linter reports
    `before` with this rule and no other, but for notes. `after` is None where our own `--fix` writes the repaired
    program; where a rule has no fix it is written by hand. `settings` are those that the linter needs besides. `needs`
    is what the symptom cannot be seen without: elsewhere the tests of the proof are skipped, and nothing is measured.
    """

    rule: str
    symptom: str
    cure: str
    before: str
    after: str | None = None
    settings: Settings = _DEFAULT
    needs: tuple[Need, ...] = ()

    def unmet(self) -> list[str]:
        """What the programs need and this machine lacks, in words."""
        return [need.value for need in self.needs if not need.is_met()]

    def lint_settings(self) -> Settings:
        """The default rules, and this one."""
        return self.settings.replace(extend_select=(*self.settings.extend_select, self.rule))

    def programs(self) -> tuple[str, str]:
        """The text before and after."""
        return _programs(self)

    def run_before(self, folder: Path, *arguments: str, **options: Any) -> Outcome:
        """Run the reported program in `folder`, with the options of `run`."""
        return run(self.programs()[0], folder / "before", *arguments, **options)

    def run_after(self, folder: Path, *arguments: str, **options: Any) -> Outcome:
        """Run the repaired program in `folder`, with the options of `run`."""
        return run(self.programs()[1], folder / "after", *arguments, **options)

    def run_each(
        self, folder: Path, *arguments: str, start_methods: Sequence[str] = START_METHODS, **options: Any
    ) -> dict[str, tuple[Outcome, Outcome]]:
        """Run both programs with each start method, with the options of `run`; (before, after) by start method."""
        with ThreadPoolExecutor(min(4, max(2, os.cpu_count() or 2))) as pool:
            runs = {
                method: [
                    pool.submit(each, folder, *arguments, start_method=method, **options)
                    for each in (self.run_before, self.run_after)
                ]
                for method in start_methods
            }
            return {method: (before.result(), after.result()) for method, (before, after) in runs.items()}

    def attempt_each(
        self, folder: Path, *arguments: str, start_methods: Sequence[str] = START_METHODS
    ) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
        """Run both programs once, for all start methods; what `probe.attempt` says (before, after) by start method.

        Cheaper than `run_each`, since torch is loaded once for all of them.
        """
        before, after = (
            each(folder, *arguments, start_method=",".join(start_methods)).values
            for each in (self.run_before, self.run_after)
        )
        return {method: (_said_with(method, before), _said_with(method, after)) for method in start_methods}

    def codes(self, program: str, folder: Path) -> set[str]:
        """The codes of all rules that report a problem in a program, and this rule's also if it has a note."""
        path = lay_out(program, folder)
        found = lint_source(program.encode(), str(path), self.lint_settings())
        return {one.code for one in found if one.level is not Level.NOTE or one.code == self.rule}


def _said_with(method: str, values: dict[str, Any]) -> dict[str, Any]:
    return {key.removeprefix(f"{method} "): value for key, value in values.items() if key.startswith(f"{method} ")}


@cache
def _programs(proof: Proof) -> tuple[str, str]:
    before = dedent(proof.before).lstrip()
    if proof.after is not None:
        return before, dedent(proof.after).lstrip()
    with tempfile.TemporaryDirectory() as folder:
        path = lay_out(before, Path(folder))
        result = fix_source(before.encode(), str(path), proof.lint_settings(), unsafe=True)
    assert set(result.fixed) == {proof.rule}, f"fixed: {result.fixed}, left: {result.remaining}"
    return before, result.source.decode()


def lay_out(program: str, folder: Path) -> Path:
    """Write a program into a folder of its own, beside what it may import; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").touch()  # its project ends here, whatever else lies in the temporary folder
    shutil.copy(HERE / "probe.py", folder / "probe.py")
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    return path


def run(
    program: str,
    folder: Path,
    *arguments: str,
    start_method: str = "fork",
    timeout: float = 300.0,
    environment: dict[str, str] | None = None,
) -> Outcome:
    """Run a program as a script, in a fresh folder under `folder` that is also its working directory.

    `start_method` may be several with commas between, for a program that does all of its work in `probe.attempt`.
    `timeout` is in seconds, and only there to end what hangs. torch gets one thread, unless `environment` says more.
    No process of it is left when this returns.
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=f"{start_method}-", dir=folder))
    path = lay_out(program, place)
    hooks = place / "hooks"
    hooks.mkdir()
    shutil.copy(HERE / "platform_default.py", hooks / "sitecustomize.py")
    variables = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(hooks),
        **(environment or {}),
        "PROOF_START_METHOD": start_method,
    }
    # What the program keeps in its own temporary folder are mostly sockets, whose paths must be short.
    with tempfile.TemporaryDirectory(prefix="dl-") as temporary:
        command = [sys.executable, str(path), *arguments]
        with processes.started(command, cwd=place, env={**variables, "TMPDIR": temporary}, seconds=timeout) as running:
            try:
                running.wait()
                hung = False
            except TimeoutError:
                hung = True
            out, err = (text.decode("utf-8", "replace") for text in (running.out, running.err))
    return _outcome(out.splitlines(), err, hung)


def _outcome(lines: Sequence[str], stderr: str, hung: bool) -> Outcome:
    said: list[dict[str, Any]] = []
    errors: dict[str, list[Error]] = {"main": [], "worker": []}
    for line in lines:
        if not line.startswith("{"):
            continue
        values = json.loads(line)
        if "uncaught in" in values:
            errors[values["uncaught in"]].append(Error(values["type"], values["text"]))
        else:
            said.append(values)
    return Outcome(said, errors["main"][0] if errors["main"] else None, errors["worker"], hung, stderr)


def is_about_local(error: object, name: str) -> bool:
    """True if an error says that what a function defines cannot be pickled; the words vary with Python's version."""
    return re.match(rf"\w+Error: Can't (pickle|get) local object .*{re.escape(name)}", str(error)) is not None


def find_proofs() -> dict[str, Proof]:
    """All proofs by the code of their rule."""
    proofs: dict[str, Proof] = {}
    for path in sorted(HERE.glob("test_dl*.py")):
        proof: Proof = importlib.import_module(f"evidence.{path.stem}").PROOF
        assert path.stem == f"test_{proof.rule.lower()}", f"{path.name} proves {proof.rule}"
        proofs[proof.rule] = proof
    return proofs
