"""Folders and files of a chosen size to measure on: copies of released packages, and programs made from a pattern."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.floor import matters

SITE = '''

class Images{number}(Dataset):
    """Pairs of images and labels."""

    def __init__(self, folder):
        self.paths = sorted(str(path) for path in Path(folder).glob("*.png"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.from_numpy(read(self.paths[index])), index


def train{number}(folder, model, optimizer):
    loader = DataLoader(Images{number}(folder), batch_size=32, num_workers=4, pin_memory=True)
    for images, labels in loader:
        loss = model(images.cuda(), labels.cuda())
        loss.backward()
        optimizer.step()
'''
HEAD = """\
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset


def read(path):
    return torch.zeros(3, 8, 8).numpy()
"""
NO_MATTER = '"""Adds."""\n\n\ndef add(one, other):\n    return one + other\n'


def with_sites(sites: int) -> str:
    """A module with so many Datasets, each with a loader and two moves of its batches, two of which are findings."""
    return HEAD + "".join(SITE.format(number=number) for number in range(sites))


def huge(sources: Sequence[str], length: int) -> str:
    """One module of at least so many characters: the modules behind one another, again from the first if need be."""
    parts, total = [HEAD], len(HEAD)
    while total < length:
        for source in sources:
            lines = [line for line in source.splitlines(keepends=True) if not line.startswith("from __future__")]
            parts.append("".join(lines).rstrip("\n") + "\n\n\n")
            total += len(parts[-1])
            if total >= length:
                break
    return "".join(parts)


def sources_of(folder: Path) -> list[Path]:
    """The Python files in a folder, in an order that does not depend on the file system."""
    return sorted(path for path in folder.rglob("*.py") if path.is_file())


def copies(package: Path, number: int, target: Path) -> None:
    """So many copies of a package, side by side, none of which knows the others."""
    for each in range(number):
        shutil.copytree(package, target / f"copy{each}")


def tree_of(packages: Sequence[Path], files: int, target: Path) -> list[Path]:
    """So many Python files: the packages one after the other, again from the first until there are enough."""
    made: list[Path] = []
    turn = 0
    while len(made) < files:
        for package in packages:
            for source in sources_of(package)[: files - len(made)]:
                path = target / f"turn{turn}" / package.name / source.relative_to(package)
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, path)
                made.append(path)
        turn += 1
    return made


def tenth(packages: Sequence[Path], files: int, target: Path) -> int:
    """A folder of so many modules of the packages, a tenth of which define Datasets or build DataLoaders.

    The modules lie where they lie in their packages, and are spread evenly over those. Returns how many files there
    are: fewer where the packages have too few that matter.
    """
    that_matter: list[tuple[Path, Path]] = []
    others: list[tuple[Path, Path]] = []
    for package in packages:
        for source in sources_of(package):
            (that_matter if matters(source.read_bytes()) else others).append((package, source))
    number = min(files // 10, len(that_matter), len(others) // 9)
    chosen = [*_spread_out(that_matter, number), *_spread_out(others, 9 * number)]
    for package, source in chosen:
        path = target / package.name / source.relative_to(package)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)
    return len(chosen)


def _spread_out(members: list[tuple[Path, Path]], number: int) -> list[tuple[Path, Path]]:
    return [members[index * len(members) // number] for index in range(number)]
