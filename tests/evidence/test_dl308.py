"""DL308: `next(iter(loader))` in a loop starts all workers for one batch, which is the same each time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evidence.harness import Proof

HEAD = """
import multiprocessing
import sys
import time

import probe
import torch
from torch.utils.data import DataLoader, Dataset

STEPS = int(sys.argv[1])


class Rows(Dataset):
    def __init__(self):
        self.starts = multiprocessing.Value("i", 0)

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return index


def count_start(worker):
    starts = torch.utils.data.get_worker_info().dataset.starts
    with starts.get_lock():
        starts.value += 1

"""
MAIN = """

if __name__ == "__main__":
    dataset = Rows()
    start = time.perf_counter()
    batches = train(dataset)
    seconds = time.perf_counter() - start
    different = len({tuple(batch.tolist()) for batch in batches})
    probe.say(steps=STEPS, starts=dataset.starts.value, different=different, seconds=seconds)
"""

PROOF = Proof(
    rule="DL308",
    symptom="8 steps start 16 workers and see the same batch 8 times",
    cure="8 steps start 2 workers and see 8 different batches",
    before=HEAD
    + """
def train(dataset):
    loader = DataLoader(dataset, batch_size=4, num_workers=2, worker_init_fn=count_start)
    seen = []
    for _ in range(STEPS):
        seen.append(next(iter(loader)).clone())
    return seen
"""
    + MAIN,
    after=HEAD
    + """
def endless(loader):
    while True:
        yield from loader


def train(dataset):
    batches = endless(DataLoader(dataset, batch_size=4, num_workers=2, worker_init_fn=count_start))
    seen = []
    for _ in range(STEPS):
        seen.append(next(batches).clone())
    return seen
"""
    + MAIN,
)

KEPT_FOR_NOTHING = Proof(
    rule="DL308",
    symptom="3 rounds start 6 workers in spite of persistent_workers",
    cure="3 rounds start 2 workers",
    before=HEAD
    + """
def train(dataset):
    seen = []
    for _ in range(STEPS):
        loader = DataLoader(
            dataset, batch_size=4, num_workers=2, worker_init_fn=count_start, persistent_workers=True
        )
        for batch in loader:
            seen.append(batch.clone())
    return seen
"""
    + MAIN,
    after=HEAD
    + """
def train(dataset):
    seen = []
    loader = DataLoader(dataset, batch_size=4, num_workers=2, worker_init_fn=count_start, persistent_workers=True)
    for _ in range(STEPS):
        for batch in loader:
            seen.append(batch.clone())
    return seen
"""
    + MAIN,
)

ENUMERATED = replace(
    PROOF, before=PROOF.before.replace("next(iter(loader)).clone()", "next(enumerate(loader))[1].clone()")
)


@pytest.mark.parametrize("start_method", ["fork", "forkserver"])
def test_symptom_goes_away(start_method: str, tmp_path: Path) -> None:
    steps = 8 if start_method == "fork" else 2
    before = PROOF.run_before(tmp_path, str(steps), start_method=start_method).values
    after = PROOF.run_after(tmp_path, str(steps), start_method=start_method).values
    assert (before["starts"], before["different"]) == (2 * steps, 1)
    assert (after["starts"], after["different"]) == (2, steps)


def test_enumerate_starts_them_as_well(tmp_path: Path) -> None:
    assert ENUMERATED.before != PROOF.before
    assert ENUMERATED.codes(ENUMERATED.programs()[0], tmp_path) == {"DL308"}
    seen = ENUMERATED.run_before(tmp_path, "8").values
    assert (seen["starts"], seen["different"]) == (16, 1)


def test_persistent_workers_of_a_loader_that_is_made_again(tmp_path: Path) -> None:
    assert KEPT_FOR_NOTHING.codes(KEPT_FOR_NOTHING.programs()[0], tmp_path) == {"DL308"}
    assert KEPT_FOR_NOTHING.run_before(tmp_path, "3").values["starts"] == 6
    assert KEPT_FOR_NOTHING.run_after(tmp_path, "3").values["starts"] == 2
