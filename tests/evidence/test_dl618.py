"""DL618: every rank of a distributed program goes through all samples."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

HEAD = """
import probe
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


"""
MAIN = """

def run(process, meeting):
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=process, world_size=2)
    torch.save(train(torch.nn.Linear(1, 1), torch.ones(8, 1)), f"{meeting}-{process}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    import os

    meeting = os.path.abspath(f"meeting-{os.getpid()}")
    mp.spawn(run, args=(meeting,), nprocs=2)
    probe.say(samples=sum(torch.load(f"{meeting}-{process}.pt") for process in range(2)))
"""

PROOF = Proof(
    rule="DL618",
    symptom="two ranks train on 16 samples in an epoch, of 8 that there are",
    cure="they train on 8",
    before=HEAD
    + """
def train(model, numbers):
    model = DistributedDataParallel(model)
    loader = DataLoader(TensorDataset(numbers), batch_size=2, shuffle=True)
    seen = 0
    for epoch in range(2):
        for (batch,) in loader:
            model(batch).sum().backward()
            seen += len(batch)
    return seen // 2
"""
    + MAIN,
    after=HEAD
    + """
def train(model, numbers):
    model = DistributedDataParallel(model)
    dataset = TensorDataset(numbers)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=2, sampler=sampler)
    seen = 0
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for (batch,) in loader:
            model(batch).sum().backward()
            seen += len(batch)
    return seen // 2
"""
    + MAIN,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {"samples": 16}
    assert PROOF.run_after(tmp_path).values == {"samples": 8}
