"""DL407: which batches torch pins. Counts the tensors that it tries to pin, so that it needs no GPU."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

MAIN = """

def counted(make):
    pinned = []
    torch.Tensor.pin_memory = lambda tensor, *args: pinned.append(1) or tensor
    pin_memory(make([(torch.zeros(2), torch.ones(2))] * 4))
    return len(pinned)


def make_loader():
    return DataLoader(range(4), collate_fn=collate, pin_memory=True)


if __name__ == "__main__":
    probe.say(**{make.__name__: counted(make) for make in WAYS})
"""
PROOF = Proof(
    rule="DL407",
    symptom="of the two tensors in a batch torch pins none in a plain object and none in a dataclass",
    cure="both are pinned in an object with `pin_memory`, a tuple, a named tuple, a list and a dict",
    before="""
from dataclasses import dataclass

import probe
import torch
from torch.utils.data import DataLoader
from torch.utils.data._utils.pin_memory import pin_memory


class Batch:
    def __init__(self, images, labels):
        self.images = images
        self.labels = labels


@dataclass
class Pair:
    images: torch.Tensor
    labels: torch.Tensor


def collate(samples):
    images, labels = zip(*samples)
    return Batch(torch.stack(images), torch.stack(labels))


def collate_pair(samples):
    images, labels = zip(*samples)
    return Pair(torch.stack(images), torch.stack(labels))


WAYS = [collate, collate_pair]

"""
    + MAIN,
    after="""
from typing import NamedTuple

import probe
import torch
from torch.utils.data import DataLoader
from torch.utils.data._utils.pin_memory import pin_memory


class Batch:
    def __init__(self, images, labels):
        self.images = images
        self.labels = labels

    def pin_memory(self):
        self.images = self.images.pin_memory()
        self.labels = self.labels.pin_memory()
        return self


class Named(NamedTuple):
    images: torch.Tensor
    labels: torch.Tensor


def collate(samples):
    images, labels = zip(*samples)
    return Batch(torch.stack(images), torch.stack(labels))


def as_tuple(samples):
    images, labels = zip(*samples)
    return torch.stack(images), torch.stack(labels)


def as_named(samples):
    return Named(*as_tuple(samples))


def as_list(samples):
    return list(as_tuple(samples))


def as_dict(samples):
    return as_named(samples)._asdict()


WAYS = [collate, as_tuple, as_named, as_list, as_dict]

"""
    + MAIN,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {"collate": 0, "collate_pair": 0}
    assert PROOF.run_after(tmp_path).values == {"collate": 2, "as_tuple": 2, "as_named": 2, "as_list": 2, "as_dict": 2}
