"""From what was measured of a loader to what is wrong with it: each symptom names the rules that find such causes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

from dataloader_lint.doctor import words
from dataloader_lint.doctor.measured import LoaderReport, Symptom
from dataloader_lint.doctor.records import LoaderRecord

# Ranks: what ends the program, what gives wrong data, what costs memory, what costs time.
FAILS, WRONG, MEMORY, SPEED, PORTABILITY = range(5)

_GROWTH = 1_000_000  # bytes that a worker must have grown while it was watched
_SAME = 0.9
_FEWEST = 4
_WAITS = 0.2  # of the loop's time
_COSTLY_START = 0.2

MEMORY_CODES = ("DL101", "DL102", "DL103", "DL104", "DL105", "DL611")


def symptoms_of(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """All symptoms of one loader, in no order, without findings."""
    for find in _FINDERS:
        yield from find(record, report)


def _pickling(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    is_forked = report.settings.start_method == "fork"
    for name, result in report.pickles.items():
        if not result.error:
            continue
        codes = {
            "collate_fn": ("DL201", "DL202"),
            "worker_init_fn": ("DL203",),
        }.get(name, ("DL204", "DL205", "DL208", "DL602"))
        when = (
            "where workers are not forked (macOS, Windows, Python 3.14)" if is_forked else "here, and no worker starts"
        )
        title = f"`{result.path or name}` cannot be pickled {when}: {result.error}"
        advice = "move functions to the top level of a module, and open handles in the worker"
        rank = PORTABILITY if is_forked or record.settings.num_workers == 0 else FAILS
        yield Symptom("pickling", title, advice, codes, rank, place=_place_of(result.culprit))


def _place_of(culprit: object) -> tuple[str, int] | None:
    code = getattr(culprit, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else None


def _copies(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
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
    )


def _growth(_record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    known = [one for one in report.workers if one.growth is not None]
    growing = [(one, one.growth, _grown(one.points, report)) for one in known if one.growth and one.growth.is_certain]
    growing = [each for each in growing if each[2] > 0]
    if not growing or 2 * len(growing) < len(known):
        return
    grown = sum(size for _, _, size in growing) / len(growing)
    low, high = min(growth.low for _, growth, _ in growing), max(growth.high for _, growth, _ in growing)
    samples = max(one.points[-1][0] for one, _, _ in growing)
    title = (
        f"each worker grew by {words.size(grown)} while it read {words.number(samples)} samples "
        f"({words.size(low * 1_000)} to {words.size(high * 1_000)} per 1,000 samples)"
    )
    largest = [one for one in report.attributes if one.objects > 1_000][:2]
    advice = "; ".join(f"`{one.path}` is {_described(one)}" for one in largest) or "look for a cache or kept batches"
    yield Symptom("growth", title, advice, MEMORY_CODES, MEMORY, grown)


def _grown(points: Sequence[tuple[int, int]], report: LoaderReport) -> int:
    """The bytes by which a worker grew, or 0 if that is no more than what a process loads at first.

    Either the Dataset holds so many objects: a forked worker soon copies the pages of all of them, then grows no more.
    Or the growth goes on: a good part of it falls into the second half of the samples.
    """
    last, grown = points[-1][0], points[-1][1] - points[0][1]
    if grown > _GROWTH and any(one.objects > 1_000 and one.size > grown / 3 for one in report.attributes):
        return grown
    middle = max((point for point in points if 2 * point[0] <= last), default=points[0])
    late, settled = points[-1][1] - middle[1], points[-1][1] - points[min(1, len(points) - 1)][1]
    return settled if settled > _GROWTH and late > settled / 4 else 0


def _caches(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Containers of the Dataset to which each worker adds an element for most samples that it reads."""
    if not record.settings.num_workers:
        return
    grown: dict[str, tuple[int, int]] = {}
    for lines in record.workers.values():
        states = [line for line in lines if line["kind"] == "state" and line["lengths"]]
        for name, last in states[-1]["lengths"].items() if states else ():
            samples = states[-1]["samples"] - states[0]["samples"]
            added = last - states[0]["lengths"].get(name, 0)
            if samples >= _FEWEST and 2 * added >= samples and added > grown.get(name, (0, 0))[0]:
                grown[name] = added, samples
    for name, (added, samples) in grown.items():
        title = f"a worker added {words.number(added)} elements to `dataset.{name}` while it read {samples} samples"
        advice = "fill the cache before workers start, or share it; each worker fills its own, and it ends with them"
        yield Symptom("cache", title, advice, ("DL104",), MEMORY, float(added))


def _described(one: Any) -> str:
    kind = f"a {one.kind} of {words.number(one.elements)}" if one.elements is not None else f"a {one.kind}"
    element = f" {one.element}" if one.element else ""
    return f"{kind}{element} ({words.number(one.objects)} objects, {words.size(one.size)})"


def _descriptors(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    from dataloader_lint.doctor.memory import growth_of

    grown = growth_of(*zip(*record.descriptors, strict=True)) if len(record.descriptors) >= 4 else None
    if grown is not None and grown.low > 0.5 and record.settings.num_workers > 0:
        limit = report.descriptor_limit
        left = (limit - record.descriptors[-1][1]) / grown.slope if limit else 0
        until = f"; the limit of {limit} is reached after {words.number(left)} more batches" if limit else ""
        title = f"each batch leaves {grown.slope:.1f} file descriptors open{until}"
        yield Symptom("descriptors", title, "`clone()` what you keep of a batch", ("DL611",), FAILS, grown.slope)
    elif report.descriptors and report.descriptor_limit and report.descriptors > 0.8 * report.descriptor_limit:
        title = f"{report.descriptors} of {report.descriptor_limit} file descriptors were open"
        yield Symptom("descriptors", title, "raise the limit: `ulimit -n 65536`", ("DL611", "DL608"), FAILS)


def _shared_memory(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    workers, each = record.settings.num_workers, record.batch_bytes
    ahead = workers * (record.settings.prefetch_factor or 0) * each
    if not workers or report.shm_size is None or not ahead:
        return
    lowest = report.shm_lowest if report.shm_lowest is not None else report.shm_size
    if ahead > 0.5 * report.shm_size or lowest < 0.1 * report.shm_size:
        title = (
            f"up to {words.size(ahead)} of batches wait in /dev/shm (prefetched by {workers} workers), which has "
            f"{words.size(report.shm_size)}; the least free was {words.size(lowest)}"
        )
        advice = "a smaller `prefetch_factor` or fewer workers; in docker `--shm-size=8g` or `--ipc=host`"
        yield Symptom("shared-memory", title, advice, ("DL307", "DL608", "DL305"), FAILS, float(ahead))
    elif (record.settings.prefetch_factor or 0) * workers >= 64:
        title = f"{(record.settings.prefetch_factor or 0) * workers} batches are loaded ahead, {words.size(ahead)}"
        yield Symptom("prefetch", title, "a smaller `prefetch_factor`", ("DL307",), MEMORY, float(ahead))


def _random(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Generators that are in the same state in several workers or epochs, and are drawn from."""
    seen: dict[str, list[tuple[int, int, int, str, str]]] = {}
    for lines in record.workers.values():
        start = next((line for line in lines if line["kind"] == "start"), None)
        epoch = next((line for line in lines if line["kind"] == "epoch"), None)
        drawn = next((line for line in lines if line["kind"] == "drawn"), None)
        if start is None or epoch is None or drawn is None or start["worker"] < 0:
            continue
        for path, after in drawn["states"].items():
            before = epoch["states"].get(path)
            if before is not None and before != after:
                seen.setdefault(path, []).append((start["round"], start["worker"], start["pid"], before, after))
    for path, states in seen.items():
        where = _repetition(states)
        if where:
            title = f"`{path}` draws the same random numbers in {where}"
            advice = "seed it in each worker from `torch.initial_seed()`, in a `worker_init_fn`"
            yield Symptom("randomness", title, advice, ("DL602",), WRONG, float(len(states)))


def _repetition(states: Sequence[tuple[int, int, int, str, str]]) -> str:
    """Between what the states repeat, in words; "" if they do not."""

    def same(one: tuple[int, int, int, str, str], other: tuple[int, int, int, str, str]) -> bool:
        return one[3] == other[3] or one[4] == other[4]

    pairs = list(combinations(states, 2))
    workers = any(same(a, b) for a, b in pairs if a[0] == b[0] and a[1] != b[1])
    epochs = any(same(a, b) for a, b in pairs if a[0] != b[0] and a[1] == b[1])
    return " and ".join(text for is_so, text in ((workers, "all workers"), (epochs, "each epoch")) if is_so)


def _duplicates(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Samples of an iterable Dataset that come from several workers."""
    by_worker: dict[tuple[int, int], list[str]] = {}
    for lines in record.workers.values():
        start = next((line for line in lines if line["kind"] == "start"), None)
        if start is None or start["worker"] < 0:
            continue
        for line in lines:
            if line["kind"] == "samples" and line["epoch"] == 0:
                digests = [digest for index, digest in line["digests"] if index is None and digest is not None]
                by_worker.setdefault((start["round"], start["worker"]), []).extend(digests)
    for (one, first), (other, second) in combinations(sorted(by_worker.items()), 2):
        a, b = set(first), set(second)
        fewest = min(len(a), len(b))
        if one[0] != other[0] or fewest < _FEWEST or 2 * len(a) < len(first) or 2 * len(b) < len(second):
            continue
        shared = len(a & b) / fewest
        if shared >= _SAME:
            title = f"workers return the same samples: {shared:.0%} of {fewest} of one came from another as well"
            advice = "give each worker its share with `get_worker_info()`"
            yield Symptom("duplicates", title, advice, ("DL601",), WRONG, float(len(first)))
            return


def _changing(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Samples with the same index that differ although nothing random was used."""
    seen: dict[int, set[str]] = {}
    if record.has_several_datasets:
        return
    for line in record.of_kind("samples"):
        for index, digest in line["digests"]:
            if index is None or digest is None or line["drawn"] or not line["known"]:
                continue
            seen.setdefault(index, set()).add(digest)
    changed = [index for index, digests in seen.items() if len(digests) > 1]
    if changed:
        title = (
            f"{len(changed)} of {len(seen)} samples changed when they were read again, without use of Python's, "
            f"NumPy's or torch's random generators (the first: index {min(changed)})"
        )
        advice = "return a copy of what is stored, and change that"
        yield Symptom("changing", title, advice, ("DL613", "DL205"), WRONG, float(len(changed)))


def _reads(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Files and folders that a worker opened again and again for the samples of its first batch."""
    several: dict[str, tuple[int, int]] = {}
    for line in record.of_kind("opened"):
        for name, count in line["names"].items():
            if count >= _FEWEST and 2 * count >= line["size"] and count > several.get(name, (0, 0))[0]:
                several[name] = count, line["size"]
    for name, (count, size) in list(several.items())[:3]:
        event, _, path = name.partition(" ")
        is_file = event == "open"
        what = f"the file {words.path(path)} was opened" if is_file else f"the folder {words.path(path)} was listed"
        title = f"{what} {count} times for the {size} samples of one batch"
        advice = "read it once, in the constructor or on first use in the worker"
        yield Symptom("reads", title, advice, ("DL605",) if is_file else ("DL614",), SPEED, float(count))


def _batches_that_hang(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    lines = record.of_kind("unpicklable")
    if lines and record.settings.num_workers > 0:
        title = f"`{lines[0]['path']}` of a batch cannot be pickled, so it never leaves the worker: {lines[0]['error']}"
        yield Symptom("batch", title, "return tensors, arrays, numbers and texts", ("DL213",), FAILS, 10.0)


def _threads(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = record.settings.num_workers
    counts: dict[str, int] = {}
    for line in record.lines:
        for name, count in (line.get("libraries") or {}).items():
            counts[name] = max(count, counts.get(name, 0))
    for name, count in counts.items():
        if workers and count > 1 and count * workers > cpus:
            codes = ("DL501", "DL502", "DL504") if name == "cv2" else ("DL503", "DL502")
            title = f"{name} may run {count} threads in each of {workers} workers, on {cpus} CPUs"
            advice = "call `cv2.setNumThreads(0)` in the Dataset or `worker_init_fn`" if name == "cv2" else "use 1"
            yield Symptom("threads", title, advice, codes, SPEED, float(count * workers / cpus))


def _waiting(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    loop = report.wait + report.step
    if report.batches < 4 or loop <= 0:
        return
    if report.wait_share >= _WAITS and report.step > 0.001 * report.batches:
        stage = ""
        if report.fetch is not None and report.collate is not None:
            collates = report.collate > report.fetch
            read, collate = words.seconds(report.fetch), words.seconds(report.collate)
            stage = f"; reading a batch takes {read}, collating it {collate}"
            codes: tuple[str, ...] = ("DL606",) if collates else ("DL605", "DL614", "DL607", "DL501")
        else:
            codes = ("DL605", "DL614", "DL607", "DL606")
        if record.settings.num_workers == 0:
            codes = ("DL306", *codes)
        title = f"the loop waits for batches for {report.wait_share:.0%} of its time{stage}"
        yield Symptom("waiting", title, "try more workers with `--try`", codes, SPEED, report.wait)
    elif report.collate is not None and report.fetch is not None and report.collate > max(0.01, 3 * report.fetch):
        collate, read = words.seconds(report.collate), words.seconds(report.fetch)
        title = f"collating takes {collate} per batch, reading its samples {read}"
        yield Symptom("collate", title, "make one array or tensor at once", ("DL606",), SPEED, report.collate)


def _starting(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    starts = [each for each in record.epochs if each.starts_workers and each.batches]
    spent = sum(each.creating + each.first_wait for each in starts)
    if len(starts) < 2 or report.seconds <= 0 or spent < 0.05:
        return
    one_batch = len(starts) > 2 and all(each.batches <= 1 for each in starts)
    share = min(1.0, spent / report.seconds) if one_batch else _share_of_start(record, report, spent / len(starts))
    if share < _COSTLY_START:
        return
    codes = ("DL308", "DL309") if one_batch else ("DL309", "DL308")
    title = (
        f"workers were started {len(starts)} times, {words.seconds(spent / len(starts))} each: "
        f"{share:.0%} of the time of {'these batches' if one_batch else 'an epoch'}"
    )
    advice = "make one iterator and keep it" if one_batch else "`persistent_workers=True`"
    yield Symptom("starting", title, advice, codes, SPEED, spent)


def _share_of_start(record: LoaderRecord, report: LoaderReport, start: float) -> float:
    """The part of a whole epoch that starting its workers takes; epochs may have been watched in part only."""
    seen = sum(each.batches for each in record.epochs)
    try:
        batches = len(record.loader)
    except TypeError:  # an iterable Dataset without a length
        batches = seen // max(1, len(record.epochs))
    each = (report.wait + report.step) / max(1, seen)
    return start / (start + each * batches)


def _pinning(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    if record.unpinned:
        title = "`pin_memory=True`, and batches come unpinned"
        yield Symptom("pinning", title, "give the class of the batch a method `pin_memory`", ("DL407",), SPEED)


def _deaths(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    killed = {pid: code for pid, code in record.exit_codes.items() if code not in (0, None) and code != -15}
    for pid, code in list(killed.items())[:1]:
        memory = [line for line in record.workers.get(pid, []) if line["kind"] == "memory"]
        held = f"; it last held {words.size(memory[-1]['own'])} of its own" if memory else ""
        how = f"killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        title = f"worker {pid} was {how}{held}" if code < 0 else f"worker {pid} {how}{held}"
        codes = MEMORY_CODES if code == -9 else ("DL501", "DL205", "DL209", "DL207")
        advice = "check `dmesg -T | grep -i oom` or the container's memory limit" if code == -9 else "see its traceback"
        yield Symptom("death", title, advice, codes, FAILS, 5.0)


_FINDERS: tuple[Callable[[LoaderRecord, LoaderReport], Iterator[Symptom]], ...] = (
    _pickling,
    _copies,
    _growth,
    _caches,
    _descriptors,
    _shared_memory,
    _random,
    _duplicates,
    _changing,
    _reads,
    _batches_that_hang,
    _threads,
    _waiting,
    _starting,
    _pinning,
    _deaths,
)
