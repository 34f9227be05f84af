"""DL403: batches are pinned for a GPU that they never go to."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROOF = Proof(
    rule="DL403",
    symptom="torch warns that it found no accelerator; where there is one, every batch is copied to pinned memory",
    cure="no warning, and no batch is pinned",
    before="""
    import warnings

    import probe
    import torch
    from torch.utils.data import DataLoader


    def train(dataset):
        device = torch.device("cpu")
        loader = DataLoader(dataset, batch_size=4, pin_memory=True)
        pinned = 0
        for images in loader:
            pinned += images.is_pinned()
            images = images.to(device)
        return pinned


    if __name__ == "__main__":
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pinned = train(torch.zeros(16, 8))
        text = "no accelerator is found, then device pinned memory won't be used"
        probe.say(warnings=sum(text in str(each.message) for each in caught), pinned=pinned)
        probe.say(accelerator=torch.accelerator.is_available())
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_before(tmp_path).values, PROOF.run_after(tmp_path).values
    assert (before["warnings"], before["pinned"]) == ((0, 4) if before["accelerator"] else (1, 0))
    assert (after["warnings"], after["pinned"]) == (0, 0)
