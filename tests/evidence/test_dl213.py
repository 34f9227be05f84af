"""DL213: a worker drops a batch that cannot be pickled and goes on, while the main process waits for it."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, run

HEAD = """
import multiprocessing

import probe
from torch.utils.data import DataLoader, Dataset


class Documents(Dataset):
    def __init__(self, texts):
        self.texts = texts
        self.asked = multiprocessing.Event()

    def __len__(self):
        return len(self.texts)

"""
MAIN = """

def batches():
    documents = Documents(["a b", "c"])
    loader = iter(DataLoader(documents, batch_size=None, num_workers=1, timeout=8))
    documents.asked.wait()  # however long the worker takes to start, the timeout is none of it
    return [list(batch) for batch in loader]


if __name__ == "__main__":
    probe.attempt(batches)
"""
PROOF = Proof(
    rule="DL213",
    symptom="no batch ever arrives; where the loader has a timeout, RuntimeError when it is over",
    cure="every batch arrives",
    before=HEAD
    + """
    def __getitem__(self, index):
        self.asked.set()
        return (word.upper() for word in self.texts[index].split())

"""
    + MAIN,
    after=HEAD
    + """
    def __getitem__(self, index):
        self.asked.set()
        return [word.upper() for word in self.texts[index].split()]

"""
    + MAIN,
)

# A `batch_size` brings the default `collate_fn`, which raises; a graph is what else cannot be sent.
OTHERS = """
import torch
from torch import nn

import probe
from torch.utils.data import DataLoader, Dataset


class Words(Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        return (word for word in "ab")


class Features(Dataset):
    def __init__(self):
        self.network = nn.Linear(2, 2)

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return self.network(torch.ones(2))


def collated():
    return len(list(DataLoader(Words(), num_workers=1)))


def graph():
    return len(list(DataLoader(Features(), batch_size=None, num_workers=1, timeout=5)))


if __name__ == "__main__":
    probe.attempt(collated, graph)
"""


def test_symptom_goes_away(tmp_path: Path) -> None:
    results = PROOF.run_each(tmp_path, start_methods=["fork", "forkserver"])
    spawned = PROOF.run_before(tmp_path, start_method="spawn")
    for before in (spawned, *(before for before, _ in results.values())):
        assert before.values == {"batches": "RuntimeError: DataLoader timed out after 8 seconds"}
        assert "TypeError: cannot pickle 'generator' object" in before.stderr
    assert [after.values for _, after in results.values()] == [{"batches": [["A", "B"], ["C"]]}] * 2


def test_what_else_cannot_be_sent(tmp_path: Path) -> None:
    outcome = run(OTHERS, tmp_path)
    assert outcome.values["collated"].startswith("TypeError: Caught TypeError in DataLoader worker process 0.")
    assert "found <class 'generator'>" in outcome.values["collated"]
    assert outcome.values["graph"] == "RuntimeError: DataLoader timed out after 5 seconds"
    assert "RuntimeError: Cowardly refusing to serialize non-leaf tensor which requires_grad" in outcome.stderr
