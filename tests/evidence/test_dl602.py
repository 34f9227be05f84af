"""DL602: workers that start from the same random state draw the same numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

MAIN = """

if __name__ == "__main__":
    epochs = int(sys.argv[1])  # of 8 samples
    for number, dataset, init in CASES:
        loader = DataLoader(dataset, num_workers=2, worker_init_fn=init)
        drawn = [int(value) for epoch in range(epochs) for value in loader]
        probe.say(**{number: len(set(drawn))})
"""

PROOF = Proof(
    rule="DL602",
    symptom="of 24 random numbers (8 samples, 2 workers, 3 epochs) 4 are distinct",
    cure="all 24 are distinct",
    before="""
import sys

import numpy as np
import probe
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return int(self.rng.integers(2**60))


CASES = [("distinct", Crops(), None)]
"""
    + MAIN,
    after="""
import sys

import numpy as np
import probe
import torch
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self):
        self.rng = None

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if self.rng is None:  # once in each worker, from the seed that torch gives it
            self.rng = np.random.default_rng(torch.initial_seed())
        return int(self.rng.integers(2**60))


CASES = [("distinct", Crops(), None)]
"""
    + MAIN,
)

SEEDED_HEAD = """
import random
import sys

import numpy as np
import probe
import torch
from torch.utils.data import DataLoader, Dataset


class Drawn(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return int(np.random.randint(2**60))

"""

SEEDED = Proof(
    rule="DL602",
    symptom="with seeds that ignore torch's own, 4 or 8 of 24 random numbers are distinct",
    cure="all 24 are distinct",
    before=SEEDED_HEAD
    + """
class Reseeded(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        np.random.seed(0)
        return int(np.random.randint(2**60))


def seed_with_constant(worker):
    np.random.seed(0)


def seed_with_worker(worker):
    np.random.seed(worker)


def seed_from_state(worker):
    np.random.seed(np.random.get_state()[1][0] + worker)


CASES = [
    ("constant", Drawn(), seed_with_constant),
    ("worker", Drawn(), seed_with_worker),
    ("state", Drawn(), seed_from_state),
    ("sample", Reseeded(), None),
]
"""
    + MAIN,
    after=SEEDED_HEAD
    + """
class DrawnByAll(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return random.getrandbits(60) ^ int(torch.randint(2**60, ())) ^ int(np.random.randint(2**60))


def seed_from_torch(worker):
    np.random.seed(torch.initial_seed() % 2**32)


CASES = [("torch", Drawn(), seed_from_torch), ("nothing", DrawnByAll(), None)]
"""
    + MAIN,
)

GENERATOR = """
import sys

import probe
import torch
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self):
        self.generator = torch.Generator()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return int(torch.randint(2**60, (), generator=self.generator))


CASES = [("distinct", Crops(), None)]
"""

TORCH_GENERATOR = Proof(
    rule="DL602",
    symptom="a torch.Generator cannot be sent to spawned workers",
    cure="all 24 numbers are distinct",
    before=GENERATOR + MAIN,
    after=GENERATOR.replace("self.generator = torch.Generator()", "self.size = 8").replace(
        "(), generator=self.generator", "()"
    )
    + MAIN,
)

PIPELINE = """
import albumentations as A
import numpy as np
import probe
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Pictures(Dataset):
    def __init__(self):
        self.transform = A.Compose([A.RandomBrightnessContrast(p=1.0)], seed=137)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return float(self.transform(image=np.full((4, 4, 3), 0.4, np.float32))["image"].mean())


def seed_worker(worker_id):
    get_worker_info().dataset.transform.set_random_seed(torch.initial_seed() % 2**32)


if __name__ == "__main__":
    loader = DataLoader(Pictures(), num_workers=2)
    probe.say(distinct=len({float(number) for _ in range(3) for batch in loader for number in batch}))
"""
ALBUMENTATIONS = Proof(
    rule="DL602",
    symptom="4 of 24 numbers are distinct, although a seed is given",
    cure="all 24 are distinct",
    before=PIPELINE,
    after=PIPELINE.replace("num_workers=2)", "num_workers=2, worker_init_fn=seed_worker)"),
)


@pytest.mark.parametrize(("start_method", "epochs"), [("fork", 3), ("forkserver", 3), ("spawn", 1)])
def test_symptom_goes_away(start_method: str, epochs: int, tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path, str(epochs), start_method=start_method).values == {"distinct": 4}
    assert PROOF.run_after(tmp_path, str(epochs), start_method=start_method).values == {"distinct": 8 * epochs}


def test_seeds_that_ignore_the_one_of_torch(tmp_path: Path) -> None:
    before, after = SEEDED.programs()
    assert SEEDED.codes(before, tmp_path / "reported") == {"DL602"}
    assert SEEDED.codes(after, tmp_path / "repaired") == set()
    assert SEEDED.run_before(tmp_path, "3").values == {"constant": 4, "worker": 8, "state": 8, "sample": 1}
    assert SEEDED.run_after(tmp_path, "3").values == {"torch": 24, "nothing": 24}


def test_a_generator_of_torch_does_not_reach_spawned_workers(tmp_path: Path) -> None:
    before, after = TORCH_GENERATOR.programs()
    assert TORCH_GENERATOR.codes(before, tmp_path / "reported") == {"DL602"}
    assert TORCH_GENERATOR.codes(after, tmp_path / "repaired") == set()
    assert TORCH_GENERATOR.run_before(tmp_path, "3").values == {"distinct": 4}
    raised = TORCH_GENERATOR.run_before(tmp_path, "1", start_method="spawn").raised
    assert raised.type == "RuntimeError" and "exited unexpectedly" in raised.text
    assert TORCH_GENERATOR.run_after(tmp_path, "1", start_method="spawn").values == {"distinct": 8}


def test_a_pipeline_of_albumentations_repeats_itself(tmp_path: Path) -> None:
    before, after = ALBUMENTATIONS.programs()
    assert ALBUMENTATIONS.codes(before, tmp_path / "reported") == {"DL602"}
    assert ALBUMENTATIONS.codes(after, tmp_path / "repaired") == set()
    pytest.importorskip("albumentations")
    assert ALBUMENTATIONS.run_before(tmp_path).values == {"distinct": 4}
    assert ALBUMENTATIONS.run_after(tmp_path).values == {"distinct": 24}
