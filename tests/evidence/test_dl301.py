"""DL301: `persistent_workers=True` without workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof, run

PROOF = Proof(
    rule="DL301",
    symptom="ValueError: persistent_workers option needs num_workers > 0, from the constructor",
    cure="the loader is made and gives all 8 batches",
    before="""
    import probe
    from torch.utils.data import DataLoader


    def make(dataset):
        return DataLoader(dataset, num_workers=0, persistent_workers=True)


    if __name__ == "__main__":
        loader = make(range(8))
        probe.say(batches=len(list(loader)))
    """,
)

TRAINER = """
import probe
import torch
from transformers import Trainer, TrainingArguments


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def forward(self, x):
        return {"loss": self.layer(x).sum()}


def persistent(workers):
    options = TrainingArguments(
        "out", max_steps=2, report_to=[], save_strategy="no", use_cpu=True,
        dataloader_num_workers=workers, dataloader_persistent_workers=True,
    )
    samples = [{"x": torch.ones(1)} for _ in range(8)]
    return Trainer(model=Model(), args=options, train_dataset=samples).train().global_step


def prefetching(workers):
    options = TrainingArguments("out", dataloader_num_workers=workers, dataloader_prefetch_factor=4)
    return options.dataloader_prefetch_factor


if __name__ == "__main__":
    for make in (persistent, prefetching):
        for workers in (0, 1):
            try:
                seen = make(workers)
            except ValueError as error:
                seen = str(error)
            probe.say(**{f"{make.__name__}_{workers}": seen})
"""


def test_symptom_goes_away(tmp_path: Path) -> None:
    raised = PROOF.run_before(tmp_path).raised
    assert str(raised) == "ValueError: persistent_workers option needs num_workers > 0"
    assert PROOF.run_after(tmp_path).values == {"batches": 8}


def test_a_trainer_gives_its_options_to_a_loader(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    seen = run(TRAINER, tmp_path).values
    assert seen["persistent_0"] == "persistent_workers option needs num_workers > 0"
    assert seen["persistent_1"] == 2
    assert seen["prefetching_0"].startswith("--dataloader_prefetch_factor can only be set when data is loaded in a")
    assert seen["prefetching_1"] == 4
