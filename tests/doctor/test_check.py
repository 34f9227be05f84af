"""`assert_worker_safe`, and `examine` and `watch` in this process."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

from dataloader_lint.doctor import assert_worker_safe, examine, watch
from dataloader_lint.doctor.trials import try_settings

FORK = ("fork",)


class Rows(Dataset[Any]):
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Any:
        return torch.full((2,), index)


class Stored(Rows):
    def __getitem__(self, index: int) -> Any:
        self.rows[index] *= 2
        return self.rows[index].clone()


class Missing(Rows):
    def __getitem__(self, index: int) -> Any:
        return index if index < 4 else None


class Words(Rows):
    def __getitem__(self, index: int) -> Any:
        return (word for word in "ab")


class Drawn(Rows):
    def __getitem__(self, index: int) -> Any:
        return float(self.rng.random())


class Random(Rows):
    def __getitem__(self, index: int) -> Any:
        return float(torch.rand(()))


class Shared(Rows):
    def __getitem__(self, index: int) -> Any:
        return os.getpid()


class Numbers(IterableDataset[Any]):
    def __init__(self, shards: bool) -> None:
        self.shards = shards

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info is not None and self.shards else (0, 1)
        return iter(range(first, 8, step))


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (Rows(change=lambda row: row), r"`dataset\.change` cannot be pickled.*DL204"),
        (Stored(rows=torch.ones(8, 2)), r"DL613"),
        (Missing(), r"sample 4 is None.*DL604"),
        (Words(), r"`sample 0` cannot be pickled.*DL213"),
        (Shared(), r"other samples than the main process.*DL205"),
        (Numbers(shards=False), r"every sample twice \(DL601\)"),
    ],
)
def test_what_is_not_safe(dataset: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_worker_safe(dataset, start_methods=FORK)


def test_random_numbers_that_repeat() -> None:
    with pytest.raises(AssertionError, match=r"DL602"):
        assert_worker_safe(Drawn(rng=np.random.default_rng(0)), start_methods=FORK, is_random=True)
    assert_worker_safe(Random(), start_methods=FORK, is_random=True)


def test_what_is_safe() -> None:
    state = random.getstate(), torch.get_rng_state()
    assert_worker_safe(Rows(rows=[1, 2]), start_methods=FORK)
    assert_worker_safe(Numbers(shards=True), start_methods=FORK)
    assert random.getstate() == state[0] and torch.equal(torch.get_rng_state(), state[1])


@pytest.mark.evidence
def test_what_is_safe_under_spawn() -> None:
    assert_worker_safe(Rows(rows=[1, 2]))


def test_examine_leaves_everything_as_it_was() -> None:
    state = torch.get_rng_state()
    loader = DataLoader(Rows(rows=[1, 2]), batch_size=2, num_workers=1, shuffle=True, multiprocessing_context="fork")
    before = dict(vars(loader))
    patched = DataLoader._get_iterator
    report = examine(loader)
    assert DataLoader._get_iterator is patched
    assert vars(loader) == before
    assert torch.equal(torch.get_rng_state(), state)
    assert report.loaders[0].batches == 8
    assert not [child for child in psutil.Process().children() if "pt_data" in child.name()]
    text = report.text(ascii_only=True)
    assert text.isascii() and "Rows" in text and "<pre>" in report._repr_html_()


@pytest.mark.thorough
def test_examine_without_workers_and_with_an_error() -> None:
    report = examine(DataLoader(Missing(), batch_size=2))
    assert report.loaders[0].batches == 2 and report.loaders[0].fetch is not None
    assert report.symptoms[0].codes[0] == "DL604"
    with pytest.raises(TypeError, match="not list"):
        examine([1])


@pytest.mark.thorough
def test_a_dataset_that_hangs_without_workers_is_given_up() -> None:
    class Hangs(Rows):
        def __getitem__(self, index: int) -> Any:
            import time

            time.sleep(60)

    report = examine(DataLoader(Hangs()), seconds=0.1, stall=1.0)
    assert report.error.startswith("TimeoutError: the Dataset gave no batch")


def test_watch_in_a_loop() -> None:
    loader = DataLoader(Rows(), batch_size=2)
    with watch(loader) as watched:
        assert [len(batch) for batch in watched] == [2, 2, 2, 2]
    assert watched.report.loaders[0].batches == 4
    assert Path(watched.report.loaders[0].place[0]).name == "test_check.py"
    with pytest.raises(KeyError), watch(loader) as watched:
        raise KeyError("mine")
    assert "KeyError" in watched.report.error


@pytest.mark.thorough
def test_trials() -> None:
    loader = DataLoader(Rows(), batch_size=2, num_workers=1, multiprocessing_context="fork")
    trials = try_settings(loader, batches=4, pairs=1, seconds=5)
    assert {"num_workers=0"} <= {trial.setting for trial in trials}
    assert all(trial.pairs == 1 or trial.error for trial in trials)
    assert "times the time" in str(trials[0])


def test_of_loaders_that_are_made_again_the_largest_dataset_is_looked_at() -> None:
    from dataloader_lint.doctor.watching import Watch

    watch = Watch().start()
    try:
        for count in (10, 1_000, 20):
            for _ in DataLoader(Rows(rows=[str(number) for number in range(count)])):
                pass
    finally:
        records = watch.stop()
    [record] = records
    assert record.contents is not None and record.contents.attributes[0].elements == 1_000
    assert record.has_several_datasets
