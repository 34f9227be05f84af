"""Running a script with all of its DataLoaders watched."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import traceback
import types
from collections.abc import Iterator, Sequence

from dataloader_lint.doctor.diagnosis import diagnose
from dataloader_lint.doctor.records import LoaderRecord
from dataloader_lint.doctor.report import Report
from dataloader_lint.doctor.watch import Watch

_GRACE = 30.0  # seconds that a script may take to end after it was told to


class Enough(BaseException):
    """Ends a script that has been watched for long enough; `except Exception` of the script lets it pass."""


def run_script(
    path: str,
    arguments: Sequence[str] = (),
    *,
    seconds: float = 120.0,
    batches: int = 0,
    stall: float = 120.0,
    trials: bool = False,
) -> Report:
    """Run a script as `python SCRIPT ARGUMENTS` would, and return the report on its loaders.

    Args:
        path: the script.
        arguments: what it finds in `sys.argv[1:]`.
        seconds: the script is ended at the first batch after so many seconds, or soon after; 0 lets it run to its end.
        batches: it is ended when one loader has given so many batches; 0 for no such limit.
        stall: a loader that gives no batch for so many seconds raises; 0 lets it wait.
        trials: afterwards, iterate the loader that was waited for longest with other settings.

    Raises UnsupportedTorchError. What the script raises is printed, and becomes a part of the report.
    """
    with _as_main(path, arguments) as main:
        # The report is made while the script is still the main module: pickling looks its classes up there.
        outcome = _Outcome(Watch(stall=stall).start(), seconds, batches)
        outcome.run(path, main)
        report = diagnose(outcome.records, error=outcome.error, script=path, files=outcome.files)
        report.stopped = outcome.stopped
        if trials and outcome.records:
            from dataloader_lint.doctor.trials import try_settings

            report.trials = try_settings(max(outcome.records, key=lambda each: each.waited).loader)
    return report


class _Outcome:
    """How the run of a script ended, and what was seen until then."""

    def __init__(self, watch: Watch, seconds: float, batches: int) -> None:
        self.records: list[LoaderRecord] = []
        self.error = self.stopped = ""
        self.files: list[str] = []
        self._watch = watch
        self._seconds = seconds
        self._batches = batches
        self._end = time.monotonic() + seconds if seconds else None

    def run(self, path: str, main: types.ModuleType) -> None:
        """Run the script in the module `main`; at the end no process that it has started is left."""
        self._watch.on_batch = self._on_batch
        try:
            with open(path, "rb") as file:
                code = compile(file.read(), path, "exec")
            with _ended_at(self._end):
                exec(code, vars(main))
        except Enough:
            self.stopped = "The script was ended: it was watched for long enough (--seconds, --batches, --to-end)."
        except KeyboardInterrupt:
            is_late = self._end is not None and time.monotonic() >= self._end
            after = f"ended after {self._seconds:.0f} seconds (--seconds, --to-end)" if is_late else "interrupted"
            self.stopped = f"The script was {after}."
        except SystemExit as raised:
            if raised.code not in (None, 0):
                self.stopped = f"The script ended with exit code {raised.code}."
        except Exception as raised:
            self.error = "".join(traceback.format_exception_only(raised)).strip()
            self.files = [frame.filename for frame in traceback.extract_tb(raised.__traceback__)]
            traceback.print_exc()
        finally:
            self.records = self._watch.stop()
        _end_children()

    def _on_batch(self, record: LoaderRecord) -> None:
        is_over = self._end is not None and time.monotonic() > self._end
        if is_over or (self._batches and record.batches >= self._batches):
            raise Enough


@contextlib.contextmanager
def _as_main(path: str, arguments: Sequence[str]) -> Iterator[types.ModuleType]:
    """A module for a script to run in, as `__main__`, with the arguments and the module path that it finds."""
    argv, modules, before = sys.argv, list(sys.path), sys.modules["__main__"]
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__spec__ = None
    vars(main)["__builtins__"] = __builtins__
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    sys.modules["__main__"] = main
    try:
        yield main
    finally:
        sys.modules["__main__"] = before
        sys.argv = argv
        sys.path[:] = modules


@contextlib.contextmanager
def _ended_at(end: float | None) -> Iterator[None]:
    """Interrupt the main thread some time after the end, and end the process with its workers if that does not help."""
    if end is None:
        yield
        return
    done = threading.Event()

    def guard() -> None:
        if done.wait(max(0.0, end - time.monotonic()) + 5):
            return
        import _thread
        import signal

        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            _thread.interrupt_main()
        if done.wait(_GRACE):
            return
        message = "dataloader-lint: the script does not end; its stacks follow, and then it is ended"
        print(message, file=sys.stderr, flush=True)
        import faulthandler

        faulthandler.dump_traceback()
        _end_children()
        os._exit(2)

    threading.Thread(target=guard, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _end_children() -> None:
    """End what the script has started and left behind: workers of loaders that are still referred to."""
    import psutil

    helpers = ("resource_tracker", "forkserver")
    children = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if not any(name in part for part in child.cmdline() for name in helpers):
                children.append(child)
    for child in children:
        with contextlib.suppress(psutil.Error):
            child.terminate()
    _, alive = psutil.wait_procs(children, timeout=3)
    for child in alive:
        with contextlib.suppress(psutil.Error):
            child.kill()
