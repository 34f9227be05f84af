"""Runs programs under the stand-in for torch, each in a forked process: `python run_fix_programs.py < lines of JSON`.

Each line is [folder, main file, environment]. Answers with a line for each: what was printed, the copies that were
asked for, and the exception that ended it.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import signal
import sys
import traceback
import types
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "stub_torch"))

import cv2
import numpy as np
import pytest
import torch
import torch.utils.data
import torchvision
from torch.utils.data import workers

SECONDS = 10
LOADED = (asyncio, cv2, np, pytest, torch, torchvision, unittest)


def outcome(folder: str, main: str, environment: dict[str, str]) -> Any:
    """What a program printed and noted, and the exception that ended it."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(here)
        os.setpgid(0, 0)
        signal.alarm(SECONDS)
        answer: Any = ["", [], "ended early"]
        try:
            os.environ.update(environment)
            workers.DEFAULT_METHOD = environment.get("STUB_START_METHOD", "fork")
            workers.FOLDER = folder
            answer = _run(folder, main)
        finally:
            with os.fdopen(there, "w") as stream:
                json.dump(answer, stream)
            os._exit(0)
    os.close(there)
    with os.fdopen(here) as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return json.loads(said) if said else ["", [], f"ended with status {status}"]


def _run(folder: str, main: str) -> Any:
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    path = str(Path(folder) / main)
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module  # as multiprocessing does
    sys.argv = [path]
    error = ""
    printed = io.StringIO()
    torch.state.start_again()
    np.random.seed(0)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            code = compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
            exec(code, module.__dict__)
        except BaseException as raised:
            error = "".join(traceback.format_exception_only(raised)).strip().splitlines()[-1]
            if isinstance(raised, SyntaxError):
                error = f"SyntaxError: {raised}"
    return [printed.getvalue(), torch.state.noted, error]


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(outcome(*json.loads(line))), flush=True)
