"""DL215: tensors on CUDA that a Dataset keeps. Needs CUDA."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Need, Proof

PROOF = Proof(
    rule="DL215",
    needs=(Need.CUDA,),
    symptom="forked workers raise, and so does pinning (needs CUDA)",
    cure="without workers and pinning all samples come from the GPU (needs CUDA)",
    before="""
    import probe
    import torch
    from torch.utils.data import DataLoader, TensorDataset


    def with_workers():
        data = TensorDataset(torch.arange(4).cuda())
        return [batch[0].tolist() for batch in DataLoader(data, batch_size=2, num_workers=1)]


    def pinned():
        data = TensorDataset(torch.arange(4).cuda())
        return [batch[0].tolist() for batch in DataLoader(data, batch_size=2, pin_memory=True)]


    if __name__ == "__main__":
        probe.attempt(with_workers, pinned)
    """,
    after="""
    import probe
    import torch
    from torch.utils.data import DataLoader, TensorDataset


    def with_workers():
        data = TensorDataset(torch.arange(4).cuda())
        return [batch[0].tolist() for batch in DataLoader(data, batch_size=2)]


    def pinned():
        data = TensorDataset(torch.arange(4))
        return [batch[0].tolist() for batch in DataLoader(data, batch_size=2, pin_memory=True)]


    if __name__ == "__main__":
        probe.attempt(with_workers, pinned)
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before = PROOF.run_before(tmp_path).values
    assert "Cannot re-initialize CUDA in forked subprocess" in before["with_workers"]
    assert "only dense CPU tensors can be pinned" in before["pinned"]
    assert PROOF.run_after(tmp_path).values == {"with_workers": [[0, 1], [2, 3]], "pinned": [[0, 1], [2, 3]]}
