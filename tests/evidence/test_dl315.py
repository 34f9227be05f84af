"""DL315: the Trainer drops the columns that a transform needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

PROGRAM = """
import probe
import torch
from datasets import Dataset
from transformers import PretrainedConfig, PreTrainedModel, PrinterCallback, Trainer, TrainingArguments


class Linear(PreTrainedModel):
    config_class = PretrainedConfig

    def __init__(self, config):
        super().__init__(config)
        self.layer = torch.nn.Linear(1, 1)
        self.post_init()

    def forward(self, values, labels=None):
        found = self.layer(values)
        return {{"loss": ((found - labels) ** 2).mean(), "logits": found}}


def numbers(rows):
    values = [torch.tensor([float(text)]) for text in rows["text"]]
    return {{"values": values, "labels": values}}


if __name__ == "__main__":
    data = Dataset.from_dict({{"text": ["1", "2", "3", "4"]}}).with_transform(numbers)
    arguments = TrainingArguments("out", max_steps=2, report_to=[], use_cpu=True, disable_tqdm=True{more})
    trainer = Trainer(model=Linear(PretrainedConfig()), args=arguments, train_dataset=data)
    trainer.remove_callback(PrinterCallback)
    probe.say(steps=trainer.train().global_step)
"""

PROOF = Proof(
    rule="DL315",
    symptom="ValueError: No columns in the dataset match the model's forward method signature",
    cure="trains for two steps",
    before=PROGRAM.format(more=""),
    after=PROGRAM.format(more=", remove_unused_columns=False"),
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    raised = PROOF.run_before(tmp_path).raised
    assert str(raised).startswith("ValueError: No columns in the dataset match the model's forward method signature")
    assert PROOF.run_after(tmp_path).values == {"steps": 2}
