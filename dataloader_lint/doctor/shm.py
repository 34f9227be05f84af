"""Shared memory and file descriptors, through which batches come from workers."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import Any

from dataloader_lint.doctor.inert import is_array, is_container, state_of, torch_functions_off

SHM = "/dev/shm"
_MOST_PARTS = 10_000


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
    if is_array(batch) and hasattr(type(batch), "is_pinned"):
        with torch_functions_off():
            return int(batch.nbytes), 1
    several = [batch_size_in_bytes(part, depth + 1) for part in _parts(batch)]
    return sum(size for size, _ in several), sum(count for _, count in several)


def tensors_not_pinned(batch: Any, depth: int = 0) -> bool | None:
    """True if a batch has a tensor on the CPU that is not pinned, False if all are, None without tensors."""
    if depth > 6:
        return None
    if is_array(batch) and hasattr(type(batch), "is_pinned"):
        with torch_functions_off():
            return batch.device.type == "cpu" and not batch.is_pinned()
    several = (tensors_not_pinned(part, depth + 1) for part in _parts(batch))
    answers = [answer for answer in several if answer is not None]
    return any(answers) if answers else None


def _parts(batch: Any) -> list[Any]:
    """What a batch is made of, without running its code."""
    if is_container(batch, dict):
        return list(batch.values())
    if is_container(batch, list, tuple):
        return list(batch[:_MOST_PARTS])
    return list(state_of(batch).values())
