"""DL607: `gc.collect()` for every batch goes through all objects of the process."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

BEFORE = """
import gc
import sys
import time

import probe
import torch
from torch.utils.data import DataLoader

BATCHES = int(sys.argv[1])
full = []


def watch(phase, information):
    if phase == "start" and information["generation"] == 2:
        full.append(len(gc.get_objects()))


def train(model, dataset):
    loader = DataLoader(dataset, batch_size=4)
    for rows in loader:
        model(rows).sum().backward()
        gc.collect()


if __name__ == "__main__":
    data = torch.zeros(BATCHES * 4, 2)
    model = torch.nn.Linear(2, 1)
    gc.collect()
    gc.callbacks.append(watch)
    objects = len(gc.get_objects())
    start = time.perf_counter()
    train(model, data)
    probe.say(batches=BATCHES, collections=len(full), objects=objects, seconds=time.perf_counter() - start)
"""

PROOF = Proof(
    rule="DL607",
    symptom="16 batches cost 16 collections of all objects that Python tracks",
    cure="16 batches cost none",
    before=BEFORE,
    after=BEFORE.replace("        gc.collect()\n", ""),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_before(tmp_path, "16").values, PROOF.run_after(tmp_path, "16").values
    assert before["collections"] == 16
    assert before["objects"] > 50_000
    assert after["collections"] == 0
