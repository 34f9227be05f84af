"""DL504: where cv2 does run in workers after all, nothing limits its threads there."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Need, Proof

LOADER = """
import importlib

import probe
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, library):
        self.library = library

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return importlib.import_module(self.library).getNumThreads()

"""
MAIN = """

def threads():
    return [int(batch) for batch in DataLoader(Images("cv2"), num_workers=2)]


if __name__ == "__main__":
    probe.attempt(threads)
"""
PROOF = Proof(
    rule="DL504",
    needs=(Need.TWO_CPUS,),
    symptom="in workers that use it, OpenCV counts on one thread for each CPU",
    cure="it counts on 1",
    before="\nimport cv2" + LOADER + MAIN,
    after="\nimport cv2" + LOADER + "\ncv2.setNumThreads(0)\n" + MAIN,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    for before, after in PROOF.attempt_each(tmp_path, start_methods=["fork", "forkserver"]).values():
        assert min(before["threads"]) > 1
        assert after == {"threads": [1, 1]}
