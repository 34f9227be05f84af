"""What DL314 and its fix say of the default device and of generators, where there is no CUDA."""

from __future__ import annotations

import torch
from torch.utils._device import _device_constructors
from torch.utils.data import DataLoader, RandomSampler, random_split


def test_the_default_device_applies_to_the_numbers_and_not_to_their_generator() -> None:
    with_device = _device_constructors()
    assert torch.randperm in with_device
    assert torch.Generator not in with_device


def test_a_generator_on_the_default_device_draws_for_the_loader_the_sampler_and_the_split() -> None:
    def generator() -> torch.Generator:
        return torch.Generator(device=torch.get_default_device())

    loader = DataLoader(range(8), batch_size=4, shuffle=True, generator=generator())
    assert sorted(int(number) for batch in loader for number in batch) == list(range(8))
    assert sorted(RandomSampler(range(8), generator=generator())) == list(range(8))
    assert [len(part) for part in random_split(range(8), [6, 2], generator=generator())] == [6, 2]


def test_a_new_generator_starts_from_the_same_seed_whatever_the_program_has_seeded() -> None:
    seeds = {torch.Generator(device="cpu").initial_seed() for seed in (1, 2) if torch.manual_seed(seed)}
    assert len(seeds) == 1
