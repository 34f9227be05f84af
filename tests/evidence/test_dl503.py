"""DL503: more than one thread in a worker that was forked from a process that had several: it hangs."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Need, Proof, run

HEAD = """
import multiprocessing
import sys

import probe
import torch
from torch.utils.data import DataLoader, Dataset


class Sums(Dataset):
    def __init__(self):
        self.asked = multiprocessing.Event()

    def __len__(self):
        return 2

    def __getitem__(self, index):
        self.asked.set()
        return torch.ones(1_000_000).sum()

"""
MAIN = """

def batches():
    sums = Sums()
    loader = iter(make(sums))
    sums.asked.wait()  # however long the worker takes to start, the timeout is none of it
    return [int(batch) for batch in loader]


if __name__ == "__main__":
    if "parallel" in sys.argv:
        torch.ones(1_000_000).sum()
    probe.attempt(batches)
"""
PROOF = Proof(
    rule="DL503",
    needs=(Need.TWO_CPUS,),
    symptom="fork, after a parallel operation: hangs; where the loader has a timeout, RuntimeError when it is over",
    cure="every batch arrives",
    before=HEAD
    + """
def start_worker(worker):
    torch.set_num_threads(2)


def make(sums):
    return DataLoader(sums, num_workers=1, worker_init_fn=start_worker, timeout=8)

"""
    + MAIN,
    after=HEAD
    + """
def make(sums):
    return DataLoader(sums, num_workers=1, timeout=8)

"""
    + MAIN,
)
TWO = {"OMP_NUM_THREADS": "2"}
BATCHES = {"batches": [1_000_000, 1_000_000]}


def test_symptom_goes_away(tmp_path: Path) -> None:
    results = PROOF.run_each(tmp_path, "parallel", start_methods=["fork", "forkserver"], environment=TWO)
    before, after = results["fork"]
    assert before.values == {"batches": "RuntimeError: DataLoader timed out after 8 seconds"}
    assert after.values == BATCHES
    assert [outcome.values for outcome in results["forkserver"]] == [BATCHES, BATCHES]
    assert PROOF.run_before(tmp_path, "parallel", start_method="spawn", environment=TWO).values == BATCHES


def test_where_nothing_ran_in_parallel_before_it_works(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path, environment=TWO).values == BATCHES


def test_so_it_is_when_a_sample_sets_the_number(tmp_path: Path) -> None:
    _, after = PROOF.programs()
    program = after.replace("self.asked.set()", "self.asked.set()\n        torch.set_num_threads(2)")
    assert program != after
    hung = run(program, tmp_path, "parallel", environment=TWO)
    assert hung.values == {"batches": "RuntimeError: DataLoader timed out after 8 seconds"}
