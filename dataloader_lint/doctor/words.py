"""Numbers as people read them."""

from __future__ import annotations

import os


def size(count: float) -> str:
    """Bytes with a unit: `1.2 MB`."""
    sign, count = ("-" if count < 0 else ""), abs(count)
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{sign}{count / factor:.{1 if count < 100 * factor else 0}f} {unit}"
    return f"{sign}{count:.0f} B"


def seconds(count: float) -> str:
    """A duration with a unit: `12 ms`."""
    if count >= 1:
        return f"{count:.1f} s"
    if count >= 0.001:
        return f"{count * 1_000:.{0 if count >= 0.01 else 1}f} ms"
    return f"{count * 1_000_000:.0f} µs"


def number(count: float) -> str:
    """A count: `1.2 million`."""
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f} million"
    return f"{count:,.0f}"


def path(name: str) -> str:
    """A path from the working directory, if it is below it."""
    try:
        below = os.path.relpath(name)
    except (ValueError, OSError):
        return name
    return name if below.startswith("..") else below


def place(where: tuple[str, int]) -> str:
    """`data.py:38`."""
    return f"{path(where[0])}:{where[1]}" if where[0] else "an unknown place"


def several(count: int, thing: str) -> str:
    """`1 epoch`, `2 epochs`, `1 batch`, `2 batches`."""
    ending = "" if count == 1 else "es" if thing.endswith("ch") and thing != "epoch" else "s"
    return f"{count:,} {thing}{ending}"


def workers(count: int, start_method: str) -> str:
    """`2 workers (spawn)`, `no workers`."""
    return f"{several(count, 'worker')} ({start_method})" if count else "no workers"


def gain(text: str) -> str:
    """What a symptom costs, or the gain that was measured."""
    return f"measured: {text}" if text.startswith("`") else f"lost: {text}"
