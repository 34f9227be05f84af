"""torch.utils.data: the arguments, errors and order of torch 2.13; each worker is a process of its own."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import torch
from torch import state
from torch.utils.data import workers
from torch.utils.data.workers import default_collate as default_collate
from torch.utils.data.workers import get_worker_info as get_worker_info

T = TypeVar("T")


class Dataset(Generic[T]):
    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")


class IterableDataset(Dataset[T]):
    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError


class Subset(Dataset[Any]):
    def __init__(self, dataset: Any, indices: Any) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


class Sampler(Generic[T]):
    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(SequentialSampler):
    def __init__(self, data_source: Any, generator: Any = None) -> None:
        super().__init__(data_source)
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        chance = random.Random(state.chance.random()) if self.generator is None else self.generator.random
        return iter(chance.sample(range(len(self.data_source)), len(self.data_source)))


class BatchSampler(Sampler[list[int]]):
    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        length = len(self.sampler)  # type: ignore[arg-type]
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


class _Forever(Sampler[None]):
    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T]):
    multiprocessing_context_: Any = None
    _initialized = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
            )
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = 2
        elif prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset, self.num_workers, self.prefetch_factor = dataset, num_workers, prefetch_factor
        self.pin_memory, self.pin_memory_device, self.timeout = pin_memory, pin_memory_device, timeout
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self.is_iterable = isinstance(dataset, IterableDataset)
        if self.is_iterable:
            for name, value, unset in (
                ("shuffle", shuffle, (None, False)),
                ("sampler", sampler, (None,)),
                ("batch_sampler", batch_sampler, (None,)),
            ):
                if not any(value is each for each in unset):
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self.is_iterable:
                sampler = _Forever()
            else:
                sampler = RandomSampler(dataset, generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler = batch_size, drop_last, sampler
        self.batch_sampler, self.generator = batch_sampler, generator
        self.is_batched = batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if self.is_batched else workers.default_convert)
        self.persistent_workers = persistent_workers
        self._workers: list[workers.Worker] = []
        self._initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
        if self._initialized and name in fixed:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        return self.multiprocessing_context_

    @multiprocessing_context.setter
    def multiprocessing_context(self, value: Any) -> None:
        if value is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), "
                    f"but got num_workers={self.num_workers}"
                )
            if value not in ("fork", "spawn", "forkserver"):
                raise ValueError(
                    "multiprocessing_context option should specify a valid start method in "
                    f"['fork', 'spawn', 'forkserver'], but got multiprocessing_context={value!r}"
                )
        super().__setattr__("multiprocessing_context_", value)

    def __len__(self) -> int:
        if self.is_iterable:
            length = len(self.dataset)
            return length if self.batch_size is None else -(-length // self.batch_size)
        return len(self.batch_sampler if self.is_batched else self.sampler)

    def __iter__(self) -> Iterator[Any]:
        seed = state.chance.randrange(2**31)
        if self.num_workers == 0:
            if self.timeout:
                raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
            return self._pinned(self._here())
        if not self._workers:
            method = self.multiprocessing_context or state.start_method or workers.DEFAULT_METHOD
            job = workers.Job(self.dataset, self.collate_fn, self.worker_init_fn, self.is_iterable, self.is_batched)
            for number in range(self.num_workers):
                self._workers.append(workers.Worker(job, number, self.num_workers, seed, method))
        started = self._workers
        if not self.persistent_workers:
            self._workers = []
        return self._pinned(self._from(started))

    def _here(self) -> Iterator[Any]:
        job = workers.Job(self.dataset, self.collate_fn, None, self.is_iterable, self.is_batched)
        yield from job.batches(self.batch_sampler if self.is_batched else self.sampler)

    def _from(self, started: list[workers.Worker]) -> Iterator[Any]:
        if self.is_iterable:
            wanted: list[Any] = [self.batch_size] * len(started)
        else:
            indices = list(self.batch_sampler if self.is_batched else self.sampler)
            wanted = [indices[number :: len(started)] for number in range(len(started))]
        for worker, part in zip(started, wanted, strict=True):
            worker.ask(part)
        answers = [worker.answer() for worker in started]
        if not self.persistent_workers:
            for worker in started:
                worker.stop()
        while any(answers):
            for answer in answers:
                if answer:
                    batch = answer.pop(0)
                    if isinstance(batch, workers.Failed):
                        raise batch.again()
                    yield batch

    def _pinned(self, batches: Iterator[Any]) -> Iterator[Any]:
        return map(workers.pinned, batches) if self.pin_memory and state.accelerator() == "cuda" else batches


def random_split(dataset: Any, lengths: list[int]) -> list[Subset]:
    parts, start = [], 0
    for length in lengths:
        parts.append(Subset(dataset, range(start, start + length)))
        start += length
    return parts


from torch.utils.data import distributed as distributed  # noqa: E402

__all__ = [
    "BatchSampler",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "default_collate",
    "get_worker_info",
    "random_split",
    "torch",
]
