"""All symptoms, of one loader and of the program."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from dataloader_lint.doctor.measured import LoaderReport, Symptom
from dataloader_lint.doctor.records import LoaderRecord, Raised
from dataloader_lint.doctor.symptoms import failing, memory, speed, wrong

_FINDERS: tuple[Callable[[LoaderRecord, LoaderReport], Iterator[Symptom]], ...] = (
    failing.pickling,
    failing.descriptors,
    failing.shared_memory,
    failing.batches_that_hang,
    failing.deaths,
    failing.nested_processes,
    wrong.random,
    wrong.order,
    wrong.duplicates,
    wrong.changing,
    wrong.stale,
    wrong.left_out,
    wrong.empty,
    memory.copies,
    memory.growth,
    memory.caches,
    memory.files_in_shm,
    speed.reads,
    speed.threads,
    speed.too_many_workers,
    speed.collate,
    speed.waiting,
    speed.starting,
    speed.collecting,
    speed.pinning,
    speed.ignored,
)


def symptoms_of(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """All symptoms of one loader, in no order, without findings."""
    for find in _FINDERS:
        yield from find(record, report)


def program_symptoms(
    error: str, raised: Sequence[Raised], threads: tuple[int, int] | None, methods: Collection[str] = ()
) -> Iterator[Symptom]:
    """The symptoms of a whole program.

    `error` is the exception that ended it, if one did, `raised` what its loaders raised, and `threads` are the numbers
    of threads that the program asked for in the environment and that torch uses. `methods` are the ways in which its
    loaders started workers.
    """
    yield from failing.errors(error, raised, methods)
    if threads is not None:
        yield from speed.late_limit(*threads)
