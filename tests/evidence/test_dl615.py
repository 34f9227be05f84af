"""DL615: a model that is loaded again for every sample."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

HEAD = """
import probe
import torch
from torch.utils.data import DataLoader, Dataset

"""
MAIN = """

if __name__ == "__main__":
    torch.jit.save(torch.jit.script(torch.nn.Linear(4, 1)), "model.pt")
    real, loads = torch._C.import_ir_module, []
    torch._C.import_ir_module = lambda *arguments: loads.append(1) or real(*arguments)
    samples = sum(len(batch) for batch in DataLoader(Scores(32), batch_size=8))
    probe.say(samples=samples, loads=len(loads))
"""

PROOF = Proof(
    rule="DL615",
    symptom="the model is loaded 32 times for 32 samples",
    cure="it is loaded once",
    before=HEAD
    + """
class Scores(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return torch.jit.load("model.pt")(torch.ones(4)).detach()
"""
    + MAIN,
    after=HEAD
    + """
class Scores(Dataset):
    def __init__(self, count):
        self.count = count
        self.model = None

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.model is None:
            self.model = torch.jit.load("model.pt")
        return self.model(torch.ones(4)).detach()
"""
    + MAIN,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {"samples": 32, "loads": 32}
    assert PROOF.run_after(tmp_path).values == {"samples": 32, "loads": 1}
