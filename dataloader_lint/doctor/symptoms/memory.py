"""Symptoms of memory: what workers are sent, what they copy, and what they keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dataloader_lint.doctor import words
from dataloader_lint.doctor.measured import LoaderReport, Symptom, Worker
from dataloader_lint.doctor.memory import Growth, growth_to_level
from dataloader_lint.doctor.records import LoaderRecord
from dataloader_lint.doctor.sizes import Attribute
from dataloader_lint.doctor.symptoms.ranks import FEWEST, MEMORY, MEMORY_CODES

_GROWTH = 1_000_000  # bytes that a worker must have grown while it was watched
_LONG = 8  # points of a series that says how growth goes on
_LARGE = 1_000_000  # bytes of an attribute that can be a cause
_MOST = 4  # times its size, that copying an attribute adds to a worker: its objects lie on pages with others


def copies(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """What spawned workers are sent, all of it to each."""
    sent = report.pickles.get("dataset")
    count = report.settings.num_workers
    if sent is None or sent.error or not count or report.settings.start_method == "fork" or sent.size < 20 * 10**6:
        return
    largest = max(report.attributes, key=lambda one: one.pickled, default=None)
    which = f", mostly `{largest.path}`" if largest is not None else ""
    at_least = "at least " if sent.is_cut else ""
    title = f"each of {count} workers is sent {at_least}{words.size(sent.size)} and holds a copy{which}"
    yield Symptom(
        "copies",
        title,
        "hold it in tensors, which workers share, or in a file",
        ("DL106", "DL101", "DL102", "DL103", "DL105"),
        MEMORY,
        float(sent.size * count),
        names=_large(report),
        gain=f"at most {words.size(sent.size * count)}",
    )


def _large(report: LoaderReport) -> tuple[str, ...]:
    """The attributes that are large enough to be the cause of a symptom of memory."""
    return tuple(each.name for each in report.attributes if each.size > _LARGE and each.objects > 1_000)


def growth(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Processes that grow while they read samples: at least half of the workers that were started together."""
    known: dict[int, list[_Grown | None]] = {}
    for one in report.workers:
        if len(one.points) > FEWEST:
            known.setdefault(one.round, []).append(_Grown.of(one, report))
    rounds = [[each for each in several if each is not None] for several in known.values()]
    agreed = [some for some, all_ in zip(rounds, known.values(), strict=True) if some and 2 * len(some) >= len(all_)]
    growing = [each for some in agreed for each in some]
    if not growing:
        return
    grown = sum(each.size for each in growing) / len(growing)
    low, high = min(each.growth.low for each in growing), max(each.growth.high for each in growing)
    samples = max(each.samples for each in growing)
    who = "each worker" if report.settings.num_workers else "the process"
    title = (
        f"{who} grew by {words.size(grown)} while it read {words.number(samples)} samples "
        f"({words.size(low * 1_000)} to {words.size(high * 1_000)} per 1,000 samples)"
    )
    filled = grown_containers(record)
    if filled:
        names = ", ".join(
            f"`dataset.{name}` ({words.number(added)} elements for {words.number(count)} samples)"
            for name, (added, count) in filled.items()
        )
        workers = len({each.number for each in report.workers})
        gain = f"at most {words.size(grown * workers)} in {words.several(workers, 'worker')}"
        advice = f"each worker fills {names}"
        yield Symptom("growth", title, advice, ("DL104",), MEMORY, grown * workers, names=tuple(filled), gain=gain)
        return
    largest = [one for one in report.attributes if one.objects > 1_000][:2]
    advice = "; ".join(f"`{one.path}` is {_described(one)}" for one in largest) or "look for a cache or kept batches"
    workers = len({each.number for each in report.workers})
    large = _large(report)
    copied = sum(one.size for one in report.attributes if one.name in large)
    copying = large if _MOST * copied >= grown else ()
    lost = min(grown, copied if copying else grown) * workers  # what a process loads at first is lost to nobody
    gain = f"at most {words.size(lost)} in {words.several(workers, 'worker')}"
    yield Symptom("growth", title, advice, MEMORY_CODES, MEMORY, lost, names=copying, gain=gain)


@dataclass(frozen=True, slots=True)
class _Grown:
    """The bytes by which a process grew while it read samples, and how that goes on for each of them."""

    size: int
    samples: int
    growth: Growth

    @classmethod
    def of(cls, worker: Worker, report: LoaderReport) -> _Grown | None:
        """How a worker grew, or None if that is no more than what a process loads at first.

        Either the Dataset holds so many objects: a forked worker soon copies the pages of all of them, then grows no
        more. Or the growth goes on: a good part of it falls into the second half of the samples.
        """
        points = worker.points
        settled = points[min(1, len(points) - 1) :]  # until the first batches a process loads modules
        if len(settled) < FEWEST:
            return None
        samples, sizes = zip(*settled, strict=True)
        grown = sizes[-1] - points[0][1]
        copied = growth_to_level(samples, sizes) if worker.number >= 0 else None
        holds = any(one.objects > 1_000 and 8 * one.size > grown for one in report.attributes)
        if grown > _GROWTH and holds and copied is not None and copied.is_certain:
            return cls(grown, samples[-1], copied)
        middle = max((point for point in points if 2 * point[0] <= samples[-1]), default=points[0])
        late, grown = sizes[-1] - middle[1], sizes[-1] - sizes[0]
        if worker.growth is None or len(settled) < _LONG:
            return None
        if worker.growth.is_certain and grown > _GROWTH and late > grown / 4:
            return cls(grown, samples[-1], worker.growth)
        return None


def caches(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Containers of the Dataset to which each worker adds an element for most samples that it reads.

    Where the workers were seen to grow, that says it all.
    """
    if any(each.codes == ("DL104",) for each in growth(record, report)):
        return
    for name, (added, samples) in grown_containers(record).items():
        title = f"a worker added {words.number(added)} elements to `dataset.{name}` while it read {samples} samples"
        advice = "fill the cache before workers start, or share it; each worker fills its own, and it ends with them"
        yield Symptom("cache", title, advice, ("DL104",), MEMORY, float(added), names=(name,))


def grown_containers(record: LoaderRecord) -> dict[str, tuple[int, int]]:
    """Those containers, by the names of their attributes: elements that were added, and samples that were read."""
    if not record.settings.num_workers:
        return {}
    grown: dict[str, tuple[int, int]] = {}
    for lines in record.workers.values():
        states = [line for line in lines if line["kind"] == "state" and line["lengths"]]
        for name, last in states[-1]["lengths"].items() if states else ():
            samples = states[-1]["samples"] - states[0]["samples"]
            added = last - states[0]["lengths"].get(name, 0)
            if samples >= FEWEST and 2 * added >= samples and added > grown.get(name, (0, 0))[0]:
                grown[name] = added, samples
    return grown


def _described(one: Attribute) -> str:
    kind = f"a {one.kind} of {words.number(one.elements)}" if one.elements is not None else f"a {one.kind}"
    element = f" {one.element}" if one.element else ""
    return f"{kind}{element} ({words.number(one.objects)} objects, {words.size(one.size)})"


def files_in_shm(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """Batches that pass through named files, which stay where the whole program is killed."""
    if record.shm_files and record.settings.num_workers:
        title = f"batches pass through files in /dev/shm (sharing strategy `file_system`): {record.shm_files} at a time"
        advice = "keep `file_descriptor` and raise `ulimit -n`; what a killed program leaves stays there"
        yield Symptom("shm-files", title, advice, ("DL608",), MEMORY, 1.0, needs_finding=True)
