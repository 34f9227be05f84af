"""The numbers that the settings set for opt-in rules."""

from __future__ import annotations

from dataloader_lint import Settings, lint_source

SOURCE = """\
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, num_workers=8, prefetch_factor=4)
"""


def codes(**chosen: int) -> list[str]:
    settings = Settings(select=("DL305", "DL307"), **chosen)  # type: ignore[arg-type]
    return [found.code for found in lint_source(SOURCE, "example.py", settings)]


def test_nothing_is_above_the_limits_by_default() -> None:
    assert codes() == []


def test_the_limit_for_workers_is_a_setting() -> None:
    assert codes(max_workers=7) == ["DL305"]
    assert codes(max_workers=8) == []


def test_the_limit_for_prefetched_batches_is_a_setting() -> None:
    assert codes(max_prefetched_batches=31) == ["DL307"]
    assert codes(max_prefetched_batches=32) == []
