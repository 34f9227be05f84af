"""What holds for all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

# A shell starts what runs in its background with Ctrl-C ignored, and so would be the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

RELIABILITY = Path(__file__).parent / "reliability"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What tries many files, layouts, sizes or interruptions is thorough."""
    for item in items:
        if RELIABILITY in item.path.parents:
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session", autouse=True)
def no_project(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Leave the clone: for a file called `a.py` its whole project is read, and here that has 1,700 files."""
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
