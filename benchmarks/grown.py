"""Programs that grow in one way: in files, in attributes of a class, in callers of a function, in fixes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.trees import HEAD, huge

PROJECT = '[project]\nname = "measured"\n'
BASE = '''\
"""What the data sets of the project have in common."""

import torch
from torch.utils.data import DataLoader, Dataset


class Base(Dataset):
    def __init__(self, folder, names):
        self.folder = folder
        self.names = names

    def __len__(self):
        return len(self.names)


def make_loader(dataset, workers=4):
    return DataLoader(dataset, batch_size=32, num_workers=workers, pin_memory=True)
'''
DATASET = '''\
"""Reads one kind of file."""

import os

import torch

from base import Base, make_loader
from parts.part{other} import scale


class Files{number}(Base):
    def __init__(self, folder):
        super().__init__(folder, sorted(os.listdir(folder)))

    def __getitem__(self, index):
        with open(os.path.join(self.folder, self.names[index])) as file:
            return scale(torch.tensor([float(line) for line in file]))


def train(folder, model, optimizer):
    for rows in make_loader(Files{number}(folder)):
        loss = model(rows.cuda())
        loss.backward()
        optimizer.step()
'''
PART = '''\
"""A part of the model."""

import torch
from torch import nn


def scale(values, by={number}):
    return values * by


class Layer{number}(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inner = nn.Linear(size, size)
        self.outer = nn.Linear(size, size)

    def forward(self, values):
        return self.outer(torch.relu(self.inner(values)))
'''
FIXABLE = """

def make{number}(dataset, batch_size):
    return DataLoader(dataset, batch_size, num_workers=0, persistent_workers=True)
"""


def project(files: int, folder: Path) -> None:
    """A project of so many files, of which every tenth has a Dataset and its loader, by way of a common module."""
    parts = folder / "parts"
    parts.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "base.py").write_text(BASE, encoding="utf-8")
    for number in range(files - 1):
        if number % 10:
            (parts / f"part{number}.py").write_text(PART.format(number=number), encoding="utf-8")
        else:
            text = DATASET.format(number=number, other=number + 1)
            (folder / f"data{number}.py").write_text(text, encoding="utf-8")


def projects(number: int, folder: Path) -> None:
    """So many projects of 21 files, side by side."""
    for each in range(number):
        project(21, folder / f"project{each}")


def with_attributes(number: int) -> str:
    """A Dataset with so many attributes, half of them lists that are read for every sample."""
    lines = "".join(
        f"        self.paths{each} = sorted(str(path) for path in Path(folder).glob('*.{each}'))\n"
        f"        self.size{each} = {each}\n"
        for each in range(number // 2)
    )
    reads = "".join(f"            self.paths{each}[index],\n" for each in range(number // 2))
    return (
        f"{HEAD}\n\nclass Many(Dataset):\n    def __init__(self, folder):\n{lines}\n"
        f"    def __getitem__(self, index):\n        return (\n{reads}        )\n\n\n"
        "loader = DataLoader(Many('.'), num_workers=4)\n"
    )


def with_callers(number: int) -> str:
    """A function that makes a loader, and so many functions that call it and train."""
    calls = "".join(
        f"\n\ndef train{each}(paths, model):\n"
        f"    for images in make(Images(paths), batch_size={each + 1}, workers=4):\n"
        "        model(images.cuda())\n"
        for each in range(number)
    )
    return (
        f"{HEAD}\n\nclass Images(Dataset):\n    def __init__(self, paths):\n        self.paths = list(paths)\n\n"
        "    def __getitem__(self, index):\n        return torch.from_numpy(read(self.paths[index]))\n\n\n"
        "def make(dataset, batch_size=1, workers=0):\n"
        "    return DataLoader(dataset, batch_size=batch_size, num_workers=workers, pin_memory=True)\n" + calls
    )


def with_fixes(sources: Sequence[str], length: int) -> str:
    """A module of so many characters, to which a function with a safe fix is added for each 10,000."""
    return huge(sources, length) + "".join(FIXABLE.format(number=each) for each in range(length // 10_000))


FOLDERS: dict[str, Callable[[int, Path], None]] = {"files": project, "projects": projects}
MODULES: dict[str, Callable[[int], str]] = {"attributes": with_attributes, "callers": with_callers}
