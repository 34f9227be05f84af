"""DL316: `.next()` on the iterator of a loader."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

PROOF = Proof(
    rule="DL316",
    symptom="AttributeError: '_SingleProcessDataLoaderIter' object has no attribute 'next'",
    cure="gives the first batch",
    before="""
    import sys

    import probe
    from torch.utils.data import DataLoader

    if __name__ == "__main__":
        loader = DataLoader(range(8), batch_size=4, num_workers=int(sys.argv[1]))
        probe.say(batch=iter(loader).next().tolist())
    """,
)


@pytest.mark.parametrize(("workers", "name"), [(0, "SingleProcess"), (1, "MultiProcessing")])
def test_symptom_goes_away(workers: int, name: str, tmp_path: Path) -> None:
    raised = PROOF.run_before(tmp_path, str(workers)).raised
    assert str(raised) == f"AttributeError: '_{name}DataLoaderIter' object has no attribute 'next'"
    assert PROOF.run_after(tmp_path, str(workers)).values == {"batch": [0, 1, 2, 3]}
