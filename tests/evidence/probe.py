"""What programs under proof may import to say what they see: `import probe`. Copied beside each of them.

Everything is a count or a number of bytes, so that no proof depends on the clock.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Iterable
from pathlib import Path


def say(**values: object) -> None:
    """Write one JSON object as one line to standard output, in one piece, from whichever process this is."""
    os.write(1, (json.dumps(values) + "\n").encode())


def attempt(*cases: Callable[[], object]) -> None:
    """Call each function and say what it returns, or raises as "type: text", under its name.

    Where the program was given several start methods, all of that with each of them, whose name comes first.
    """
    methods = os.environ["PROOF_START_METHOD"].split(",")
    for method in methods:
        if len(methods) > 1:
            multiprocessing.set_start_method(method, force=True)
        for case in cases:
            try:
                result: object = case()
            except Exception as error:
                result = f"{type(error).__name__}: {error}"
            say(**{f"{method} {case.__name__}" if len(methods) > 1 else case.__name__: result})


def processes() -> list[int]:
    """The process numbers of this program: its main process, its workers, and their fork server or resource tracker."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getpgid(int(entry.name)) == os.getpgrp():
                    found.append(int(entry.name))
            except ProcessLookupError:  # ended meanwhile
                continue
    return sorted(found)


def memory() -> int:
    """Bytes of memory of all processes of this program; a page that several share counts once in all (their `Pss`).

    Without the pages of files such as torch's libraries: how those are counted depends on who else has them open.
    """
    total = 0
    for process in processes():
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
    return total


def bytes_per_sample(make_loader: Callable[[int], Iterable[object]], few: int = 1_000, many: int = 300_000) -> float:
    """Bytes that workers add to the memory of this program in an epoch, for each sample, from `few` samples to `many`.

    `make_loader` gets the number of samples and makes a loader whose workers are persistent: what they hold when they
    have done an epoch is what counts, beyond what the main process held before they were started.
    """

    def cost(samples: int) -> int:
        loader = make_loader(samples)
        alone = memory()
        for _ in loader:
            pass
        return memory() - alone

    cost(few)  # starts what stays: the fork server, and what the first loader of a process loads
    base = cost(few)
    return (cost(many) - base) / (many - few)


def threads() -> int:
    """How many threads this process has now."""
    return len(os.listdir("/proc/self/task"))  # noqa: PTH208 (only their number is asked for)


def open_files() -> int:
    """How many file descriptors this process has open now."""
    return len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208 (as above; one of them reads the folder)
