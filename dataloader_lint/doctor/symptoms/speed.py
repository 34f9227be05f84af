"""Symptoms of time: what the loop waits for, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from dataloader_lint.doctor import words
from dataloader_lint.doctor.measured import LoaderReport, Symptom
from dataloader_lint.doctor.records import LoaderRecord
from dataloader_lint.doctor.symptoms.ranks import FEWEST, SPEED

_WAITS = 0.2  # of the loop's time
_LONG_WAIT = 0.5  # seconds
_FEWEST_SECONDS = 0.05
_COSTLY_START = 0.2
_COSTLY_COLLECTIONS = 0.05
_COSTLY_COLLATE = 0.05


def reads(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Files and folders that a worker opened again and again for the samples of its first batch."""
    several: dict[str, tuple[int, int]] = {}
    for line in record.of_kind("opened"):
        for name, count in line["names"].items():
            if count >= FEWEST and 2 * count >= line["size"] and count > several.get(name, (0, 0))[0]:
                several[name] = count, line["size"]
    for name, (count, size) in list(several.items())[:3]:
        event, _, path = name.partition(" ")
        is_file = event == "open"
        what = f"the file {words.path(path)} was opened" if is_file else f"the folder {words.path(path)} was listed"
        title = f"{what} {count} times for the {size} samples of one batch"
        advice = "read it once, in the constructor or on first use in the worker"
        yield Symptom("reads", title, advice, ("DL605",) if is_file else ("DL614",), SPEED, report.wait / 2)


def threads(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Libraries that may run a thread for each CPU in each worker."""
    cpus, workers = record.cpus, record.settings.num_workers
    counts: dict[str, int] = {}
    for line in record.lines:
        for name, count in (line.get("libraries") or {}).items():
            counts[name] = max(count, counts.get(name, 0))
    for name, count in counts.items():
        if workers and count > 1 and count * workers > cpus > 0:
            codes = ("DL501", "DL502", "DL504") if name == "cv2" else ("DL503", "DL502")
            title = f"{name} may run {count} threads in each of {workers} workers, on {cpus} CPUs"
            advice = "call `cv2.setNumThreads(0)` in the Dataset or `worker_init_fn`" if name == "cv2" else "use 1"
            yield Symptom("threads", title, advice, codes, SPEED, report.wait / 2)


def collate(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Collating that takes much longer than reading the samples."""
    # The first batches load modules, too.
    least = 0.01 if report.batches >= FEWEST else 0.05
    if report.collate is not None and report.fetch is not None and report.collate > max(least, 3 * report.fetch):
        took, read = words.seconds(report.collate), words.seconds(report.fetch)
        title = f"collating takes {took} per batch, reading its samples {read}"
        lost = min(report.wait, report.collate * report.batches / max(1, record.settings.num_workers))
        share = lost / (report.wait + report.step) if report.wait > 0 else 1.0
        gain = _at_most(share) if share < 1 else ""
        advice = "make one array or tensor at once"
        yield Symptom(
            "collate", title, advice, ("DL606",), SPEED, lost, gain=gain, needs_finding=share < _COSTLY_COLLATE
        )


def waiting(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """The part of the loop's time in which there is no batch."""
    loop = report.wait + report.step
    if report.batches < FEWEST or loop <= 0:
        return
    # A loop that does nothing waits for all of its time; that is how loaders are tried out, so it takes a finding.
    is_empty = report.step <= 0.001 * report.batches
    if report.wait_share >= _WAITS and (not is_empty or report.wait > _LONG_WAIT):
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
        gain = _at_most(report.wait_share)
        advice = "try other numbers of workers with `--try`"
        yield Symptom(
            "waiting",
            title,
            advice,
            codes,
            SPEED,
            report.wait,
            needs_finding=is_empty or report.wait < _FEWEST_SECONDS,
            gain=gain,
        )


def starting(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Workers that are started again and again."""
    starts = [each for each in record.epochs if each.starts_workers and each.batches]
    spent = sum(each.creating + each.first_wait for each in starts)
    if len(starts) < 2 or report.seconds <= 0 or spent < 0.05:
        return
    if record.settings.persistent_workers and record.has_several_datasets:  # each loader starts its own once
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
    gain = f"{words.seconds(spent)} of the {words.seconds(report.seconds)} that were watched"
    yield Symptom("starting", title, advice, codes, SPEED, spent, gain=gain)


def _share_of_start(record: LoaderRecord, report: LoaderReport, start: float) -> float:
    """The part of a whole epoch that starting its workers takes; epochs may have been watched in part only."""
    seen = sum(each.batches for each in record.epochs)
    batches = max((each.batches for each in record.epochs if each.ended), default=0)
    if not batches:
        known = record.contents.batches if record.contents is not None else None
        batches = known if known is not None else seen // max(1, len(record.epochs))
    each = (report.wait + report.step) / max(1, seen)
    return start / (start + each * batches)


def pinning(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """Batches that are not pinned although that was asked for."""
    if record.unpinned:
        title = "`pin_memory=True`, and batches come unpinned"
        yield Symptom("pinning", title, "give the class of the batch a method `pin_memory`", ("DL407",), SPEED)


def too_many_workers(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """More workers than CPUs; fewer than two for each are no harm where they wait for a disk, and need a finding."""
    workers, cpus = record.settings.num_workers, record.cpus
    if cpus and workers > cpus:
        title = f"{workers} workers on {words.several(cpus, 'CPU')} that this process may use"
        needs_finding = workers <= 2 * cpus
        yield Symptom("workers", title, "try fewer with `--try`", ("DL305",), SPEED, 0.0, needs_finding=needs_finding)


def collecting(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Collections of all objects that are called for in the loop or in workers."""
    counts = [(record.collections, record.collecting, record.batches, report.wait + report.step, "the loop")]
    for lines in record.workers.values():
        states = [line for line in lines if line["kind"] == "state" and line.get("collections")]
        start = next((line for line in lines if line["kind"] == "start"), None)
        if states and start is not None and start["worker"] >= 0:
            last = states[-1]
            counts.append((last["collections"], last["collecting"], last["batches"], last["lived"], "a worker"))
    for count, seconds, batches, whole, who in counts:
        if count >= FEWEST and 2 * count >= batches and seconds > _COSTLY_COLLECTIONS * whole > 0:
            title = (
                f"{who} collected all garbage {count} times in {batches} batches, {words.seconds(seconds / count)} each"
            )
            gain = _at_most(seconds / whole)
            advice = "leave it to Python; `gc.freeze()` before the loop makes each cheaper"
            yield Symptom("collections", title, advice, ("DL607",), SPEED, seconds, gain=gain)
            return


def ignored(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Settings that do nothing here."""
    settings = record.settings
    if settings.pin_memory_device:
        title = f"`pin_memory_device={settings.pin_memory_device!r}` is ignored by this torch"
        yield Symptom("ignored", title, "leave it out", ("DL311",), SPEED, 0.0, needs_finding=True)
    if settings.pin_memory and record.unpinned is None and record.batches and report.has_accelerator is False:
        title = "`pin_memory=True` does nothing here: torch finds no accelerator"
        yield Symptom(
            "ignored",
            title,
            "leave it out, or make it depend on the device",
            ("DL403",),
            SPEED,
            0.0,
            needs_finding=True,
        )


def late_limit(asked: int, used: int) -> Iterator[Symptom]:
    """A limit of threads that came when torch had started them."""
    title = f"the program set OMP_NUM_THREADS={asked}, and torch uses {used} threads: it had read the variable before"
    yield Symptom("late-limit", title, "set it before torch is imported", ("DL502",), SPEED, 0.0, needs_finding=True)


def _at_most(share: float) -> str:
    """What a symptom of time costs."""
    return f"at most {min(1.0, share):.0%} of the time"
