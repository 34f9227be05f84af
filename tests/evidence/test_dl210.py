"""DL210: a worker imports the script, whose `set_start_method` then comes too late and raises."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, run

PROOF = Proof(
    rule="DL210",
    symptom="RuntimeError: context has already been set in the worker, and one in the main process that lost it",
    cure="gives all batches",
    before="""
    import probe
    import torch.multiprocessing as mp
    from torch.utils.data import DataLoader

    mp.set_start_method("spawn")

    if __name__ == "__main__":
        probe.say(batches=[batch.tolist() for batch in DataLoader(range(4), batch_size=2, num_workers=1)])
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    # The program asks for spawn itself, whatever the platform's default.
    before, after = PROOF.run_each(tmp_path, start_methods=["fork"])["fork"]
    assert [str(error) for error in before.worker_errors] == ["RuntimeError: context has already been set"]
    assert before.raised.type == "RuntimeError"
    assert before.raised.text.startswith("DataLoader worker (pid")
    assert after.values == {"batches": [[0, 1], [2, 3]]}


def test_so_it_is_with_a_fork_server(tmp_path: Path) -> None:
    before, _ = PROOF.programs()
    outcome = run(before.replace('"spawn"', '"forkserver"'), tmp_path)
    # A fork server reports what its workers raise on its own.
    assert "RuntimeError: context has already been set" in outcome.stderr
    assert outcome.raised.type == "RuntimeError" and outcome.raised.text.endswith("exited unexpectedly")
