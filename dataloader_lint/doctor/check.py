"""A check for tests: does a Dataset work in workers, however they are started?"""

from __future__ import annotations

import contextlib
import copy
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dataloader_lint.doctor.cleanup import end_workers
from dataloader_lint.doctor.examining import given_up_after
from dataloader_lint.doctor.pickling import pickled_by_path
from dataloader_lint.doctor.randomness import sample_digest

_START_METHODS = ("fork", "spawn")
_SECONDS = 120.0


class WorkerSafetyError(AssertionError):
    """A Dataset that does not work in workers as it does without them. The message names the rule and what fails."""


def assert_worker_safe(
    dataset: Any,
    *,
    samples: int = 8,
    collate_fn: Callable[[list[Any]], Any] | None = None,
    worker_init_fn: Callable[[int], object] | None = None,
    start_methods: Sequence[str] = _START_METHODS,
    is_random: bool = False,
    seconds: float = _SECONDS,
) -> None:
    """Raise an AssertionError unless a Dataset gives in workers what it gives without them.

    What is checked: the Dataset and the functions pickle; two workers, started by each method, give the samples that
    the main process gives, each of them once; reading samples does not change them; samples pickle. With
    `is_random`, samples may differ from run to run: then they must differ between workers and epochs, and come again
    with the same seed.

    Args:
        dataset: a Dataset or an iterable one. It is read in this process, too.
        samples: how many samples are read.
        collate_fn: the function of the loader, if there is one; it is pickled, and called once.
        worker_init_fn: the same.
        start_methods: how workers are started, of "fork", "spawn" and "forkserver".
        is_random: samples are random, as with augmentation.
        seconds: for each loader that takes longer than this, the check fails.
    """
    import multiprocessing

    for name, value in (("dataset", dataset), ("collate_fn", collate_fn), ("worker_init_fn", worker_init_fn)):
        result = pickled_by_path(value, name, runs_code=True)
        if result.error:
            rules = {"collate_fn": "DL201, DL202", "worker_init_fn": "DL203"}.get(name, "DL204, DL205, DL208")
            raise WorkerSafetyError(
                f"`{result.path}` cannot be pickled, so spawned workers cannot start ({rules}): {result.error}"
            )
    make = _Loaders(dataset, samples, worker_init_fn, seconds)
    plain = make.epochs(0, "", 2)
    _check_samples(plain[0], collate_fn)
    if not is_random:
        _check_repeated(plain)
    for method in start_methods:
        if method not in multiprocessing.get_all_start_methods():
            continue
        several = make.epochs(2, method, 2)
        if is_random:
            _check_random(several, make.epochs(2, method, 2), method)
        else:
            _check_same(plain[0], several, method)


class _Loaders:
    """Makes loaders of a Dataset that give lists of samples, and reads them."""

    def __init__(self, dataset: Any, samples: int, init: Callable[[int], object] | None, seconds: float) -> None:
        from torch.utils.data import IterableDataset, Subset

        self._is_iterable = isinstance(dataset, IterableDataset)
        self._dataset = dataset if self._is_iterable else Subset(dataset, range(min(samples, len(dataset))))
        self._samples = samples
        self._init = init
        self._seconds = seconds

    def epochs(self, workers: int, method: str, count: int) -> list[list[Any]]:
        """The samples of some epochs, in order, from the same seed each time."""
        import torch
        from torch.utils.data import DataLoader

        with _seeded():
            generator = torch.Generator().manual_seed(0)
            extra: dict[str, Any] = {"multiprocessing_context": method, "worker_init_fn": self._init} if workers else {}
            timeout = self._seconds if workers else 0
            loader: Any = DataLoader(
                self._dataset,
                batch_size=1,
                num_workers=workers,
                collate_fn=_as_it_is,
                generator=generator,
                timeout=timeout,
                **extra,
            )
            return [self._read(loader, workers, method) for _ in range(count)]

    def _read(self, loader: Any, workers: int, method: str) -> list[Any]:
        found: list[Any] = []
        iterator = None
        most = self._samples * max(1, workers)  # an iterable Dataset that is not shared out repeats itself
        try:
            with given_up_after(0 if workers else self._seconds, 0):
                iterator = iter(loader)
                for batch in iterator:
                    found += batch
                    if len(found) >= most:
                        break
        except Exception as error:
            how = f"with 2 workers started by {method}" if workers else "without workers"
            first = f"{type(error).__name__}: {error}".strip()
            raise WorkerSafetyError(f"the Dataset cannot be read {how}{_hint(first)}: {first}") from error
        finally:
            end_workers(loader, iterator)
        return found


def _hint(error: str) -> str:
    """The rules that find the cause of an error, in brackets, if there are any."""
    from dataloader_lint.rules.messages import answer

    found = answer(error)
    codes = [each.rule.code for each in found.rules] if found is not None else []
    return f" ({', '.join(codes)})" if codes else ""


def _as_it_is(samples: list[Any]) -> list[Any]:
    return samples


@contextlib.contextmanager
def _seeded() -> Iterator[None]:
    """The global generators at the same state, and afterwards as they were."""
    import torch

    states = random.getstate(), torch.get_rng_state()
    random.seed(0)
    torch.manual_seed(0)
    try:
        yield
    finally:
        random.setstate(states[0])
        torch.set_rng_state(states[1])


def _check_samples(samples: list[Any], collate_fn: Callable[[list[Any]], Any] | None) -> None:
    if not samples:
        raise WorkerSafetyError("the Dataset gives no sample")
    for number, sample in enumerate(samples):
        if sample is None:
            raise WorkerSafetyError(f"sample {number} is None, which the default `collate_fn` refuses (DL604)")
        result = pickled_by_path(sample, f"sample {number}", runs_code=True)
        if result.error:
            raise WorkerSafetyError(
                f"`{result.path}` cannot be pickled, so it never leaves a worker (DL213): {result.error}"
            )
    if collate_fn is not None:
        result = pickled_by_path(collate_fn(copy.deepcopy(samples)), "batch", runs_code=True)
        if result.error:
            raise WorkerSafetyError(
                f"`{result.path}` cannot be pickled, so it never leaves a worker (DL213): {result.error}"
            )


def _check_repeated(plain: list[list[Any]]) -> None:
    first, second = (_digests(each) for each in plain)
    for number, (one, other) in enumerate(zip(first, second, strict=False)):
        if one is not None and other is not None and one != other:
            raise WorkerSafetyError(
                f"sample {number} is another one when it is read again: reading changes it (DL613), or it is random "
                "(pass `is_random=True`)"
            )


def _check_same(plain: list[Any], several: list[list[Any]], method: str) -> None:
    expected = [each for each in _digests(plain) if each is not None]
    for found in several:
        digests = [each for each in _digests(found) if each is not None]
        if sorted(digests) == sorted(expected):
            continue
        if len(set(expected)) == len(expected) and len(digests) == 2 * len(set(digests)):
            raise WorkerSafetyError(f"2 workers started by {method} give every sample twice (DL601)")
        raise WorkerSafetyError(
            f"2 workers started by {method} give other samples than the main process: a handle or a position is shared "
            "(DL205), a global differs (DL211), or they are random (pass `is_random=True`)"
        )


def _check_random(several: list[list[Any]], again: list[list[Any]], method: str) -> None:
    first, second = (_digests(each) for each in several)
    if None not in first and first == second:
        raise WorkerSafetyError(f"workers started by {method} repeat the random samples of the epoch before (DL602)")
    ahead, behind = first[::2], first[1::2]
    if None not in first and len(ahead) > 1 and ahead[: len(behind)] == behind:
        raise WorkerSafetyError(f"2 workers started by {method} draw the same random numbers (DL602)")
    if [_digests(each) for each in again] != [first, second]:
        raise WorkerSafetyError(
            f"workers started by {method} give other samples with the same seed: seed generators from "
            "`torch.initial_seed()` (DL602)"
        )


def _digests(samples: list[Any]) -> list[str | None]:
    return [sample_digest(each) for each in samples]
