"""The tests in this folder run programs under real torch: `-m 'not evidence'` leaves them out."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

# Memory, threads and processes are read from /proc.
collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]

# The programs end early (see platform_default.py): how long an end takes is for measurements, which do not come here.
os.environ["PROOF_QUICK_END"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # That the linter reports the programs takes no torch.
        if Path(__file__).parent in item.path.parents and item.path.name != "test_proofs.py":
            item.add_marker(pytest.mark.evidence)


@pytest.fixture
def cuda() -> None:
    """For `@pytest.mark.usefixtures`: skips a test where there is no GPU, without loading torch for all the others."""
    import torch

    if not torch.cuda.is_available():
        pytest.skip("needs CUDA")


@pytest.fixture
def two_cpus() -> None:
    """For `@pytest.mark.usefixtures`: skips a test where a library would start no second thread anyway."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
