"""DL206: a spawned worker imports the script; without a guard it gets to the loop and dies."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Outcome, Proof

PROOF = Proof(
    rule="DL206",
    symptom="spawn, forkserver: RuntimeError in the worker, which ran the whole script, and in the main process",
    cure="every start method gives the sum that only fork gave before",
    before="""
    import os

    import probe
    from torch.utils.data import DataLoader

    probe.say(imported_by=os.getpid())
    loader = DataLoader(range(6), batch_size=2, num_workers=1)
    total = 0
    for batch in loader:
        total += int(batch.sum())
    probe.say(total=total)
    """,
)
BOOTSTRAPPING = "An attempt has been made to start a new process before the current process has finished its"


def imports(outcome: Outcome) -> int:
    """How many processes ran the module level of the script."""
    return len({line["imported_by"] for line in outcome.said if "imported_by" in line})


def test_symptom_goes_away(tmp_path: Path) -> None:
    for start_method, (before, after) in PROOF.run_each(tmp_path).items():
        assert after.values["total"] == 15
        if start_method == "fork":
            assert before.values["total"] == 15
            assert imports(before) == imports(after) == 1
        else:
            assert before.raised.type == "RuntimeError"
            assert before.raised.text.startswith("DataLoader worker (pid")
            assert before.raised.text.endswith("exited unexpectedly")
            assert [error.type for error in before.worker_errors] == ["RuntimeError"]
            assert all(BOOTSTRAPPING in " ".join(error.text.split()) for error in before.worker_errors)
            assert (imports(before), imports(after)) == (2, 1)  # what told of the import is under the guard, too
