"""DL212: a worker calls its `worker_init_fn` with its number, so one without a parameter raises."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import START_METHODS, Proof

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


    if __name__ == "__main__":
        loader = DataLoader([0.5, 1.5], num_workers=1, worker_init_fn=start)
        probe.say(batches=[batch.tolist() for batch in loader])
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    results = PROOF.run_each(tmp_path, start_methods=["fork", "forkserver"])
    assert results.keys() < set(START_METHODS)
    for before, after in results.values():
        assert before.raised.type == "TypeError"
        assert "TypeError: start() takes 0 positional arguments but 1 was given" in before.raised.text
        assert after.values == {"batches": [[0.5], [1.5]]}
