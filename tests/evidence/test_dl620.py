"""DL620: `itertools.cycle` over a loader."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

HEAD = """
import itertools
import weakref

import probe
import torch
from torch.utils.data import DataLoader, TensorDataset


def look(batches):
    epochs, alive = [], []
    for _ in range(2):
        epoch = []
        for _ in range(4):
            (batch,) = next(batches)
            epoch.append(batch.tolist())
            alive.append(weakref.ref(batch))
            del batch
        epochs.append(epoch)
    kept = sum(each() is not None for each in alive[:4])
    probe.say(kept=kept, same=epochs[0] == epochs[1])


"""

PROOF = Proof(
    rule="DL620",
    symptom="all 4 batches of the first epoch are alive after it, and the second epoch has the same order",
    cure="none of them is, and the order is another one",
    before=HEAD
    + """
if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.arange(64)), batch_size=16, shuffle=True)
    look(itertools.cycle(loader))
""",
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {"kept": 4, "same": True}
    assert PROOF.run_after(tmp_path).values == {"kept": 0, "same": False}
