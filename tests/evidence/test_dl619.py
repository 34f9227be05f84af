"""DL619: the state of a loader is loaded after its iterator was made."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

HEAD = """
import sys

import probe
from torchdata.stateful_dataloader import StatefulDataLoader


def saved(workers):
    loader = StatefulDataLoader(range(40), batch_size=2, num_workers=workers)
    batches = iter(loader)
    for _ in range(6):
        next(batches)
    return loader.state_dict()


"""

PROOF = Proof(
    rule="DL619",
    symptom="a run that is resumed after 12 samples gets samples 0 and 1",
    cure="gets samples 12 and 13",
    before=HEAD
    + """
def resumed(state, workers):
    loader = StatefulDataLoader(range(40), batch_size=2, num_workers=workers)
    batches = iter(loader)
    loader.load_state_dict(state)
    return next(batches).tolist()


if __name__ == "__main__":
    workers = int(sys.argv[1])
    probe.say(batch=resumed(saved(workers), workers))
""",
    after=HEAD
    + """
def resumed(state, workers):
    loader = StatefulDataLoader(range(40), batch_size=2, num_workers=workers)
    loader.load_state_dict(state)
    batches = iter(loader)
    return next(batches).tolist()


if __name__ == "__main__":
    workers = int(sys.argv[1])
    probe.say(batch=resumed(saved(workers), workers))
""",
)


@pytest.mark.parametrize("workers", [0, 2])
def test_symptom_goes_away(workers: int, tmp_path: Path) -> None:
    pytest.importorskip("torchdata")
    assert PROOF.run_before(tmp_path, str(workers)).values == {"batch": [0, 1]}
    assert PROOF.run_after(tmp_path, str(workers)).values == {"batch": [12, 13]}
