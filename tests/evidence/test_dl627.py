"""DL627: what `prepare_data` sets in one process."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

PROGRAM = """
import os

import lightning as L
import probe
import torch
from torch.utils.data import DataLoader


class Rows(L.LightningDataModule):
    def {method}:
        self.rows = list(range(8))

    def train_dataloader(self):
        return DataLoader(self.rows, batch_size=4)


class Linear(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, index):
        return self.layer(batch.float().view(-1, 1)).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.0)


if __name__ == "__main__":
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer = L.Trainer(max_epochs=1, accelerator="cpu", devices=2, strategy="ddp_fork", **quiet)
    trainer.fit(Linear(), Rows())
    probe.say(trained=True)
"""

PROOF = Proof(
    rule="DL627",
    symptom="ProcessRaisedException: in the second of two processes 'Rows' object has no attribute 'rows'",
    cure="both processes train",
    before=PROGRAM.format(method="prepare_data(self)"),
    after=PROGRAM.format(method="setup(self, stage)"),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    pytest.importorskip("lightning")
    assert "'Rows' object has no attribute 'rows'" in str(PROOF.run_before(tmp_path).raised)
    assert PROOF.run_after(tmp_path).values == {"trained": True}
