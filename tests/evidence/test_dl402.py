"""DL402: `non_blocking=True` on batches that are not pinned. Needs CUDA: nothing is pinned without."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Need, Proof

PROOF = Proof(
    rule="DL402",
    needs=(Need.CUDA,),
    symptom="of 8 batches that are copied with non_blocking=True none is pinned (needs CUDA)",
    cure="all 8 are pinned (needs CUDA)",
    before="""
    import sys
    import time

    import probe
    import torch
    from torch.utils.data import DataLoader

    ROWS = int(sys.argv[1])


    def train(dataset, device):
        loader = DataLoader(dataset, batch_size=len(dataset) // 8)
        pinned, seconds = 0, 0.0
        for images in loader:
            pinned += images.is_pinned()
            torch.cuda.synchronize()
            start = time.perf_counter()
            images = images.to(device, non_blocking=True)
            seconds += time.perf_counter() - start
        return pinned, seconds


    if __name__ == "__main__":
        pinned, seconds = train(torch.zeros(ROWS, 1024), torch.device("cuda"))
        probe.say(pinned=pinned, seconds=seconds)
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path, "1024").values["pinned"] == 0
    assert PROOF.run_after(tmp_path, "1024").values["pinned"] == 8
