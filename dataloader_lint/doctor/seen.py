"""What a process that is watched tells the one that waits for it: plain data, which goes through a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from traceback import FrameSummary

from dataloader_lint.doctor.records import LoaderRecord, Raised

_THREADS = "OMP_NUM_THREADS"


@dataclass(frozen=True, slots=True)
class Machine:
    """What torch finds there; None where nobody asked it.

    `threads` are how many the script asked for in the environment, too late, and how many torch uses.
    """

    has_cuda: bool | None = None
    has_accelerator: bool | None = None
    threads: tuple[int, int] | None = None


def machine(threads_before: str | None = None) -> Machine:
    """What holds for this process. `threads_before` is what OMP_NUM_THREADS was when it began."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda"):
        return Machine()
    has_cuda = bool(torch.cuda.is_available())
    has_any = bool(torch.accelerator.is_available()) if hasattr(torch, "accelerator") else has_cuda
    asked = os.environ.get(_THREADS, "")
    used = int(torch.get_num_threads())
    is_late = asked != threads_before and asked.isdigit() and used > int(asked)
    return Machine(has_cuda, has_any, (int(asked), used) if is_late else None)


def peak() -> int:
    """The most bytes that this process has held at a time; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@dataclass(slots=True)
class Seen:
    """What was seen of a script until now.

    `problem` is why it cannot be watched. `error` is the exception that ended it, and `files` are those of its
    traceback. `is_enough` says that the watch ended the script, and `is_last` that nothing follows.
    """

    records: list[LoaderRecord] = field(default_factory=list)
    raised: list[Raised] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)  # of the first steps, where runs are to be compared
    peak: int = 0  # bytes that the process held at most
    problem: str = ""
    error: str = ""
    files: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)  # the files of all modules that it has imported
    is_interrupted: bool = False
    is_enough: bool = False
    is_last: bool = False
    machine: Machine = field(default_factory=Machine)

    def note(self, error: BaseException, frames: Iterable[FrameSummary]) -> None:
        """Keep what ended the script."""
        if isinstance(error, Exception):
            text = str(error)
            name = type(error).__qualname__
            module = type(error).__module__
            shown = name if module in ("builtins", "__main__") else f"{module}.{name}"
            self.error = f"{shown}: {text}" if text else shown
            self.files = [frame.filename for frame in frames]
        self.is_interrupted = isinstance(error, KeyboardInterrupt)
