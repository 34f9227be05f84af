"""Running a script in a process of its own, with all of its DataLoaders watched.

The script runs as `python SCRIPT ARGUMENTS` would run it: Python itself imports it as the main module, waits for its
threads, and calls what it has registered for its end. A `sitecustomize` module has the process watch itself and write
down what it sees (see `child`); this process waits, and makes the report.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dataloader_lint.doctor.across_ranks import Group, symptoms_across
from dataloader_lint.doctor.child import PLAN, SEEN, TRIALS
from dataloader_lint.doctor.diagnosis import diagnose
from dataloader_lint.doctor.inside import read_lines
from dataloader_lint.doctor.measured import Trial
from dataloader_lint.doctor.report import Report
from dataloader_lint.doctor.seen import Seen
from dataloader_lint.doctor.watching import UnsupportedTorchError

_HOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hook")
_GRACE = 10.0  # seconds that a script may take to end after it was told to, by an exception and then by Ctrl-C
_NEXT_LOOK = 0.5
# What must not be handed on: the hook is found by an environment variable, and runs when `site` is imported.
_NO_FLAGS = ("-E", "-I", "-S", "-P", "-s")


@dataclass(frozen=True, slots=True)
class Script:
    """A script as it is given on a command line, and how long it may run.

    `seconds` is the time after which it is ended at its next batch, or soon after; 0 lets it run to its end. It also
    ends when one loader has given so many `batches`, if that is not 0. A loader that gives no batch for `stall`
    seconds raises; 0 lets it wait. `folder` is where it runs; "" for the working directory.
    """

    path: str
    arguments: tuple[str, ...] = ()
    seconds: float = 120.0
    batches: int = 0
    stall: float = 120.0
    folder: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Ran:
    """What came of a run: what was seen, how it ended, and the results of trials.

    `exit_code` is negative for a signal. `stopped` says in a sentence how the script ended, if not as scripts do;
    `is_ended` that its time was over.
    """

    seen: Seen
    exit_code: int
    stopped: str = ""
    is_interrupted: bool = False
    is_ended: bool = False
    trials: list[Trial] = field(default_factory=list)


def examine_script(script: Script, group: Group | None = None) -> tuple[Report, Ran]:
    """Run a script and watch it. Raises UnsupportedTorchError. What the script raises becomes a part of the report.

    `group` are the ranks that this one belongs to.
    """
    ran = run(script, {"indices": True} if group is not None else None)
    seen = ran.seen
    error = seen.error
    if not error and ran.exit_code < 0 and not ran.stopped:
        name = signal.strsignal(-ran.exit_code) or f"signal {-ran.exit_code}"
        error = f"signal {-ran.exit_code}: {name}"
    report = diagnose(
        seen.records,
        error=error,
        raised=seen.raised,
        machine=seen.machine,
        script=script.path,
        files=seen.files,
        more=symptoms_across(group, seen.records) if group is not None and not ran.is_interrupted else (),
    )
    report.stopped = ran.stopped
    return report, ran


def run(script: Script, plan: Mapping[str, Any] | None = None, **streams: Any) -> Ran:
    """Run a script, and return what was seen of it. Raises UnsupportedTorchError.

    `plan` is what else its process is told, `streams` are those of `subprocess.Popen`.
    """
    folder = tempfile.mkdtemp(prefix="dataloader-lint-")
    try:
        whole = {"seconds": script.seconds, "batches": script.batches, "stall": script.stall, **(plan or {})}
        with open(os.path.join(folder, PLAN), "w", encoding="utf-8") as file:
            json.dump(whole, file)
        ran = _waited_for(script, folder, streams)
        if ran.seen.problem:
            raise UnsupportedTorchError(ran.seen.problem)
        return ran
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _waited_for(script: Script, folder: str, streams: Mapping[str, Any]) -> Ran:
    variables = {**os.environ, **script.variables, "DATALOADER_LINT_FOLDER": folder}
    before = variables.get("PYTHONPATH")
    variables["PYTHONPATH"] = _HOOK if before is None else _HOOK + os.pathsep + before
    variables.pop("DATALOADER_LINT_PYTHONPATH", None)
    if before is not None:
        variables["DATALOADER_LINT_PYTHONPATH"] = "=" + before
    command = [sys.executable, *_flags(), script.path, *script.arguments]
    sys.stdout.flush()
    process = subprocess.Popen(command, env=variables, cwd=script.folder or None, **streams)
    waiting = _Waiting(process, script, folder)
    try:
        stopped = waiting.until_end()
    finally:
        if process.poll() is None:
            _end(process, folder)
    ran = Ran(_read(folder), process.returncode, stopped, waiting.is_interrupted, bool(stopped))
    if not stopped:
        ran.stopped = _how_it_ended(ran)
    with contextlib.suppress(OSError), open(os.path.join(folder, TRIALS), "rb") as file:
        ran.trials = pickle.load(file)
    return ran


def _how_it_ended(ran: Ran) -> str:
    seen, code = ran.seen, ran.exit_code
    if seen.is_enough and seen.is_last:
        return "The script was ended: it was watched for long enough (--seconds, --batches, --to-end)."
    if seen.is_interrupted or code == -signal.SIGINT:
        return "The script was interrupted."
    if code > 0 and not seen.error:
        how = "" if seen.is_last else ", at once (`os._exit`, or another program in its place)"
        return f"The script ended with exit code {code}{how}."
    if code == 0 and not seen.is_last:
        return "The script ended at once (`os._exit`, or another program in its place): what it did last was not seen."
    return ""


def _read(folder: str) -> Seen:
    """What the process wrote last, with what its workers wrote."""
    seen = Seen()
    with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError), open(os.path.join(folder, SEEN), "rb") as file:
        seen = pickle.load(file)
    for record in seen.records:
        record.workers = read_lines(record.folder)
    return seen


def _flags() -> list[str]:
    """The options of Python itself that this process was started with: those from the environment come anyway."""
    found: list[str] = []
    several = iter(sys.orig_argv[1:])
    for each in several:
        if not each.startswith("-") or each in ("-m", "-c", "-"):
            break
        if each in ("-X", "-W"):
            found += [each, next(several, "")]
        elif each not in _NO_FLAGS:
            found.append(each)
    return found


class _Waiting:
    """Waits for a script: hands signals on to it, and ends it if it does not end when it is told to."""

    def __init__(self, process: subprocess.Popen[Any], script: Script, folder: str) -> None:
        self._process = process
        self._folder = folder
        self._seconds = script.seconds
        self._end = time.monotonic() + script.seconds + _GRACE if script.seconds else None
        self._is_late = False
        self.is_interrupted = False

    def until_end(self) -> str:
        """Wait; who has ended the script, "" if that was itself."""
        with _signals_waited_for() as several:
            while self._process.poll() is None:
                if self._end is not None and time.monotonic() > self._end:
                    if self._is_late:
                        _end(self._process, self._folder)
                        return "The script did not end when it was told to, so it was killed."
                    self._is_late, self._end = True, time.monotonic() + _GRACE
                    self._process.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
                self._wait(several)
        if self._is_late:
            return f"The script was ended after {self._seconds:.0f} seconds (--seconds, --to-end)."
        return ""

    def _wait(self, several: set[signal.Signals]) -> None:
        if not several:
            try:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_NEXT_LOOK)
            except KeyboardInterrupt:
                self.is_interrupted = True
            return
        came = signal.sigtimedwait(several, _NEXT_LOOK)
        if came is None or came.si_signo == signal.SIGCHLD:
            return
        self.is_interrupted |= came.si_signo != signal.SIGHUP
        # Ctrl-C at a terminal comes to all processes there; what another process sends comes to this one alone.
        if came.si_code <= 0 or came.si_signo != signal.SIGINT:
            self._process.send_signal(came.si_signo)


@contextlib.contextmanager
def _signals_waited_for() -> Iterator[set[signal.Signals]]:
    """The signals that come to whoever waits for them, and interrupt nothing; none where no system call waits so."""
    if not hasattr(signal, "sigtimedwait"):
        yield set()
        return
    several = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, several)
    try:
        yield several
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(process: subprocess.Popen[Any], folder: str) -> None:
    """Kill a script and the workers of its loaders, and no other process that it has started."""
    import psutil

    workers = []
    with contextlib.suppress(psutil.Error):
        known = {int(name.partition(".")[0]) for _, _, names in os.walk(folder) for name in names if name[0].isdigit()}
        for child in psutil.Process(process.pid).children(recursive=True):
            # One that has not written anything yet is known by how multiprocessing starts it.
            with contextlib.suppress(psutil.Error):
                if child.pid in known or any("spawn_main" in part for part in child.cmdline()):
                    workers.append(child)
    process.kill()
    process.wait()
    for child in workers:
        with contextlib.suppress(psutil.Error):
            child.kill()
