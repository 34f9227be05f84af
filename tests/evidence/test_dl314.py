"""DL314: the default device is CUDA, and the sampler's generator is on the CPU."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Need, Proof

PROGRAM = """
import probe
import torch
from torch.utils.data import DataLoader


if __name__ == "__main__":
    torch.set_default_device("cuda")
    loader = DataLoader(range(8), batch_size=4, shuffle=True)
    probe.say(samples=sum(len(batch) for batch in loader))
"""

PROOF = Proof(
    rule="DL314",
    symptom="RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'",
    cure="all samples come",
    before=PROGRAM,
    needs=(Need.CUDA,),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    raised = PROOF.run_before(tmp_path).raised
    assert str(raised) == "RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'"
    assert PROOF.run_after(tmp_path).values == {"samples": 8}
