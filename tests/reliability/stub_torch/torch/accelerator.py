"""torch.accelerator, as far as programs of tests ask."""

from __future__ import annotations

from typing import Any

from torch import state


def is_available() -> bool:
    return bool(state.accelerator())


def current_accelerator(check_available: bool = False) -> Any:
    from torch import device

    return device(state.accelerator()) if state.accelerator() else None


def synchronize(device: Any = None) -> None:
    state.synchronize()
