"""What begins inside a worker, and what is read of all that the processes wrote.

The main process reads the files when the workers are done or dead.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import partial
from json import loads as _loads
from typing import Any

from dataloader_lint.doctor.meter import Meter
from dataloader_lint.doctor.quiet_files import read


class InWorker:
    """A `worker_init_fn` that calls the user's own, then has the worker measure itself.

    `reads_memory` asks for its memory after the first batches, whatever that costs.
    """

    def __init__(
        self,
        own: Callable[[int], object] | None,
        folder: str,
        round: int,  # noqa: A002
        reads_memory: bool,
    ) -> None:
        self.own = own
        self.folder = folder
        self.round = round
        self.reads_memory = reads_memory

    def __call__(self, worker: int) -> None:
        if self.own is not None:
            self.own(worker)
        if isinstance(self.own, partial) and any(isinstance(each, InWorker) for each in self.own.args):
            return  # torch has wrapped one of these for a pipe of datasets
        with contextlib.suppress(Exception):  # a worker that cannot be measured must still work
            self._begin(worker)

    def _begin(self, worker: int) -> None:
        from torch.utils import data

        info: Any = data.get_worker_info()
        kinds: Any = data._DatasetKind
        path = os.path.join(self.folder, f"{os.getpid()}.jsonl")
        meter = Meter(info.dataset, worker, self.round, path, reads_memory=self.reads_memory)
        create = kinds.create_fetcher

        def create_fetcher(*arguments: Any, **named: Any) -> Any:
            fetcher = create(*arguments, **named)
            meter.attach(fetcher)
            return fetcher

        kinds.create_fetcher = staticmethod(create_fetcher)
        _note_processes(meter)


def _note_processes(meter: Meter) -> None:
    """Have a worker write down each process that it tries to start."""
    from multiprocessing import process as module

    base: Any = module.BaseProcess
    start = base.start

    def noted(process: Any) -> Any:
        meter.write("process", name=type(process).__name__)
        return start(process)

    base.start = noted


def read_lines(folder: str) -> dict[int, list[dict[str, Any]]]:
    """What the processes have written so far, by process id; a line that a killed one left unfinished is skipped."""
    found: dict[int, list[dict[str, Any]]] = {}
    try:
        names = sorted(os.listdir(folder))
    except OSError:  # the program has cleared its temporary files
        return found
    for name in names:
        pid, _, end = name.partition(".")
        if end != "jsonl" or not pid.isdigit():
            continue
        lines = []
        for line in read(os.path.join(folder, name)).splitlines():
            with contextlib.suppress(ValueError):
                lines.append(_loads(line))
        found[int(pid)] = lines
    return found
