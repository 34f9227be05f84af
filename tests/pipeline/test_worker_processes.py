"""Whether a loader starts workers, and whether these may pickle what they are given: `may_pickle`, `has_workers`."""

from __future__ import annotations

import pytest

from asking import file_of
from dataloader_lint.pipeline.loaders.worker_processes import may_pickle, never_pickled, never_started

# The arguments; whether workers are started (None: unknown); whether they may pickle the Dataset.
TABLE = [
    ("", False, False),
    ("num_workers=0", False, False),
    ("num_workers=2", True, True),
    ("num_workers=2 if flag else 0", None, True),
    ("num_workers=flag", None, True),
    ("num_workers=os.cpu_count()", True, True),
    ("num_workers=args.workers", False, True),  # 0 by default, and there to be set
    ("num_workers=2, multiprocessing_context='fork'", True, False),
    ("num_workers=2, multiprocessing_context='spawn'", True, True),
]


@pytest.mark.parametrize(("arguments", "starts", "pickles"), TABLE)
def test_workers(arguments: str, starts: bool | None, pickles: bool) -> None:
    (loader,) = file_of(
        f"""
        parser = argparse.ArgumentParser()
        parser.add_argument("--workers", type=int, default=0)
        args = parser.parse_args()


        def make(data, flag):
            return DataLoader(data, {arguments})
        """
    ).loaders
    assert (loader.has_workers, may_pickle(loader)) == (starts, pickles)
    assert never_started([loader]) is (starts is False)
    assert never_pickled([loader]) is not pickles


def test_no_loaders_say_nothing() -> None:
    assert not never_started([]) and not never_pickled([])
