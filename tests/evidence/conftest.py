"""The tests in this folder run programs under real torch: `-m 'not evidence'` leaves them out."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from evidence.harness import Need, Proof

# Memory, threads and processes are read from /proc.
collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]

# The programs end early (see platform_default.py): how long an end takes is for measurements, which do not come here.
os.environ["PROOF_QUICK_END"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # That the linter reports the programs takes no torch.
        if Path(__file__).parent in item.path.parents and item.path.name != "test_proofs.py":
            item.add_marker(pytest.mark.evidence)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the tests of a proof whose programs show nothing on this machine."""
    proof = getattr(getattr(item, "module", None), "PROOF", None)
    unmet = proof.unmet() if isinstance(proof, Proof) else []
    if unmet:
        pytest.skip(f"needs {' and '.join(unmet)}")


@pytest.fixture
def cuda() -> None:
    """For `@pytest.mark.usefixtures`: skips one of several tests of a proof where there is no GPU."""
    if not Need.CUDA.is_met():
        pytest.skip("needs CUDA")
