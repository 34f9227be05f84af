"""DL317: parts of torchdata that are gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

PROGRAM = """
import probe
from {package}.datapipes.iter import IterableWrapper

if __name__ == "__main__":
    probe.say(samples=len(list(IterableWrapper(range(8)).sharding_filter())))
"""

PROOF = Proof(
    rule="DL317",
    symptom="ModuleNotFoundError: No module named 'torchdata.datapipes'",
    cure="gives all samples",
    before=PROGRAM.format(package="torchdata"),
    after=PROGRAM.format(package="torch.utils.data"),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_after(tmp_path).values == {"samples": 8}
    pytest.importorskip("torchdata")
    assert str(PROOF.run_before(tmp_path).raised) == "ModuleNotFoundError: No module named 'torchdata.datapipes'"
