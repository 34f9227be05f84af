"""Becomes `sitecustomize.py` of a program under proof, so Python runs it at the start of each of its processes.

It makes `PROOF_START_METHOD` the default start method, as a platform does, so that the program need not set one itself.
A fork server has torch loaded already, as from Python 3.14 on, where it imports the script first. This file also
reports uncaught exceptions, of the main process and of workers that die while they start, as JSON lines, and spares the
tests, not the measurements, what Python does last.
"""

from __future__ import annotations

import atexit
import gc
import json
import multiprocessing
import multiprocessing.context as contexts
import os
import sys
from types import TracebackType

methods = os.environ["PROOF_START_METHOD"].split(",")  # `probe.attempt` goes through them
default = contexts._default_context
default._default_context = contexts._concrete_contexts[methods[0]]  # type: ignore[attr-defined]
multiprocessing.set_forkserver_preload(["torch"])
if "PROOF_QUICK_END" in os.environ:
    # As it ends, Python looks for garbage among all that torch has made: a third of the time of a short program.
    atexit.register(gc.freeze)
main_process = int(os.environ.setdefault("PROOF_MAIN_PROCESS", str(os.getpid())))


def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Write the exception as a line that `harness.run` reads, then as Python does."""
    place = "main" if os.getpid() == main_process else "worker"
    line = {"uncaught in": place, "type": kind.__name__, "text": str(error)}
    os.write(1, (json.dumps(line) + "\n").encode())
    sys.__excepthook__(kind, error, trace)


sys.excepthook = report
