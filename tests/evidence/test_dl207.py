"""DL207: CUDA does not start a second time in a forked worker, and starts again in every spawned one."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Need, Proof

MAIN = """

def batches():
    found = []
    for image, started in DataLoader(Images(2), num_workers=1):
        found.append(image.to(device).tolist())
        probe.say(started_in_worker=bool(started))
    return found


if __name__ == "__main__":
    torch.zeros(1).to(device)
    probe.attempt(batches)
"""
PROOF = Proof(
    rule="DL207",
    needs=(Need.CUDA,),
    symptom="fork: RuntimeError: Cannot re-initialize CUDA in forked subprocess; spawn: CUDA starts in every worker",
    cure="every start method gives all batches, and CUDA starts in no worker",
    before="""
import probe
import torch
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Images(Dataset):
    def __init__(self, count):
        self.images = torch.arange(count)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index].to(device), torch.cuda.is_initialized()

"""
    + MAIN,
    after="""
import probe
import torch
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Images(Dataset):
    def __init__(self, count):
        self.images = torch.arange(count)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], torch.cuda.is_initialized()

"""
    + MAIN,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    for start_method, (before, after) in PROOF.run_each(tmp_path, start_methods=["fork", "spawn"]).items():
        assert after.values == {"batches": [[0], [1]], "started_in_worker": False}
        if start_method == "fork":
            assert "Cannot re-initialize CUDA in forked subprocess" in before.values["batches"]
        else:
            assert before.values == {"batches": [[0], [1]], "started_in_worker": True}
