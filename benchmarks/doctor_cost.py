"""What watching costs a loop, in CPU time: epochs with and without it, in pairs, in turn.

python -m benchmarks.doctor_cost
python -m benchmarks.doctor_cost --pairs 11 --epochs 3
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from dataloader_lint.doctor.watch import Watch

_ROWS = 8_000


class Images(Dataset[torch.Tensor]):
    """A list of paths, and some work for each sample."""

    def __init__(self, work: int) -> None:
        self.paths = [f"{number:032d}.png" for number in range(200_000)]
        self.work = work

    def __len__(self) -> int:
        return _ROWS

    def __getitem__(self, index: int) -> torch.Tensor:
        image = torch.full((3, 32, 32), float(len(self.paths[index])))
        for _ in range(self.work):
            image = image.flip(-1) * 0.5
        return image


def main() -> int:
    """Print the ratio of times for each kind of loop."""
    parser = argparse.ArgumentParser(description="Measure what watching a loader costs.")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name, work, workers in (
        ("light samples, 2 workers", 2, 2),
        ("heavier, 2 workers", 20, 2),
        ("no workers", 5, 0),
    ):
        loader: Any = DataLoader(Images(work), batch_size=32, shuffle=True, num_workers=workers)
        seconds(loader, 1)
        ratios = []
        for pair in range(options.pairs):
            order = (False, True) if pair % 2 else (True, False)
            times = {is_watched: timed(loader, options.epochs, is_watched) for is_watched in order}
            ratios.append(times[True] / times[False])
        spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
        print(
            f"{name}: {statistics.median(ratios):.3f} times the CPU time ({spread}, {options.pairs} pairs)", flush=True
        )
    return 0


def timed(loader: Any, epochs: int, is_watched: bool) -> float:
    """CPU seconds for some epochs."""
    if not is_watched:
        return seconds(loader, epochs)
    watch = Watch([loader]).start()
    try:
        return seconds(loader, epochs)
    finally:
        watch.stop()


def seconds(loader: Any, epochs: int) -> float:
    """CPU seconds for some epochs of a loop that does a little with each batch."""
    start = cpu_seconds()
    for _ in range(epochs):
        for batch in loader:
            batch.mean()
    return cpu_seconds() - start


def cpu_seconds() -> float:
    """CPU time of this process and of all workers that have ended: other programs on the machine do not count."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


if __name__ == "__main__":
    sys.exit(main())
