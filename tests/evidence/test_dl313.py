"""DL313: samples that drop_last leaves out of a metric."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROOF = Proof(
    rule="DL313",
    symptom="of 158 samples, the last 31 with a larger error, 128 are counted: the mean error is 1.06",
    cure="all 158 are counted: the mean error is 2.52",
    before="""
    import probe
    import torch
    from torch.utils.data import DataLoader


    def evaluate(errors):
        loader = DataLoader(errors, batch_size=32, drop_last=True)
        total, count = 0.0, 0
        with torch.no_grad():
            for batch in loader:
                total += float(batch.sum())
                count += len(batch)
        return count, round(total / count, 2)


    if __name__ == "__main__":
        errors = torch.cat([torch.full((127,), 1.0), torch.full((31,), 8.75)])
        count, mean = evaluate(errors)
        probe.say(count=count, mean=mean)
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {"count": 128, "mean": 1.06}
    assert PROOF.run_after(tmp_path).values == {"count": 158, "mean": 2.52}
