"""DL301: `persistent_workers=True` without workers."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROOF = Proof(
    rule="DL301",
    symptom="ValueError: persistent_workers option needs num_workers > 0, from the constructor",
    cure="the loader is made and gives all 8 batches",
    before="""
    import probe
    from torch.utils.data import DataLoader


    def make(dataset):
        return DataLoader(dataset, num_workers=0, persistent_workers=True)


    if __name__ == "__main__":
        loader = make(range(8))
        probe.say(batches=len(list(loader)))
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    raised = PROOF.run_before(tmp_path).raised
    assert str(raised) == "ValueError: persistent_workers option needs num_workers > 0"
    assert PROOF.run_after(tmp_path).values == {"batches": 8}
