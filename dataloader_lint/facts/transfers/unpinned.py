"""Loaders that are known not to pin their batches."""

from __future__ import annotations

from dataloader_lint.facts.transfers.batches import Origin


def is_unpinned(origin: Origin) -> bool:
    pins = origin.loader.known("pin_memory")
    return pins is not None and pins.value is False and not pins.default
