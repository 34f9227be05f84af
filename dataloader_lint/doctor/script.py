"""Running a script with all of its DataLoaders watched."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from statistics import median

from dataloader_lint.doctor.diagnosis import diagnose
from dataloader_lint.doctor.records import LoaderRecord, Raised
from dataloader_lint.doctor.report import Report
from dataloader_lint.doctor.signals import ignore_children
from dataloader_lint.doctor.watch import UnsupportedTorchError, Watch

_GRACE = 10.0  # seconds that a script may take to end after it was told to, by an exception and then by Ctrl-C
_LAST = 60.0  # seconds for a report on a script that does not end
_THREADS = "OMP_NUM_THREADS"


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
    on_hang: Callable[[Report], None] | None = None,
) -> Report:
    """Run a script as `python SCRIPT ARGUMENTS` would, and return the report on its loaders.

    Args:
        path: the script.
        arguments: what it finds in `sys.argv[1:]`.
        seconds: the script is ended at the first batch after so many seconds, or soon after; 0 lets it run to its end.
        batches: it is ended when one loader has given so many batches; 0 for no such limit.
        stall: a loader that gives no batch for so many seconds raises; 0 lets it wait.
        trials: afterwards, iterate the loader that was waited for longest with other settings.
        on_hang: is called with the report, in another thread, where the script does not end after it was told to; then
            this process ends.

    Raises UnsupportedTorchError. What the script raises is printed, and becomes a part of the report.
    """
    with _as_main(path, arguments) as main:
        # The report is made while the script is still the main module: pickling looks its classes up there.
        outcome = _Outcome(path, Watch(stall=stall), seconds, batches)
        outcome.run(main, on_hang)
        report = outcome.report()
        if trials and outcome.records:
            from dataloader_lint.doctor.trials import try_settings, with_gains

            several = zip(outcome.records, report.loaders, strict=True)
            record, one = max(several, key=lambda pair: pair[0].waited + pair[0].started)
            report.trials = try_settings(record.loader, step=median(record.steps) if record.steps else 0.0)
            report.tried = f"{one.name}, whose loop waits for data {one.wait_share:.0%} of the time"
            with_gains(one, report.trials)
    return report


class _Outcome:
    """How the run of a script ended, and what was seen until then."""

    def __init__(self, path: str, watch: Watch, seconds: float, batches: int) -> None:
        self._path = path
        self.records: list[LoaderRecord] = []
        self.raised: list[Raised] = []
        self.threads: tuple[int, int] | None = None
        self.error = self.stopped = ""
        self.files: list[str] = []
        self._watch = watch
        self._seconds = seconds
        self._batches = batches
        self._end = time.monotonic() + seconds if seconds else None
        self._is_interrupted = False

    def report(self) -> Report:
        """The report on what was seen until now."""
        made = diagnose(
            self.records,
            error=self.error,
            raised=self.raised,
            threads=self.threads,
            script=self._path,
            files=self.files,
        )
        made.stopped = self.stopped
        return made

    def run(self, main: types.ModuleType, on_hang: Callable[[Report], None] | None) -> None:
        """Run the script in the module `main`; at the end no process that it has started is left."""

        def hang() -> None:
            self.records, self.raised = self._watch.stop(), self._watch.raised
            self.stopped = "The script did not end when it was told to, so it was killed."
            if on_hang is not None:
                on_hang(self.report())

        self._watch.on_batch = self._on_batch
        before = os.environ.get(_THREADS)
        try:
            with open(self._path, "rb") as file:
                code = compile(file.read(), self._path, "exec")
            with _ended_at(self._end, hang), after_import("torch.utils.data", self._watch.start), self._interruptible():
                try:
                    exec(code, vars(main))
                finally:
                    ignore_children()  # for good: what follows must not be interrupted
        except UnsupportedTorchError:
            raise
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
            self.raised = self._watch.raised
        if self._is_interrupted and not self.stopped:
            self.stopped = "The script was interrupted."
        self.threads = _late_limit(before)
        _end_children()

    def _on_batch(self, record: LoaderRecord) -> None:
        if self._is_interrupted:
            raise KeyboardInterrupt
        is_over = self._end is not None and time.monotonic() > self._end
        if is_over or (self._batches and record.batches >= self._batches):
            raise Enough

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Remember Ctrl-C, for the next batch to end the script: what is raised in a destructor is lost."""
        usual = signal.getsignal(signal.SIGINT)
        if usual is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
            yield
            return

        def interrupt(_number: int, _frame: types.FrameType | None) -> None:
            self._is_interrupted = True
            raise KeyboardInterrupt

        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)


def _late_limit(before: str | None) -> tuple[int, int] | None:
    """The threads that a script asked for in the environment and those that torch uses, if these are more."""
    asked = os.environ.get(_THREADS, "")
    torch = sys.modules.get("torch")
    if asked == before or not asked.isdigit() or torch is None:
        return None
    used = int(torch.get_num_threads())
    return (int(asked), used) if used > int(asked) else None


@contextlib.contextmanager
def after_import(name: str, call: Callable[[], object]) -> Iterator[None]:
    """Call a function when a module was imported, or now if it is there; within the block.

    Torch reads the environment when it is imported, so the script must be the one that does it.
    """
    if name in sys.modules:
        call()
        yield
        return
    finder = _Finder(name, call)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        finder.leave()


class _Finder(MetaPathFinder):
    """Finds one module as usual, and has a function called when that was executed."""

    def __init__(self, name: str, call: Callable[[], object]) -> None:
        self._name = name
        self._call = call

    def leave(self) -> None:
        """Find nothing any more."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module, as Python's own finder gives it, and None for all others."""
        if fullname != self._name:
            return None
        self.leave()
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            execute(module)
            self._call()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


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
def _ended_at(end: float | None, hang: Callable[[], None]) -> Iterator[None]:
    """Interrupt the main thread some time after the end.

    If that does not help, call `hang`, for no longer than a minute, and end the process with its workers.
    """
    if end is None:
        yield
        return
    done, sending = threading.Event(), threading.Lock()

    def guard() -> None:
        if done.wait(max(0.0, end - time.monotonic()) + _GRACE):
            return
        import _thread

        with sending:  # the signal comes while the script runs, or not at all
            if done.is_set():
                return
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
        last = threading.Thread(target=hang, daemon=True)
        last.start()
        last.join(_LAST)
        _end_children()
        os._exit(2)

    threading.Thread(target=guard, daemon=True).start()
    try:
        yield
    finally:
        with sending:
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
