"""DL101: workers that read a list come to hold a copy of it; they share an array when forked, a tensor always."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint.settings import Settings
from evidence.harness import Proof, run

PROOF = Proof(
    rule="DL101",
    settings=Settings(samples=(("*", 5_000_000),)),
    symptom="two forked workers add more than 120 bytes a sample in an epoch",
    cure="they add less than 40",
    before="""
    import probe
    from torch.utils.data import DataLoader, Dataset, RandomSampler


    class Images(Dataset):
        def __init__(self, count):
            self.names = [f"{number:016d}.png" for number in range(count)]

        def __len__(self):
            return len(self.names)

        def __getitem__(self, index):
            return len(self.names[index])


    def make_loader(count):
        images = Images(count)
        sampler = RandomSampler(images, replacement=True)
        return DataLoader(images, batch_size=1000, sampler=sampler, num_workers=2, persistent_workers=True)


    if __name__ == "__main__":
        probe.say(growth=probe.bytes_per_sample(make_loader))
    """,
)

# What the rule's page says of spawned workers: a tensor is all that they share.
TENSOR = """
import probe
import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Images(Dataset):
    def __init__(self, count):
        text = "".join(f"{number:016d}.png" for number in range(count))
        self.names = torch.frombuffer(bytearray(text, "ascii"), dtype=torch.uint8).reshape(count, 20)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return len(self.names[index].numpy().tobytes().decode("ascii"))


def make_loader(count):
    images = Images(count)
    sampler = RandomSampler(images, replacement=True)
    return DataLoader(images, batch_size=1000, sampler=sampler, num_workers=2, persistent_workers=True)


if __name__ == "__main__":
    probe.say(growth=probe.bytes_per_sample(make_loader))
"""

# Samples of 12,288 bytes each, which are no Python objects; the objects around them are.
LARGE = """
import probe
import numpy
from torch.utils.data import DataLoader, Dataset


def arrays(count):
    return [numpy.zeros((64, 64, 3), numpy.uint8) for _ in range(count)]


def images(count):
    from PIL import Image

    return [Image.new("RGB", (64, 64)) for _ in range(count)]


class Samples(Dataset):
    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return int(numpy.asarray(self.samples[index]).sum())


def make_loader(samples):
    return DataLoader(Samples(samples), batch_size=100, num_workers=2, persistent_workers=True)


if __name__ == "__main__":
    probe.say(growth=probe.bytes_per_sample(lambda count: make_loader(KIND(count)), few=100, many=5_000))
"""

# Whose samples are tensors of their own: a fork server can be sent some 240 file descriptors for a worker.
TENSORS = """
import probe
import torch
from torch.utils.data import DataLoader


def first_batch(tensors):
    rows = list(tensors)
    return len(next(iter(DataLoader(rows, batch_size=2, num_workers=1))))


def few():
    return first_batch(torch.zeros(1) for _ in range(200))


def many():
    return first_batch(torch.zeros(1) for _ in range(300))


if __name__ == "__main__":
    probe.attempt(few, many)
"""


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_each(tmp_path, start_methods=["fork"])["fork"]
    assert before.values["growth"] > 120
    assert after.values["growth"] < 40


def test_pickled_copies_go_away_with_a_tensor_only(tmp_path: Path) -> None:
    before, after = PROOF.run_each(tmp_path, start_methods=["forkserver"])["forkserver"]
    assert before.values["growth"] > 120
    assert after.values["growth"] > 100
    # Its 20 bytes move to shared memory, once for all workers.
    assert run(TENSOR, tmp_path, start_method="forkserver").values["growth"] < 60


def test_a_fork_server_takes_few_tensors(tmp_path: Path) -> None:
    seen = run(TENSORS, tmp_path, start_method="fork,forkserver").values
    assert (seen["fork few"], seen["fork many"]) == (2, 2)
    assert (seen["forkserver few"], seen["forkserver many"]) == (2, "ValueError: too many fds")


@pytest.mark.parametrize("kind", ["arrays", "images"])
def test_forked_workers_copy_only_the_objects_around_arrays_and_images(kind: str, tmp_path: Path) -> None:
    program = LARGE.replace("KIND", kind)
    assert run(program, tmp_path, start_method="fork").values["growth"] < 2_000
    assert run(program, tmp_path, start_method="forkserver").values["growth"] > 2 * 12_288


def test_small_numbers_do_not_grow(tmp_path: Path) -> None:
    before, _ = PROOF.programs()
    numbers = before.replace('f"{number:016d}.png" for', "number % 257 for").replace(
        "len(self.names[index])", "self.names[index]"
    )
    assert numbers.count("%") == 1 and "return self.names[index]" in numbers
    assert run(numbers, tmp_path).values["growth"] < 40
