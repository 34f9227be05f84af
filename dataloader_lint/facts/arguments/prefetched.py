"""How many batches the workers of a loader keep ready."""

from __future__ import annotations

from dataloader_lint.facts.infer.loader_calls import Loader

_PREFETCH = 2  # torch's own with workers


def prefetched_batches(loader: Loader) -> tuple[int, int] | None:
    """How many workers, and how many batches each of them keeps ready; None where that is not known."""
    workers = loader.known("num_workers")
    factor = loader.known("prefetch_factor")
    if workers is None or factor is None or not isinstance(workers.value, int) or workers.value <= 0:
        return None
    number = _PREFETCH if factor.value is None else factor.value
    return (workers.value, number) if isinstance(number, int) else None
