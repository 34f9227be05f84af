"""Loops that are not the user's own: Lightning's and transformers' Trainer, and what they do with loaders."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from doctor.programs import examined, explained, line_of

pytestmark = pytest.mark.evidence

DATA = """
    import inspect

    import torch
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __init__(self, count):
            self.paths = [f"{number:032d}.png" for number in range(count)]
            self.change = lambda row: row * 2

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, index):
            return {"rows": self.change(torch.full((8,), float(len(self.paths[index]))))}
"""

LIGHTNING = (
    DATA
    + """

    from lightning.pytorch import LightningModule, Trainer


    class Model(LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def training_step(self, batch, index):
            return self.layer(batch["rows"]).mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

        def train_dataloader(self):
            return DataLoader(Rows(200_000), batch_size=1000, shuffle=True, num_workers=2)


    if __name__ == "__main__":
        quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
        Trainer(max_epochs=1, accelerator="cpu", **quiet).fit(Model())
"""
)

TRANSFORMERS = (
    DATA
    + """

    from transformers import Trainer, TrainingArguments


    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def forward(self, rows):
            return {"loss": self.layer(rows).mean()}


    if __name__ == "__main__":
        arguments = TrainingArguments(
            output_dir="out",
            max_steps=100,
            per_device_train_batch_size=1000,
            dataloader_num_workers=2,
            remove_unused_columns=False,
            report_to=[],
            save_strategy="no",
            use_cpu=True,
        )
        Trainer(Model(), arguments, train_dataset=Rows(200_000)).train()
"""
)

STAND_IN = (
    DATA
    + """

    class Shard(DataLoader):
        # As that of accelerate: knows which batch is the last by taking one more ahead.
        def __iter__(self):
            batches = super().__iter__()
            ahead = next(batches)
            for batch in batches:
                yield ahead
                ahead = batch
            yield ahead


    def made_again(loader):
        # As Lightning does to give it another sampler: with all that the constructor takes.
        names = list(inspect.signature(DataLoader.__init__).parameters)[1:]
        values = {name: value for name, value in vars(loader).items() if name in names and name != "batch_sampler"}
        del values["sampler"]
        return Shard(**values, shuffle=True)


    if __name__ == "__main__":
        model = torch.nn.Linear(8, 1)
        for batch in made_again(DataLoader(Rows(200_000), batch_size=1000, num_workers=2)):
            model(batch["rows"]).mean().backward()
"""
)


@pytest.mark.parametrize(
    ("program", "package"), [(LIGHTNING, "lightning"), (TRANSFORMERS, "accelerate"), (STAND_IN, "torch")]
)
def test_loops_of_trainers(tmp_path: Path, program: str, package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    report = examined(tmp_path, program)
    loader = report["loaders"][0]
    assert loader["batches"] >= 100 and loader["settings"]["batch_size"] == 1000
    assert loader["step"] > 0 and loader["fetch_per_batch"] > 0
    found = explained(report)
    assert found["growth"] == {("DL101", line_of(program, "self.paths ="))}
    assert found["pickling"] == {("DL204", line_of(program, "self.change ="))}
