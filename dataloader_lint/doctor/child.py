"""Inside the process of a script that is watched. Imports nothing that the script would not find untouched.

Modules such as `logging` and `weakref` register what runs at exit, in the order of their import, so this one takes none
of them before the script does: torch brings them all.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
import time
from importlib.machinery import PathFinder

from dataloader_lint.doctor.quiet_files import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any

    from dataloader_lint.doctor.records import LoaderRecord
    from dataloader_lint.doctor.watching import Watch

PLAN, SEEN, TRIALS = "plan.json", "seen.pickle", "trials.pickle"
_THREADS = "OMP_NUM_THREADS"
_HOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hook")
_PAUSE = 2.0  # seconds between two times that what was seen is written down
_SHARE = 0.0025  # of the time that this may take
_SHARE_OF_CHANGES = 0.01  # where an epoch has ended, or something was raised, and at first 0.1 seconds


class Enough(SystemExit):
    """Ends a script that has been watched for long enough, without a word, as `sys.exit()` would."""


def begin(folder: str) -> None:
    """Watch this process as the plan in the folder says, from the moment that it has imported torch's loaders."""
    with open(os.path.join(folder, PLAN), encoding="utf-8") as file:
        plan = json.load(file)
    watching = _Watching(folder, plan)
    atexit.register(watching.end)  # the first to be registered is the last to be called
    sys.meta_path.insert(0, _Finder("torch.utils.data", watching.start))


class _Watching:
    """The watch over this process, and what it leaves in the folder."""

    def __init__(self, folder: str, plan: dict[str, Any]) -> None:
        self._folder = folder
        self._plan = plan
        self._pid = os.getpid()
        self._end = time.monotonic() + plan["seconds"] if plan["seconds"] else None
        self._loop = plan.get("loop_seconds", 0.0)  # from the first batch
        self._threads = os.environ.get(_THREADS)
        self._watch: Watch | None = None
        self._dumps: Callable[[object], bytes] | None = None
        self._next = 0.0
        self._began = time.monotonic()
        self._spent = 0.0
        self._problem = ""
        self._is_enough = False

    def start(self) -> None:
        """Begin; torch's loaders have just been imported."""
        if os.getpid() != self._pid:
            return
        # Kept, as the script may put something else into the module.
        from pickle import dumps

        self._dumps = dumps
        from dataloader_lint.doctor import pickling, seen  # noqa: F401 (now: later, threads may fork)
        from dataloader_lint.doctor.watching import UnsupportedTorchError, Watch

        pickling.main_is_a_file = True
        if os.path.dirname(getattr(sys.modules.get("sitecustomize"), "__file__", "") or "") == _HOOK:
            del sys.modules["sitecustomize"]
        watch = Watch(stall=self._plan["stall"], folder=self._folder)
        watch.digests = self._plan.get("digests", 0)
        watch.indices = bool(self._plan.get("indices"))
        self._prepare()
        watch.on_batch, watch.on_change = self._on_batch, self._on_change
        if self._plan.get("try"):
            watch.on_loader = self._try
        try:
            self._watch = watch.start()
        except UnsupportedTorchError as error:
            self._problem = str(error)
            self._write()
            raise Enough from None

    def _prepare(self) -> None:
        """What a trial asks for, so that two runs can be compared: seeds, and how workers are started."""
        if self._plan.get("seeds"):
            import random

            import torch

            random.seed(0)
            torch._C.default_generator.manual_seed(0)  # torch itself is still being imported
            with contextlib.suppress(ImportError):
                import numpy.random

                numpy.random.seed(0)
        if self._plan.get("start_method"):
            import multiprocessing

            multiprocessing.set_start_method(self._plan["start_method"], force=True)

    def _on_batch(self, record: LoaderRecord) -> None:
        if self._loop and self._end is None:
            self._end = time.monotonic() + self._loop
        is_over = self._end is not None and time.monotonic() > self._end
        most = self._plan["batches"]
        if is_over or (most and record.batches >= most):
            self._is_enough = True
            raise Enough
        if time.monotonic() >= self._next:
            self._write()

    def _on_change(self) -> None:
        if self._spent <= max(0.1, _SHARE_OF_CHANGES * (time.monotonic() - self._began)):
            self._write()

    def _try(self, loader: Any, record: LoaderRecord) -> None:
        """Where the loader that is to be tried is iterated first, try it in place of what the script does with it."""
        target = self._plan["try"]
        if [*record.place] != target["place"] or record.dataset != target["dataset"]:
            return
        import pickle

        from dataloader_lint.doctor.trials import try_settings

        self._is_enough = True
        if self._watch is not None:
            self._watch.stop()  # trials are not watched
        trials = try_settings(loader, step=target["step"])
        replace(os.path.join(self._folder, TRIALS), pickle.dumps(trials))
        raise Enough

    def _write(self, *, is_last: bool = False) -> None:
        """Write down all that was seen until now, for the process that waits for this one."""
        from dataloader_lint.doctor.seen import Seen, machine, peak

        began = time.monotonic()
        seen = Seen(problem=self._problem, is_enough=self._is_enough, is_last=is_last)
        if self._watch is not None:
            seen.records, seen.raised, seen.losses = self._watch.records, self._watch.raised, self._watch.losses
        if is_last:
            seen.machine, seen.peak = machine(self._threads), peak()
            files = [getattr(each, "__file__", None) for each in list(sys.modules.values())]
            seen.modules = sorted({each for each in files if isinstance(each, str) and each.endswith(".py")})
            error = getattr(sys, "last_value", None)
            if isinstance(error, BaseException):
                import traceback

                seen.note(error, traceback.extract_tb(error.__traceback__))
        try:
            if self._dumps is None:
                from pickle import dumps

                self._dumps = dumps
            replace(os.path.join(self._folder, SEEN), self._dumps(seen))
        except Exception:  # a full disk, a folder that is gone, modules that the script has changed: it goes on
            self._next = float("inf")
        now = time.monotonic()
        self._spent += now - began
        self._next = max(self._next, now + max(_PAUSE, (now - began) / _SHARE))

    def end(self) -> None:
        """The last thing that the process does before it takes its modules apart."""
        if os.getpid() != self._pid:  # forked
            return
        with contextlib.suppress(Exception):  # a script that has taken Python's own functions away
            if self._watch is not None:
                self._watch.stop()
            self._write(is_last=True)


class _Finder:
    """Finds one module as usual, and has a function called when that was executed."""

    def __init__(self, name: str, call: Callable[[], object]) -> None:
        self._name = name
        self._call = call

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module, as Python's own finder gives it, and None for all others."""
        if fullname != self._name:
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        loader = spec.loader
        execute = loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            del loader.exec_module
            execute(module)
            self._call()

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
