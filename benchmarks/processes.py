"""Starts the programs that tests, benchmarks and docs run, so that none of them can be waited for forever.

Each program gets a time limit, a process group of its own that is killed whole at the end, and files instead of pipes:
a pipe stays open as long as any grandchild holds it, and whoever reads it waits as long.

    done = run([sys.executable, "script.py"], input="text", cwd=folder)
    with started([sys.executable, "script.py"]) as running:
        line = running.next_line()

`python -m benchmarks.processes SECONDS COMMAND ...` runs a command like that, with its output where it is. All of it
needs POSIX.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TypedDict, Unpack

SECONDS = 300.0
"""The default time limit. It only ends what hangs, so a busy machine must not reach it."""

_SECONDS_FOR_STACKS = 5.0
_PAUSE = 0.01


class Options(TypedDict, total=False):
    """How a program is started.

    It is killed after `seconds`, by default `SECONDS`. `input` is what it reads from standard input. `stdout` and
    `stderr` are handles for what must not go into temporary files, such as a terminal. The others are those of
    `subprocess.Popen`.
    """

    seconds: float
    input: str | bytes | None
    cwd: str | os.PathLike[str]
    env: Mapping[str, str]
    stdout: int
    stderr: int
    pass_fds: Sequence[int]


Command = Sequence[str | os.PathLike[str]]


@dataclass(slots=True)
class Running:
    """A program that was started, and what it wrote so far."""

    process: subprocess.Popen[bytes]
    _out: IO[bytes] | None
    _err: IO[bytes] | None
    _expired: threading.Event
    _read: int = 0

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self.process.pid

    @property
    def out(self) -> bytes:
        """Standard output so far; empty where it goes elsewhere."""
        return _content(self._out)

    @property
    def err(self) -> bytes:
        """Standard error so far; empty where it goes elsewhere."""
        return _content(self._err)

    def wait(self) -> int:
        """Wait for the end of the process, not of its children; returns the exit code. Raises TimeoutError."""
        code = self.process.wait()
        self._check()
        return code

    def next_line(self, seconds: float = SECONDS) -> str:
        """The next line of standard output, without its end.

        Raises:
            TimeoutError: it did not come in time.
            EOFError: the process ended without it.
        """
        limit = time.monotonic() + seconds
        while True:
            has_ended = self.process.poll() is not None
            line, end, _ = self.out[self._read :].partition(b"\n")
            if end:
                self._read += len(line) + 1
                return _text(line)
            self._check()
            if has_ended:
                raise EOFError(f"{self.process.args!r} ended with {self.process.returncode}\n{_text(self.err)}")
            if time.monotonic() > limit:
                raise TimeoutError(f"{self.process.args!r}: no line within {seconds} s\n{_text(self.err)}")
            time.sleep(_PAUSE)

    def kill(self) -> None:
        """Kill the process and all others of its group."""
        kill_group(self.pid)

    def _check(self) -> None:
        if self._expired.is_set():
            written = _text(self.out[-2_000:]) + _text(self.err[-20_000:])
            raise TimeoutError(f"{self.process.args!r} was killed at its time limit\n{written}")


@contextlib.contextmanager
def started(command: Command, **options: Unpack[Options]) -> Iterator[Running]:
    """Start a program. At the end of the block it is killed, with all that it has started.

    At its time limit it is killed as well; Python programs write the stacks of all threads to standard error before.
    """
    with contextlib.ExitStack() as files:
        out = files.enter_context(tempfile.TemporaryFile()) if "stdout" not in options else None
        err = files.enter_context(tempfile.TemporaryFile()) if "stderr" not in options else None
        given = None
        content = options.get("input")
        if content is not None:
            given = files.enter_context(tempfile.TemporaryFile())
            given.write(content.encode() if isinstance(content, str) else content)
            given.seek(0)
        process = subprocess.Popen(
            command,
            stdin=given or subprocess.DEVNULL,
            stdout=out or options.get("stdout"),
            stderr=err or options.get("stderr"),
            cwd=options.get("cwd"),
            env={"PYTHONFAULTHANDLER": "1", **options.get("env", os.environ)},
            pass_fds=options.get("pass_fds", ()),
            start_new_session=True,
        )
        done, expired = threading.Event(), threading.Event()
        limit = options.get("seconds", SECONDS)
        threading.Thread(target=_guard, args=(process.pid, limit, done, expired), daemon=True).start()
        try:
            yield Running(process, out, err, expired)
        finally:
            done.set()
            kill_group(process.pid)
            process.wait()


def run(command: Command, *, check: bool = False, **options: Unpack[Options]) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; what it writes is taken for UTF-8.

    Raises:
        TimeoutError: it took longer than it may.
        subprocess.CalledProcessError: with `check`, it exits with something else than 0.
    """
    done = run_bytes(command, **options)
    out, err = _text(done.stdout), _text(done.stderr)
    if check and done.returncode:
        error = subprocess.CalledProcessError(done.returncode, done.args, out, err)
        error.add_note(out[-2_000:] + err[-2_000:])
        raise error
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def run_bytes(command: Command, **options: Unpack[Options]) -> subprocess.CompletedProcess[bytes]:
    """As `run`, with what the program writes as bytes."""
    with started(command, **options) as running:
        code = running.wait()
        return subprocess.CompletedProcess(running.process.args, code, running.out, running.err)


def kill_group(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to all processes of a group that `started` made."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS refuses where only dead ones are left
        os.killpg(pid, number)


def _guard(pid: int, seconds: float, done: threading.Event, expired: threading.Event) -> None:
    """End a group at its time limit; processes that do not end by SIGABRT are killed."""
    if done.wait(seconds):
        return
    expired.set()
    kill_group(pid, signal.SIGABRT)
    if not done.wait(_SECONDS_FOR_STACKS):
        kill_group(pid)


def _content(file: IO[bytes] | None) -> bytes:
    """What a file holds, read without `seek`: the process that writes it shares its position."""
    return b"" if file is None else os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def main() -> int:
    """Run a command with a time limit; its exit code, or 124 as of `timeout` where it was killed."""
    seconds, *command = sys.argv[1:]
    with started(command, seconds=float(seconds), stdout=1, stderr=2) as running:
        try:
            return running.wait()
        except TimeoutError as error:
            print(error, file=sys.stderr)
            return 124


if __name__ == "__main__":
    sys.exit(main())
