"""torch.multiprocessing, as far as programs of tests ask."""

from __future__ import annotations

from torch import state


def set_start_method(method: str, force: bool = False) -> None:
    if method not in ("fork", "spawn", "forkserver"):
        raise ValueError(f"cannot find context for {method!r}")
    if state.start_method and not force:
        raise RuntimeError("context has already been set")
    state.start_method = method


def get_start_method(allow_none: bool = False) -> str | None:
    return state.start_method or (None if allow_none else "fork")


def get_context(method: str | None = None) -> str:
    return method or state.start_method or "fork"
