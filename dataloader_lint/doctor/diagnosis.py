"""From what was measured to a report: summaries, symptoms, and the findings that explain them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.doctor import words
from dataloader_lint.doctor.findings import attribute_named, lint, matching, own_files, source_files
from dataloader_lint.doctor.measured import Cleared, LoaderReport, Symptom, Worker
from dataloader_lint.doctor.memory import growth_of
from dataloader_lint.doctor.pickling import Failure, Pickled, is_out_of_reach, pickled_by_path
from dataloader_lint.doctor.records import LoaderRecord, Raised
from dataloader_lint.doctor.report import Report
from dataloader_lint.doctor.shm import limits
from dataloader_lint.doctor.sizes import attributes_of
from dataloader_lint.doctor.symptoms import program_symptoms, symptoms_of

_CHEAP = 1_000_000  # bytes of an attribute that no worker will miss
_STORAGE = frozenset({"DL101", "DL102", "DL103", "DL105", "DL106"})


def diagnose(
    records: Sequence[LoaderRecord],
    *,
    error: str = "",
    raised: Sequence[Raised] = (),
    threads: tuple[int, int] | None = None,
    script: str = "",
    files: Iterable[str] = (),
) -> Report:
    """The report on loaders that were watched.

    `error` is the exception that ended the program, if one did, `raised` what its loaders raised, caught or not, and
    `threads` the numbers of threads that it asked for in the environment too late, and that torch uses. `script` is the
    program's file, and `files` are more files in which the cause may lie.
    """
    report = Report(error=error)
    for number, record in enumerate(records, 1):
        report.loaders.append(_summary(record, number))
    several = [name for each in raised for name in (each.place[0], *each.files)]
    paths = own_files([script, *files, *several, *(name for record in records for name in _files(record))])
    codes = [code for one in report.loaders for each in one.symptoms for code in each.codes]
    report.symptoms = list(program_symptoms(error, raised, threads))
    codes += [code for each in report.symptoms for code in each.codes]
    findings = lint(paths, codes)
    report.symptoms = _explained(report.symptoms, findings)
    for one in report.loaders:
        one.symptoms = _explained(one.symptoms, findings)
    settled = {id(found) for each in report.all_symptoms for found in each.findings}
    for one in report.loaders:
        one.cleared = [each for each in _cleared(one, findings) if id(each.finding) not in settled]
        settled |= {id(each.finding) for each in one.cleared}
    report.not_measured = _not_measured(records)
    return report


def _explained(several: Sequence[Symptom], findings: Sequence[Diagnostic]) -> list[Symptom]:
    """The symptoms with the findings that explain them, without those that need one and have none."""
    found = []
    for each in several:
        places = [each.place] if each.place is not None else []
        explaining = tuple(matching(findings, each.codes, each.names, places)[:5])
        if explaining or not each.needs_finding:
            found.append(dataclasses.replace(each, findings=explaining))
    return found


def _files(record: LoaderRecord) -> list[str]:
    try:
        return source_files(record.loader, record.place[0])
    except Exception:  # objects of the user that do not want to be looked at
        return [record.place[0]]


def _not_measured(records: Sequence[LoaderRecord]) -> list[str]:
    import torch

    missing = []
    if not torch.cuda.is_available():
        missing.append("pinning, and copies to a GPU: there is no CUDA here")
    if not os.path.exists("/proc/self/smaps_rollup"):
        missing.append("shared memory in /dev/shm and file descriptors: this system has no /proc")
    if any(record.settings.num_workers and not record.workers and record.batches for record in records):
        missing.append("what happens inside workers that were running before the watch began")
    return missing


def _summary(record: LoaderRecord, number: int) -> LoaderReport:
    now = limits()
    inside = [line for line in record.of_kind("batch") if line.get("size")]
    touched: dict[str, int] = {}
    for line in record.of_kind("touched"):
        for name, count in line["names"].items():
            touched[name] = touched.get(name, 0) + count
    loader = record.loader
    owner = type(loader.dataset).__name__
    report = LoaderReport(
        name=f"loader {number} ({owner})",
        place=record.place,
        settings=record.settings,
        batches=record.batches,
        epochs=len(record.epochs),
        seconds=record.seconds,
        wait=record.waited,
        step=record.stepped,
        startup=record.startup,
        fetch=median(line["fetch"] for line in inside) if inside else None,
        collate=median(line["collate"] for line in inside) if inside else None,
        workers=_workers(record),
        attributes=_guarded(lambda: attributes_of(loader.dataset), []),
        touched=touched,
        pickles=_pickles(loader),
        batch_bytes=record.batch_bytes,
        batch_tensors=record.batch_tensors,
        shm_size=now.shm_size,
        shm_lowest=min(record.shm_free, default=None),
        descriptors=max((count for points in record.descriptors.values() for _, count in points), default=None),
        descriptor_limit=now.descriptor_limit,
    )
    report.symptoms = list(symptoms_of(record, report))
    return report


def _guarded(call: Any, otherwise: Any) -> Any:
    """What the call returns; objects of the user may raise anything when they are looked at."""
    try:
        return call()
    except Exception:
        return otherwise


def _pickles(loader: Any) -> dict[str, Pickled]:
    found = {}
    for name in ("dataset", "collate_fn", "worker_init_fn"):
        value = getattr(loader, name, None)
        if value is None:
            continue
        found[name] = _guarded(lambda value=value, name=name: pickled_by_path(value, name), Pickled(0, 0))
        if not found[name].error and is_out_of_reach(value):
            error = "defined in a notebook or at a prompt, which workers that are not forked cannot import"
            found[name] = Pickled(found[name].size, found[name].tensors, failures=(Failure(error, name, value),))
    return found


def _workers(record: LoaderRecord) -> list[Worker]:
    found = []
    for pid, lines in record.workers.items():
        start = next((line for line in lines if line["kind"] == "start"), None)
        memory = [line for line in lines if line["kind"] == "memory"]
        if start is None:
            continue
        # Until the first batches are done a worker still imports and fills its buffers.
        settled = [line for line in memory if line["batches"] >= 2] or memory
        growth = growth_of([line["samples"] for line in settled], [line["own"] for line in settled])
        points = tuple((line["samples"], line["own"]) for line in memory)
        threads = max((line["threads"] for line in lines if line["kind"] == "state"), default=0)
        found.append(Worker(start["worker"], pid, start["round"], points, growth, threads, record.exit_codes.get(pid)))
    return sorted(found, key=lambda one: (one.round, one.number))


def _cleared(one: LoaderReport, findings: Sequence[Diagnostic]) -> list[Cleared]:
    """Findings about storage whose attribute was measured and is small, and about time that is not lost."""
    found = []
    for finding in findings:
        named = attribute_named(finding) if finding.code in _STORAGE else None
        if named is not None:
            sizes = [each for each in one.attributes if (each.owner.__name__, each.name) == named]
            if sizes and max(each.size for each in sizes) < _CHEAP:
                largest = max(sizes, key=lambda each: each.size)
                count = f"{words.number(largest.elements)} elements, " if largest.elements is not None else ""
                found.append(Cleared(finding, f"{count}{words.size(largest.size)}"))
        elif finding.code == "DL306" and one.batches >= 10 and one.wait_share < 0.05 and one.step > 0:
            found.append(Cleared(finding, f"the loop waits for {one.wait_share:.0%} of its time only"))
        elif finding.code == "DL309" and one.startup is not None and one.batches >= 10:
            if not any(each.kind == "starting" for each in one.symptoms):
                found.append(Cleared(finding, f"workers start in {words.seconds(one.startup)}"))
    return found
