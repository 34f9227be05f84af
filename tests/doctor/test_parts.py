"""The parts of the doctor that need no worker: sizes, pickling by path, growth, digests, and the report's outputs."""

from __future__ import annotations

import functools
import gc
import json
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from dataloader_lint.doctor import words
from dataloader_lint.doctor.garbage import Collections
from dataloader_lint.doctor.inside import read_lines
from dataloader_lint.doctor.measured import LoaderReport, Symptom, Trial
from dataloader_lint.doctor.memory import (
    growth_of,
    growth_to_level,
    memory_of_this_process,
    threads_of_this_process,
)
from dataloader_lint.doctor.meter import Meter
from dataloader_lint.doctor.pickling import pickled, pickled_by_path
from dataloader_lint.doctor.randomness import generator_states, sample_digest
from dataloader_lint.doctor.records import settings_of
from dataloader_lint.doctor.report import Report
from dataloader_lint.doctor.sizes import attributes_of, measure
from dataloader_lint.doctor.trials import with_gains


class Step:
    def __init__(self, function: Any) -> None:
        self.function = function


class Holder:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


class Stateful(Holder):
    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "lock"}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Holder(transform=Holder(transforms=[abs, len, Step(lambda row: row)])), "d.transform.transforms[2].function"),
        (Holder(readers={"a": threading.Lock()}), "d.readers['a']"),
        (Holder(call=functools.partial(max, key=lambda row: row)), "d.call.keywords['key']"),
        (Holder(rows=(number for number in range(3))), "d.rows"),
        (lambda row: row, "d"),
        (Stateful(lock=threading.Lock(), rows=[1]), None),
        (Holder(rows=torch.zeros(3), lock=torch.multiprocessing.get_context("spawn").Lock()), None),
    ],
)
def test_the_path_to_what_cannot_be_pickled(value: object, path: str | None) -> None:
    result = pickled_by_path(value, "d", runs_code=True)
    assert (result.path or None) == path
    assert bool(result.error) == (path is not None)


def test_tensors_are_counted_and_not_moved() -> None:
    rows = torch.zeros(1_000)
    result = pickled(Holder(rows=rows))
    assert result.tensors == 4_000 and result.size < 1_000
    assert not rows.is_shared()


def test_a_large_object_is_not_pickled_to_its_end() -> None:
    assert pickled([b"x" * 100_000 for _ in range(100)], most=1_000_000).is_cut


def test_sizes() -> None:
    paths = [f"{number:032d}" for number in range(20_000)]
    found = {
        one.path: one for one in attributes_of(Holder(paths=paths, inner=Holder(rows=np.zeros(1_000)), two=[1, 2]))
    }
    assert found["dataset.paths"].objects == 20_001
    assert 1.5e6 < found["dataset.paths"].size < 2e6
    assert (found["dataset.paths"].elements, found["dataset.paths"].element) == (20_000, "str")
    assert found["dataset.inner.rows"].size == 8_000
    assert found["dataset.two"].elements == 2
    # The same few objects in many places cost little.
    assert measure([paths[0], paths[1]] * 10_000)[0] <= 3


def test_growth() -> None:
    noise = random.Random(0)
    xs = list(range(40))
    grown = growth_of(xs, [1_000 * x + noise.randrange(3_000) for x in xs])
    assert grown is not None and grown.is_certain and 900 < grown.slope < 1_100
    flat = growth_of(xs, [noise.randrange(3_000) for _ in xs])
    assert flat is not None and not flat.is_certain
    bent = growth_of(xs, [min(x, 12) * 1_000 for x in xs])
    assert bent is not None and bent.low >= 0
    assert growth_of([1, 2, 3], [1, 2, 3]) is None
    assert growth_of([1] * 9, list(range(9))) is None


def test_growth_up_to_a_level() -> None:
    xs = [2, 4, 8, 16, *range(100, 200)]
    level = [0, 40, 70, 95, *(96 + x % 3 for x in range(100))]
    whole, rise = growth_of(xs, level), growth_to_level(xs, level)
    assert whole is not None and whole.slope < 0.1
    assert rise is not None and rise.is_certain and rise.points == 4 and rise.slope > 5
    assert growth_to_level([], []) is None


def test_the_gain_of_a_setting_goes_to_the_symptom_that_it_answers() -> None:
    settings = settings_of(DataLoader(range(4)))
    several = [Symptom("waiting", "waits", "", (), 3, 2.0), Symptom("threads", "many", "", (), 3, 9.0)]
    report = LoaderReport("a", ("", 0), settings, 9, 1, 4.0, 2.0, 2.0, *[None] * 3, [], [], {}, {}, 0, 0, *[None] * 4)
    report.symptoms = several
    helps = Trial("num_workers=2", 0.5, 0.4, 0.6, 3, 50, 100)
    with_gains(report, [Trial("num_workers=4", 0.3, 0.2, 1.2, 3, 50, 100), helps])
    assert report.symptoms[0].gain == (
        "`num_workers=2` takes 0.50 times the time for an epoch of 100 (0.40 to 0.60 over 3 pairs of 50 batches)"
    )
    assert report.symptoms[0].weight == 1.0 and report.symptoms[1] is several[1]
    assert str(Trial("timeout=1", 2.0, 2.0, 2.0, 1, 50, 100)).startswith("timeout=1: makes no clear difference")


def test_a_page_shows_code_as_code_and_escapes_it() -> None:
    report = Report(symptoms=[Symptom("error", "`<a>` is None", "", ("DL604",), 0)])
    page = report.to_html()
    assert "<code>&lt;a&gt;</code> is None" in page and "No finding explains it" in page and ">DL604</a>" in page


def test_this_process() -> None:
    assert memory_of_this_process().own > 1_000_000
    assert threads_of_this_process() >= 1


def test_states_change_when_they_are_drawn_from() -> None:
    held = Holder(steps=[Holder(rng=np.random.default_rng(0))], generator=torch.Generator(), own=random.Random(0))
    before = generator_states(held)
    assert {"dataset.steps[0].rng", "dataset.generator", "dataset.own", "random", "numpy.random", "torch"} == set(
        before
    )
    assert generator_states(held) == before
    held.steps[0].rng.random()
    held.own.random()
    after = generator_states(held)
    assert {path for path in before if before[path] != after[path]} == {"dataset.steps[0].rng", "dataset.own"}


def test_digests_of_samples() -> None:
    def sample(number: float) -> dict[str, Any]:
        return {"image": torch.full((3, 4), number), "rows": np.full(5, number), "name": "a", "box": (1, 2.5, None)}

    assert sample_digest(sample(1)) == sample_digest(sample(1)) != sample_digest(sample(2))
    assert sample_digest(object()) is None


def test_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert [words.size(each) for each in (12, 1_234, 61_000_000, 2.5e9)] == ["12 B", "1.2 kB", "61.0 MB", "2.5 GB"]
    assert [words.seconds(each) for each in (2, 0.0123, 0.0012, 2e-6)] == ["2.0 s", "12 ms", "1.2 ms", "2 µs"]
    assert words.number(1_234_567) == "1.2 million"
    monkeypatch.chdir(tmp_path)
    assert words.place((str(tmp_path / "a.py"), 3)) == "a.py:3"


def test_an_empty_report() -> None:
    from dataloader_lint.doctor import Report

    report = Report()
    assert "No DataLoader was iterated" in report.text()
    assert json.loads(report.to_json())["symptoms"] == []
    assert "Nothing wrong was measured" in report.to_html()
    assert json.loads(report.to_sarif())["runs"][0]["results"] == []


def test_collections_are_counted_and_only_timed_where_there_are_many() -> None:
    before = [*gc.callbacks]
    collections = Collections().start()
    assert (collections.count(), collections.each) == (0, 0.0)
    gc.collect()
    gc.collect(1)
    assert collections.count(0.001) == 0  # too short for one
    assert collections.count() == 1 and gc.callbacks == before
    collections.time_some()
    assert len(gc.callbacks) == len(before) + 1
    for _ in range(8):
        gc.collect()
        collections.time_some()
    assert gc.callbacks == before
    assert collections.count() == 9 and collections.each > 0
    collections.time_some()
    collections.stop()
    assert gc.callbacks == before


class _Fetcher:
    """Fetches as torch's own does, by its `collate_fn`."""

    def __init__(self) -> None:
        self.collate_fn: Callable[[list[int]], object] = list

    def fetch(self, index: list[int]) -> object:
        return self.collate_fn(index)


def test_a_worker_that_is_one_of_many_rounds_measures_little(tmp_path: Path) -> None:
    def kinds(round_: int) -> list[str]:
        folder = tmp_path / str(round_)
        folder.mkdir()
        meter = Meter([1, 2, 3], 0, round_, str(folder / "1.jsonl"))
        fetcher = _Fetcher()
        meter.attach(fetcher)
        assert fetcher.fetch([0, 1]) == [0, 1]
        return [line["kind"] for line in read_lines(str(folder))[1]]

    expensive = {"memory", "drawn", "samples", "variables"}
    assert expensive <= {*kinds(2)}
    assert not expensive & {*kinds(3)} and {"start", "epoch", "batch", "state"} <= {*kinds(4)}
