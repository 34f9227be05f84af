"""DL405: a copy to MPS that does not block reads memory that is free already. Needs a Mac; never measured here."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Need, Proof

PROOF = Proof(
    rule="DL405",
    needs=(Need.MPS,),
    symptom="some of 2,000 batches arrive changed (needs MPS)",
    cure="all batches arrive as they were (needs MPS)",
    before="""
    import probe
    import torch

    if torch.cuda.is_available():
        device = torch.device("cuda")
    else:
        device = torch.device("mps")


    def changed(count):
        found = 0
        for number in range(count):
            batch = torch.full((256, 1024), float(number))
            batch = batch.to(device, non_blocking=True)
            torch.full((256, 1024), -1.0)
            found += int((batch != number).any())
        return found


    if __name__ == "__main__":
        probe.say(changed=changed(2000))
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values["changed"] > 0
    assert PROOF.run_after(tmp_path).values["changed"] == 0
