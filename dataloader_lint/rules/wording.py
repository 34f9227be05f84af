"""Phrases that the messages of several rules share."""

from __future__ import annotations

# Where workers are started by spawn or forkserver unless the program asks for something else.
SPAWN_PLATFORMS = "macOS, Windows and Python 3.14+"


def copied_to(workers: str, is_without_workers: bool) -> str:
    """What becomes of a Dataset's container; a Dataset that no DataLoader reads with workers has no copies yet."""
    return f"would be copied to {workers} (none yet)" if is_without_workers else f"is copied to {workers}"
