"""What DL101 to DL103 say of the size: by names of data sets, by the settings, and where nothing is copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint import lint_paths
from dataloader_lint.diagnostics import Diagnostic, Level
from dataloader_lint.rules.memory._shared.estimates import size_text
from dataloader_lint.rules.memory._shared.known_datasets import known_datasets
from dataloader_lint.settings import Settings

SOURCE = """
import json
from torch.utils.data import DataLoader, Dataset


class {name}(Dataset):
    def __init__(self, path):
        with open(path) as file:
            self.rows = json.load(file)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def main(path):
    return DataLoader({name}(path), {options})
"""


def found(
    folder: Path, name: str, options: str = "num_workers=4", file: str = "data.py", settings: Settings | None = None
) -> Diagnostic:
    """The one finding of DL101 in a file with such a Dataset."""
    (folder / "setup.cfg").touch()
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(SOURCE.format(name=name, options=options))
    (only,) = lint_paths([folder], settings or Settings(select=("DL101",)))
    return only


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("CocoCaptions", "about 95 MB in each worker (COCO: 118,287 records of some 800 B), 4 workers"),
        ("ConceptualCaptionDataset", "about 2.1 GB in each worker (CC3M: 3,318,333 records of some 630 B), 4 workers"),
        ("LLaVADataset", "about 2.3 GB in each worker (LLaVA mix665k: 665,298 records of some 3.5 kB), 4 workers"),
        ("C4Dataset", "several GB in each worker (C4: 364,868,892 records of some 630 B), 4 workers"),
    ],
)
def test_a_name_says_the_size(tmp_path: Path, name: str, size: str) -> None:
    one = found(tmp_path, name)
    assert one.level is Level.MEMORY
    assert one.problem.endswith(size) or one.problem.endswith(size.removesuffix(", 4 workers"))
    assert len(one.message) <= 160


@pytest.mark.parametrize(
    ("name", "options", "file", "words"),
    [
        ("Rows", "num_workers=4", "data.py", "is copied to each of 4 workers"),
        ("MPIIRows", "num_workers=4", "data.py", "small: about 38 MB in each worker"),
        ("CocoCaptions", "num_workers=0", "data.py", "not copied yet: `num_workers` is 0"),
        ("CocoCaptions", "shuffle=True", "data.py", "not copied yet: `DataLoader` is made without `num_workers`"),
        ("CocoEvalDataset", "num_workers=4", "data.py", "for evaluation only: about 95 MB"),
        ("CocoCaptions", "num_workers=4", "eval.py", "for evaluation only: about 95 MB"),
    ],
)
def test_the_rest_is_a_note(tmp_path: Path, name: str, options: str, file: str, words: str) -> None:
    one = found(tmp_path, name, options, file)
    assert one.level is Level.NOTE
    assert words in one.problem


def test_files_and_folders_say_the_size_too(tmp_path: Path) -> None:
    assert "nuScenes" in found(tmp_path, "Rows", file="nuscenes.py").problem
    (tmp_path / "nuscenes.py").unlink()
    assert "Visual Genome" in found(tmp_path, "Rows", file="visual_genome/rows.py").problem


def test_settings_win_over_names(tmp_path: Path) -> None:
    several = Settings(select=("DL101",), samples=(("*", 1000), ("Coco*", 5_000_000)))
    one = found(tmp_path, "CocoCaptions", settings=several)
    assert "about 3.1 GB in each worker (`samples`: 5,000,000 records of some 630 B)" in one.problem
    few = found(tmp_path, "CocoCaptions", settings=Settings(select=("DL101",), samples=(("*", 1000),)))
    assert few.level is Level.NOTE
    high = Settings(select=("DL101",), memory_threshold=100_000_000)
    assert found(tmp_path, "CocoCaptions", settings=high).level is Level.NOTE


BASE = """
import json
from torch.utils.data import Dataset


class BaseDataset(Dataset):
    def __init__(self, paths):
        self.annotation = []
        for path in paths:
            with open(path) as file:
                self.annotation.extend(json.load(file))

    def __len__(self):
        return len(self.annotation)

    def __getitem__(self, index):
        return self.annotation[index]
"""
SUBCLASSES = """
from base import BaseDataset
from torch.utils.data import DataLoader


class ConceptualCaptionDataset(BaseDataset):
    def __init__(self, paths):
        super().__init__(paths)
        self.annotation = [each for each in self.annotation if each["image"]]


def main(paths):
    return DataLoader(ConceptualCaptionDataset(paths), num_workers=4)
"""


def test_the_base_changes_and_its_subclasses_say_so(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "captions.py").write_text(SUBCLASSES)
    base, subclass = lint_paths([tmp_path], Settings(select=("DL101",)))
    assert (base.level, subclass.level) == (Level.MEMORY, Level.NOTE)
    assert "about 2.1 GB in each worker (CC3M" in base.problem
    assert base.cause == subclass.cause == "BaseDataset"
    assert subclass.advice == "change it in `BaseDataset`"
    assert any(each.filename.endswith("base.py") for each in subclass.because)


def test_the_longest_name_of_a_data_set_counts() -> None:
    def named(*names: str) -> list[str]:
        return [each.name for each in known_datasets(names, ())]

    assert named("IN22KDATASET") == named("imagenet_22k") == ["ImageNet-22k"]
    assert named("RefCOCODataset") == ["RefCOCO"]
    assert named("VOCDetection") == ["Pascal VOC"]
    assert named("Invocation", "Avocado") == []
    assert known_datasets((), ("coco", "voc")) == []  # short words are names of classes and files only


@pytest.mark.parametrize(
    ("size", "text"),
    [(8, "8 B"), (118, "120 B"), (999, "1 kB"), (3_500, "3.5 kB"), (94_629_600, "95 MB"), (20_000_000_000, "20 GB")],
)
def test_sizes_have_two_digits(size: int, text: str) -> None:
    assert size_text(size) == text


AUGMENTED = """import glob
import json
import random
from torch.utils.data import DataLoader, Dataset

class Noise:
    def __init__(self, folder):
        self.files = glob.glob(folder + "/*.wav")

    def pick(self):
        return random.choice(self.files)

class ImageNet22kSounds(Dataset):
    def __init__(self, path, folder):
        self.noise = Noise(folder)
        with open(path) as file:
            self.records = json.load(file)

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        return self.records[index], self.noise.pick()

loader = DataLoader(ImageNet22kSounds("a", "b"), num_workers=4)
"""


def test_the_size_of_a_data_set_is_not_that_of_what_helpers_keep(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(AUGMENTED)
    (found,) = lint_paths([tmp_path], Settings(select=("DL101",)))
    assert found.level is Level.MEMORY and found.start.line == 17
    assert found.problem.startswith("`ImageNet22kSounds.records`: a list, about 8.9 GB in each worker (ImageNet-22k)")
