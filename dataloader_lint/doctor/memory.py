"""The memory and the threads of this process, and how fast a series of measurements grows."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from dataloader_lint.doctor.quiet_files import read

_IS_LINUX = sys.platform == "linux"
_NORMAL = 1.96  # the two-sided 95 % quantile of the normal distribution
_MOST_POINTS = 100


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of one process: `own` belong to it alone (USS), `shared` it shares with others."""

    own: int
    shared: int


def memory_of_this_process() -> Memory:
    """What this process holds now. Takes about a millisecond for each 100 MB."""
    if _IS_LINUX:
        try:
            return _rollup(read("/proc/self/smaps_rollup"))
        except (OSError, ValueError):  # an old kernel, or one that hides it
            pass
    import psutil

    info = psutil.Process().memory_full_info()
    own = int(info.uss)
    return Memory(own, max(0, int(info.rss) - own))


def _rollup(content: bytes) -> Memory:
    own = shared = 0
    for line in content.splitlines():
        if line.startswith((b"Private_Clean:", b"Private_Dirty:")):
            own += int(line.split()[1]) * 1024
        elif line.startswith((b"Shared_Clean:", b"Shared_Dirty:")):
            shared += int(line.split()[1]) * 1024
    return Memory(own, shared)


def threads_of_this_process() -> int:
    """How many threads this process has."""
    if _IS_LINUX:
        try:
            return len(os.listdir("/proc/self/task"))
        except OSError:
            pass
    import psutil

    return int(psutil.Process().num_threads())


@dataclass(frozen=True, slots=True)
class Growth:
    """How a series grows: units of y for each unit of x, between `low` and `high` with 95 %."""

    slope: float
    low: float
    high: float
    points: int

    @property
    def is_certain(self) -> bool:
        """True if the growth is above zero with 95 % confidence."""
        return self.low > 0


def growth_of(xs: Sequence[float], ys: Sequence[float]) -> Growth | None:
    """The median slope between all pairs of points (Theil and Sen), or None for fewer than four points or a single x.

    Single outliers, and a series that grows in steps or flattens, leave the sign of its interval right, as those of a
    line by least squares would not.
    """
    step = max(1, -(-len(xs) // _MOST_POINTS))
    points = list(zip(xs, ys, strict=True))[::step]
    count = len(points)
    slopes = sorted((b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2) if a[0] != b[0])
    if count < 4 or not slopes:
        return None
    reach = _NORMAL * math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    middle = len(slopes) // 2
    low = max(0, math.floor((len(slopes) - reach) / 2))
    high = min(len(slopes) - 1, math.ceil((len(slopes) + reach) / 2))
    return Growth(slopes[middle], slopes[low], slopes[high], count)


def growth_to_level(xs: Sequence[float], ys: Sequence[float]) -> Growth | None:
    """As `growth_of`, over the first points up to 90 % of the range: for a series that grows and then stays level.

    The pages of a list are copied once: a worker that has read for long shows a level for most of the time.
    """
    if not ys:
        return None
    lowest, highest = min(ys), max(ys)
    end = next(number for number, y in enumerate(ys, 1) if y >= lowest + 0.9 * (highest - lowest))
    return growth_of(xs[: max(4, end)], ys[: max(4, end)])
