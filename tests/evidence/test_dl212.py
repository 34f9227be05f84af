"""DL212: a worker calls its `worker_init_fn` with its number, so one without a parameter raises."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROOF = Proof(
    rule="DL212",
    symptom="TypeError: start() takes 0 positional arguments but 1 was given, at the first batch",
    cure="gives all batches",
    before="""
    import probe
    import torch
    from torch.utils.data import DataLoader


    def start():
        torch.set_default_dtype(torch.float64)


    def batches():
        loader = DataLoader([0.5, 1.5], num_workers=1, worker_init_fn=start)
        return [batch.tolist() for batch in loader]


    if __name__ == "__main__":
        probe.attempt(batches)
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    for before, after in PROOF.attempt_each(tmp_path, start_methods=["fork", "forkserver"]).values():
        assert before["batches"].startswith("TypeError: Caught TypeError in DataLoader worker process 0.")
        assert "TypeError: start() takes 0 positional arguments but 1 was given" in before["batches"]
        assert after == {"batches": [[0.5], [1.5]]}
