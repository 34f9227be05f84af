"""What watching costs a loop: loops with and without it, in pairs, in turn. Writes the table in docs/doctor.md.

python -m benchmarks.doctor_cost
python -m benchmarks.doctor_cost --pairs 11 --seconds 8
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from dataloader_lint.doctor.watching import Watch

PAGE = Path(__file__).resolve().parent.parent / "docs" / "doctor.md"
START, END = "<!-- cost: made by benchmarks/doctor_cost.py -->", "<!-- end of cost -->"
_LIST = 200_000


class Images(Dataset[torch.Tensor]):
    """A list of paths, and some work for each sample."""

    def __init__(self, work: int, count: int) -> None:
        self.paths = [f"{number:032d}.png" for number in range(_LIST)]
        self.work = work
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> torch.Tensor:
        image = torch.full((3, 32, 32), float(len(self.paths[index % _LIST])))
        for _ in range(self.work):
            image = image.flip(-1) * 0.5
        return image


@dataclass(frozen=True, slots=True)
class Time:
    """CPU seconds of a loop and its workers, and seconds on the clock."""

    cpu: float
    clock: float


def main() -> int:
    """Print the ratio of times for each kind of loop, and write them into the page."""
    parser = argparse.ArgumentParser(description="Measure what watching a loader costs.")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0, help="about how long a loop lasts")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name, work in (("light", 0), ("middle", 40), ("heavy", 600)):
        for workers in (0, 2):
            rows.append(row(name, work, workers, options.seconds, options.pairs))
            print(rows[-1], flush=True)
    head, rest = PAGE.read_text(encoding="utf-8").split(START)
    _, tail = rest.split(END)
    titles = "| Samples | Time for one | Workers | Two epochs take | CPU time | Time on the clock |"
    lines = "\n".join([titles, "|---|---|---|---|---|---|", *rows])
    PAGE.write_text(f"{head}{START}\n{lines}\n{END}{tail}", encoding="utf-8", newline="\n")
    return 0


def row(name: str, work: int, workers: int, goal: float, pairs: int) -> str:
    """The row of one kind of loop, which two epochs of samples make last about as long as the goal."""
    data = Images(work, 1_000)
    each = timed(loader_of(data, 0), False).clock / (2 * len(data))
    loader = loader_of(data, workers)
    short = timed(loader, False).clock
    data.count *= 2
    data.count = int(goal / 2 * 1_000 / max(timed(loader, False).clock - short, 1e-3) * 2)  # without starting workers
    loader = loader_of(data, workers)
    found: dict[bool, list[Time]] = {False: [], True: []}
    for pair in range(pairs):
        for is_watched in (False, True) if pair % 2 else (True, False):
            found[is_watched].append(timed(loader, is_watched))
    cpu = spread([b.cpu / a.cpu for a, b in zip(found[False], found[True], strict=True)])
    clock = spread([b.clock / a.clock for a, b in zip(found[False], found[True], strict=True)])
    took = statistics.median(one.clock for one in found[False])
    return f"| {name} | {1e6 * each:,.0f} µs | {workers} | {took:.1f} s | {cpu} | {clock} |"


def spread(ratios: Sequence[float]) -> str:
    """The median of ratios, with the lowest and the highest."""
    return f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"


def loader_of(data: Images, workers: int) -> Any:
    """A loader of the samples, in random order."""
    return DataLoader(data, batch_size=32, shuffle=True, num_workers=workers)


def timed(loader: Any, is_watched: bool) -> Time:
    """What two epochs take, in a loop that does a little with each batch."""
    watch = Watch([loader]).start() if is_watched else None
    start, clock = cpu_seconds(), time.perf_counter()
    for _ in range(2):
        for batch in loader:
            batch.mean()
    took = Time(cpu_seconds() - start, time.perf_counter() - clock)
    if watch is not None:
        watch.stop()
    return took


def cpu_seconds() -> float:
    """CPU time of this process and of all workers that have ended: other programs on the machine do not count."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


if __name__ == "__main__":
    sys.exit(main())
