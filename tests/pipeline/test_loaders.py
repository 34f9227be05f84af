"""What a loader gets, whether it starts workers, and whether these may pickle what they are given."""

from __future__ import annotations

import re

from dataloader_lint.pipeline.loaders.worker_processes import may_pickle, never_pickled, never_started
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from question_tables import Row, each_row
from semantics.test_values import shown

_STARTS = {True: "some", False: "none", None: "unknown"}


def _loader(row: Row) -> list[Loader]:
    return [each for each in row.file.loaders if row.has(each.call)]


@each_row(__file__, "loader_arguments.md")
def test_loader_arguments(row: Row) -> None:
    names = re.findall(r"(\w+)=", row.answer)
    found = {", ".join(f"{name}={shown(loader.values(name))}" for name in names) for loader in _loader(row)}
    assert found == {row.answer}


@each_row(__file__, "workers.md")
def test_workers(row: Row) -> None:
    (loader,) = _loader(row)
    pickles = "pickled" if may_pickle(loader) else "not pickled"
    assert f"{_STARTS[loader.has_workers]}, {pickles}" == row.answer
    assert never_started([loader]) is (loader.has_workers is False)
    assert never_pickled([loader]) is not may_pickle(loader)


@each_row(__file__, "expected_errors.md")
def test_expected_errors(row: Row) -> None:
    assert {loader.is_error_expected("ValueError") for loader in _loader(row)} == {row.answer == "expected"}


def test_no_loaders_say_nothing() -> None:
    assert not never_started([]) and not never_pickled([])
