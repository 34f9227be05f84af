"""Runs programs under torch, each in a forked process of its own: `python run_programs.py < [[before, after], ...]`.

Answers with a line of JSON for each pair: what the two printed, and the exceptions that ended them.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import tempfile
import traceback
import warnings

import numpy as np
import torch
import torch.utils.data

SECONDS = 60


def outcome(text: str) -> tuple[str, str]:
    """What a program printed, and the exception that ended it, empty where it came to its end."""
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as answer:
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            try:
                json.dump(_run(text), answer)
                answer.flush()
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        answer.seek(0)
        said = answer.read()
    return tuple(json.loads(said)) if said else ("", f"ended with status {status}")


def _run(text: str) -> tuple[str, str]:
    printed = io.StringIO()
    torch.manual_seed(0)
    np.random.seed(0)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, "program.py", "exec"), {"__name__": "__main__"})
        except Exception as error:
            # The last line: those of a worker's error hold its traceback, and so line numbers.
            return printed.getvalue(), "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    return printed.getvalue(), ""


if __name__ == "__main__":
    torch.set_num_threads(1)
    for before, after in json.load(sys.stdin):
        print(json.dumps([outcome(before), outcome(after)]), flush=True)
