"""What processes cost, and what several costs say: medians, spreads, ratios and exponents."""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import processes

TIMEOUT = 3600  # seconds


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU and wall time in seconds, and the memory of the largest process in MiB.

    CPU time is user and system time of the process and of all that it started and waited for.
    """

    cpu: float
    wall: float
    memory: float


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run, what it may exit with, and what is done before it runs, which is not measured."""

    arguments: tuple[str, ...]
    exits: tuple[int, ...] = (0, 1)
    before: Callable[[], object] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle, the smallest and the largest of several values."""

    middle: float
    low: float
    high: float


def run(command: Command, folder: Path, output: Path) -> Cost:
    """Run a command in a folder, its standard output into a file.

    Raises:
        RuntimeError: it exits with something else than it may, or is killed.
    """
    if command.before is not None:
        command.before()
    errors = output.with_suffix(".err")
    # Nothing of whoever starts this reaches the tools: no settings, no path to modules, no coverage.
    environment = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR", "SYSTEMROOT") if key in os.environ}
    with output.open("wb") as out, errors.open("wb") as err:
        start = time.perf_counter()
        with processes.started(
            command.arguments, cwd=folder, stdout=out.fileno(), stderr=err.fileno(), env=environment, seconds=TIMEOUT
        ) as running:
            _, status, usage = os.wait4(running.pid, 0)
            wall = time.perf_counter() - start
            running.process.returncode = code = os.waitstatus_to_exitcode(status)
    if code not in command.exits:
        written = errors.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise RuntimeError(f"{' '.join(command.arguments)} exits with {code}\n{written}")
    scale = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, KiB elsewhere
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / scale)


def interleave(
    commands: Mapping[str, Command], rounds: int, folder: Path, outputs: Path, progress: Callable[[str], None]
) -> dict[str, list[Cost]]:
    """Run all commands, then all of them again: what else the machine does falls on each of them alike.

    The output of a command lies in `outputs` under its name, that of the last round.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for number in range(rounds):
        for name, command in commands.items():
            costs[name].append(run(command, folder, outputs / f"{name}.txt"))
            progress(f"{name}, round {number + 1}: {costs[name][-1].cpu:.2f} s of CPU")
    return costs


def spread(values: Sequence[float]) -> Spread:
    """The median of values, and how far they reach."""
    return Spread(statistics.median(values), min(values), max(values))


def ratios(costs: Sequence[float], others: Sequence[float]) -> Spread:
    """How many times more the one costs than the other, round by round; of rounds that both have."""
    return spread([one / other for one, other in zip(costs, others, strict=False)])


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The b of cost = a * size^b that fits best, by least squares of logarithms.

    Raises:
        ValueError: a size or a cost is not above 0, or all sizes are the same.
    """
    xs, ys = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    try:
        return statistics.linear_regression(xs, ys).slope
    except statistics.StatisticsError as error:
        raise ValueError(str(error)) from None
