"""torch.utils.data.distributed, for one process."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from torch.utils.data import Sampler


class DistributedSampler(Sampler[int]):
    def __init__(self, dataset: Any, num_replicas: int = 1, rank: int = 0, shuffle: bool = True, seed: int = 0) -> None:
        self.dataset, self.shuffle, self.seed, self.epoch = dataset, shuffle, seed, 0

    def __iter__(self) -> Iterator[int]:
        indices = list(range(len(self.dataset)))
        if self.shuffle:
            random.Random(self.seed + self.epoch).shuffle(indices)
        return iter(indices)

    def __len__(self) -> int:
        return len(self.dataset)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch
