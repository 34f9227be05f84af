"""DL310: options that need workers, hard-coded beside a number of workers that somebody sets to 0."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, run

PROOF = Proof(
    rule="DL310",
    symptom="ValueError: persistent_workers option needs num_workers > 0, with --workers 0; AssertionError for timeout",
    cure="gives all 4 batches with --workers 0 and with --workers 1",
    before="""
    import argparse

    import probe
    from torch.utils.data import DataLoader

    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)


    def persistent(dataset, args):
        return DataLoader(dataset, num_workers=args.workers, persistent_workers=True)


    def prefetching(dataset, args):
        return DataLoader(dataset, num_workers=args.workers, prefetch_factor=4)


    def patient(dataset, args):
        return DataLoader(dataset, num_workers=args.workers, timeout=60)


    def forking(dataset, args):
        return DataLoader(dataset, num_workers=args.workers, multiprocessing_context="fork")


    if __name__ == "__main__":
        args = parser.parse_args()
        for make in (persistent, prefetching, patient, forking):
            try:
                seen = len(list(make(range(4), args)))
            except (ValueError, AssertionError) as error:
                seen = f"{type(error).__name__}: {error}"
            probe.say(**{make.__name__: seen})
    """,
)

GUARDED = """
import probe
from torch.utils.data import DataLoader


def by_zero(workers=0):
    return len(list(DataLoader(range(4), num_workers=workers, prefetch_factor=2 if workers > 0 else 0)))


def by_none(workers=0):
    return len(list(DataLoader(range(4), num_workers=workers, prefetch_factor=2 if workers > 0 else None)))


if __name__ == "__main__":
    probe.attempt(by_zero, by_none)
"""

SHARES = """
import os

import probe
from torch.utils.data import DataLoader

if __name__ == "__main__":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # a job with one CPU
    cpus = len(os.sched_getaffinity(0))
    for name, workers in {"half": cpus // 2, "rest": cpus - 1, "at_least_one": max(1, cpus // 2)}.items():
        try:
            seen = len(list(DataLoader(range(4), num_workers=workers, persistent_workers=True)))
        except ValueError as error:
            seen = str(error)
        probe.say(**{name: seen})
"""

MESSAGES = {
    "persistent": "ValueError: persistent_workers option needs num_workers > 0",
    "prefetching": "ValueError: prefetch_factor option could only be specified in multiprocessing",
    "patient": "AssertionError: _SingleProcessDataLoaderIter requires timeout == 0",
    "forking": "ValueError: multiprocessing_context can only be used with multi-process loading (num_workers > 0)",
}
ALL_WORK = dict.fromkeys(MESSAGES, 4)


def test_symptom_goes_away(tmp_path: Path) -> None:
    raised = PROOF.run_before(tmp_path, "--workers", "0").values
    assert [name for name, message in MESSAGES.items() if not str(raised[name]).startswith(message)] == []
    assert PROOF.run_after(tmp_path, "--workers", "0").values == ALL_WORK


def test_with_workers_nothing_changes(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path, "--workers", "1").values == ALL_WORK
    assert PROOF.run_after(tmp_path, "--workers", "1").values == ALL_WORK


def test_a_guard_needs_none(tmp_path: Path) -> None:
    guarded = run(GUARDED, tmp_path).values
    assert guarded["by_zero"].startswith(MESSAGES["prefetching"])
    assert guarded["by_none"] == 4


def test_a_share_of_one_cpu_is_zero(tmp_path: Path) -> None:
    seen = run(SHARES, tmp_path).values
    assert {seen["half"], seen["rest"]} == {"persistent_workers option needs num_workers > 0"}
    assert seen["at_least_one"] == 4
