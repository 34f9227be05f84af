"""torch.cuda, as far as programs of tests ask."""

from __future__ import annotations

from typing import Any

from torch import state


def is_available() -> bool:
    return state.accelerator() == "cuda"


def device_count() -> int:
    return int(is_available())


def current_device() -> int:
    return 0


def synchronize(device: Any = None) -> None:
    state.synchronize()
