"""Shared memory and file descriptors, through which batches come from workers."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import Any

SHM = "/dev/shm"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of shared memory, in all and free, and open file descriptors of this process with their limit."""

    shm_size: int | None
    shm_free: int | None
    descriptors: int | None
    descriptor_limit: int | None


def limits() -> Limits:
    """What holds for this process now; None where the system does not say."""
    size = free = descriptors = most = None
    try:
        stat = os.statvfs(SHM)
        size, free = stat.f_blocks * stat.f_frsize, stat.f_bavail * stat.f_frsize
    except (OSError, AttributeError):
        pass
    with contextlib.suppress(OSError):
        descriptors = len(os.listdir("/proc/self/fd")) - 1  # one of them reads the folder
    try:
        import resource

        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        most = soft if soft != resource.RLIM_INFINITY else None
    except (ImportError, OSError):  # Windows
        pass
    return Limits(size, free, descriptors, most)


def named_files() -> int:
    """How many batches lie in named files of shared memory; 0 unless the program has asked torch for such."""
    import torch.multiprocessing

    multiprocessing: Any = torch.multiprocessing
    if multiprocessing.get_sharing_strategy() != "file_system":
        return 0
    try:
        return sum(name.startswith("torch_") for name in os.listdir(SHM))
    except OSError:
        return 0


def batch_size_in_bytes(batch: Any, depth: int = 0) -> tuple[int, int]:
    """The bytes of all tensors in a batch, and how many tensors these are: each is a descriptor until it is freed."""
    if depth > 6:
        return 0, 0
    if hasattr(batch, "nbytes") and hasattr(batch, "is_pinned"):
        return int(batch.nbytes), 1
    parts: list[Any] = []
    if isinstance(batch, dict):
        parts = list(batch.values())
    elif isinstance(batch, (list, tuple)):
        parts = list(batch[:10_000])
    elif isinstance(getattr(batch, "__dict__", None), dict):
        parts = list(vars(batch).values())
    several = [batch_size_in_bytes(part, depth + 1) for part in parts]
    return sum(size for size, _ in several), sum(count for _, count in several)


def tensors_not_pinned(batch: Any, depth: int = 0) -> bool | None:
    """True if a batch has a tensor on the CPU that is not pinned, False if all are, None without tensors."""
    if depth > 6:
        return None
    if hasattr(batch, "is_pinned") and hasattr(batch, "device"):
        return batch.device.type == "cpu" and not batch.is_pinned()
    parts: list[Any] = []
    if isinstance(batch, dict):
        parts = list(batch.values())
    elif isinstance(batch, (list, tuple)):
        parts = list(batch[:1_000])
    elif isinstance(getattr(batch, "__dict__", None), dict):
        parts = list(vars(batch).values())
    answers = [answer for answer in (tensors_not_pinned(part, depth + 1) for part in parts) if answer is not None]
    return any(answers) if answers else None
