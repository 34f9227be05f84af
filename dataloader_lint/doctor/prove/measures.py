"""What one run of a program comes to, in numbers that two runs can be compared by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dataloader_lint.doctor.diagnosis import summary
from dataloader_lint.doctor.records import LoaderRecord
from dataloader_lint.doctor.script import Ran
from dataloader_lint.doctor.seen import Seen
from dataloader_lint.doctor.symptoms import program_symptoms

_STEPS = 50  # whose losses are compared
_SAME = 1e-3  # of a loss, up to which two are the same


@dataclass(frozen=True, slots=True)
class Loader:
    """One loader of a run. Times are in seconds, `memory` the bytes that its workers held of their own at the end.

    `later` is the time of a batch from the second epoch on, None if there was none. `start` is the time until the first
    batch, of all epochs, and `wait` that of waiting for the others.
    """

    name: str
    batches: int
    seconds: float
    later: float | None
    memory: int
    workers: int
    start: float
    wait: float
    digests: tuple[str | None, ...]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """One run: how it ended, and its loaders, by their Datasets and in the order in which they were iterated.

    `losses` are what it called `backward` of, in its first steps, `peak` the most bytes that the main process held,
    and `symptoms` the keys of all that it shows.
    """

    error: str = ""
    exit_code: int = 0
    loaders: dict[str, Loader] = field(default_factory=dict)
    losses: tuple[float, ...] = ()
    peak: int = 0
    symptoms: frozenset[str] = frozenset()


def measure_of(ran: Ran) -> Measure:
    """The numbers of a run."""
    loaders: dict[str, Loader] = {}
    for record in ran.seen.records:
        name, number = record.dataset, 2
        while name in loaders:
            name, number = f"{record.dataset} {number}", number + 1
        loaders[name] = _loader(record, name)
    caught = [each.text for each in ran.seen.raised]
    error = ran.seen.error or (caught[0] if caught else "")
    # Where its time was over, how it ends is the doctor's doing.
    exit_code = 0 if ran.is_ended else ran.exit_code
    if exit_code < 0 and not error:
        error = f"signal {-exit_code}"
    return Measure(
        " ".join(error.split()), exit_code, loaders, tuple(ran.seen.losses), ran.seen.peak, _symptoms(ran.seen)
    )


def _symptoms(seen: Seen) -> frozenset[str]:
    reports = [summary(record, number, seen.machine) for number, record in enumerate(seen.records, 1)]
    methods = {record.settings.start_method for record in seen.records if record.settings.num_workers}
    several = [*program_symptoms(seen.error, seen.raised, seen.machine.threads, methods)]
    several += [each for report in reports for each in report.symptoms]
    return frozenset(each.key for each in several)


def _loader(record: LoaderRecord, name: str) -> Loader:
    later = [each for each in record.epochs[1:] if each.batches]
    first = record.epochs[0].batches if record.epochs else 0
    spent = sum(each.creating + each.first_wait for each in later)
    # Of the times between batches, those of the first epoch come first.
    spent += sum(record.waits[max(0, first - 1) :]) + sum(record.steps[max(0, first - 1) :])
    batches = sum(each.batches for each in later)
    memory, workers = _memory(record)
    return Loader(
        name,
        record.batches,
        record.seconds,
        spent / batches if batches else None,
        memory,
        workers,
        record.started,
        record.waited,
        tuple(record.digests),
        record.batch_kind,
    )


def _memory(record: LoaderRecord) -> tuple[int, int]:
    """The bytes of all workers that ran at the same time, and how many these were; of those that held the most."""
    rounds: dict[int, list[int]] = {}
    for lines in record.workers.values():
        start = next((line for line in lines if line["kind"] == "start"), None)
        held = [line["own"] for line in lines if line["kind"] == "memory"]
        if start is not None and start["worker"] >= 0 and held:
            rounds.setdefault(start["round"], []).append(held[-1])
    most = max(rounds.values(), key=sum, default=[])
    return sum(most), len(most)


def same_batches(several: Sequence[Measure]) -> list[str]:
    """The loaders whose batches can be compared: known, and the same in all of these runs of one program."""
    first = several[0].loaders
    return [
        name
        for name, loader in first.items()
        if loader.digests
        and None not in loader.digests
        and all(_is_same(loader, each.loaders.get(name)) for each in several)
    ]


def _is_same(one: Loader, other: Loader | None) -> bool:
    if other is None:
        return False
    count = min(len(one.digests), len(other.digests))
    return count > 0 and one.digests[:count] == other.digests[:count]


def different(before: Loader, after: Loader | None) -> tuple[int, int]:
    """How many batches are other ones, of how many."""
    if after is None:
        return len(before.digests), len(before.digests)
    count = min(len(before.digests), len(after.digests))
    pairs = zip(before.digests, after.digests, strict=False)
    return sum(one != other for one, other in pairs), count


def different_loss(plain: Sequence[Measure], fixed: Sequence[Measure]) -> str:
    """The first step whose loss is another one with a fix, in words; "" if there is none, or the program's own vary.

    Sums in another order, as with another number of threads, differ in their last digits; so do later steps by more.
    """
    known = plain[0].losses[:_STEPS]
    if any(not _are_close(known, each.losses) for each in plain[1:]):
        return ""
    for each in fixed:
        for step, (before, after) in enumerate(zip(known, each.losses, strict=False), 1):
            if not _is_close(before, after):
                return f"the loss of step {step} is {after:.6g} in place of {before:.6g}"
    return ""


def _are_close(several: Sequence[float], others: Sequence[float]) -> bool:
    return all(_is_close(one, other) for one, other in zip(several, others, strict=False))


def _is_close(one: float, other: float) -> bool:
    return one == other or abs(one - other) <= _SAME * max(abs(one), abs(other)) or (one != one and other != other)
