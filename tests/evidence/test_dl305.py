"""DL305: a worker for every CPU of the machine, also for those that the process may not use."""

from __future__ import annotations

import os
from pathlib import Path

from evidence.harness import Need, Proof

BEFORE = """
import multiprocessing
import os
import warnings

import probe
from torch.utils.data import DataLoader


def make(dataset):
    return DataLoader(dataset, num_workers=os.cpu_count())


if __name__ == "__main__":
    # As a batch system or a container does that lends out one CPU of the machine.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        batches = iter(make(range(8)))
        workers = len(multiprocessing.active_children())
    warned = [str(each.message) for each in caught if "suggested max number of worker" in str(each.message)]
    probe.say(usable=len(os.sched_getaffinity(0)), workers=workers, warned=bool(warned))
"""

PROOF = Proof(
    rule="DL305",
    needs=(Need.TWO_CPUS,),
    symptom="with one usable CPU, as many workers as the machine has CPUs; torch warns",
    cure="as many workers as usable CPUs, no warning",
    before=BEFORE,
    after=BEFORE.replace("os.cpu_count()", "len(os.sched_getaffinity(0))"),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {"usable": 1, "workers": os.cpu_count(), "warned": True}
    assert PROOF.run_after(tmp_path).values == {"usable": 1, "workers": 1, "warned": False}
