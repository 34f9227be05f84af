"""From what was measured to a report: summaries, symptoms, and the findings that explain them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from statistics import median

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.doctor import words
from dataloader_lint.doctor.findings import lint, matching, of_loader
from dataloader_lint.doctor.measured import Cleared, LoaderReport, Symptom, Worker
from dataloader_lint.doctor.memory import growth_of
from dataloader_lint.doctor.own_files import own_files
from dataloader_lint.doctor.records import Contents, LoaderRecord, Raised
from dataloader_lint.doctor.report import Report
from dataloader_lint.doctor.seen import Machine
from dataloader_lint.doctor.sizes import Attribute
from dataloader_lint.doctor.symptoms import program_symptoms, symptoms_of
from dataloader_lint.output.fingerprints import attribute_named

NOT_ASKED = Machine()
_CHEAP = 1_000_000  # bytes of an attribute that no worker will miss
STORAGE = frozenset({"DL101", "DL102", "DL103", "DL105", "DL106"})
HELD = frozenset({"growth", "copies"})  # symptoms whose weight is what workers hold


def diagnose(
    records: Sequence[LoaderRecord],
    *,
    error: str = "",
    raised: Sequence[Raised] = (),
    machine: Machine = NOT_ASKED,
    script: str = "",
    files: Iterable[str] = (),
    more: Sequence[Symptom] = (),
) -> Report:
    """The report on loaders that were watched.

    `error` is the exception that ended the program, if one did, `raised` what its loaders raised, caught or not, and
    `machine` what torch found. `script` is the program's file, `files` are more files in which the cause may lie, and
    `more` are symptoms that this run alone does not show.
    """
    report = Report(error=error)
    for number, record in enumerate(records, 1):
        report.loaders.append(summary(record, number, machine))
    several = [name for each in raised for name in (each.place[0], *each.files)]
    held = [name for record in records for name in (record.place[0], *(record.contents or Contents()).files)]
    paths = own_files([script, *files, *several, *held])
    codes = [code for one in report.loaders for each in one.symptoms for code in each.codes]
    methods = {record.settings.start_method for record in records if record.settings.num_workers}
    report.symptoms = [*more, *program_symptoms(error, raised, machine.threads, methods)]
    codes += [code for each in report.symptoms for code in each.codes]
    findings = lint(paths, codes)
    report.symptoms = [each for each in (_explained(one, findings) for one in report.symptoms) if each is not None]
    for one, record in zip(report.loaders, records, strict=True):
        others = [place for each in records if each is not record for place in each.made]
        own = of_loader(findings, record.made, others)
        explained = [
            _explained(each, [found for found in own if _may_explain(each, found, one)]) for each in one.symptoms
        ]
        one.symptoms = [each for each in explained if each is not None]
        if len(report.loaders) > 1:
            one.symptoms = [dataclasses.replace(each, loader=one.name) for each in one.symptoms]
    settled = {id(found) for each in report.all_symptoms for found in each.findings}
    everywhere = [each for one in report.loaders for each in one.attributes]
    for one in report.loaders:
        filled = {name for each in one.symptoms if "DL104" in each.codes for name in each.names}
        cleared = [
            each
            for each in _cleared(one, findings, everywhere)
            if (attribute_named(each.finding) or ("", ""))[1] not in filled
        ]
        one.cleared = [each for each in cleared if id(each.finding) not in settled]
        settled |= {id(each.finding) for each in one.cleared}
    report.not_measured = _not_measured(records, machine)
    return report


def _explained(one: Symptom, findings: Sequence[Diagnostic]) -> Symptom | None:
    """A symptom with the findings that explain it; None if it needs one and has none."""
    places = [one.place] if one.place is not None else []
    explaining = tuple(matching(findings, one.codes, one.names, places, is_exact=one.is_exact)[:5])
    return dataclasses.replace(one, findings=explaining) if explaining or not one.needs_finding else None


def _may_explain(symptom: Symptom, finding: Diagnostic, loader: LoaderReport) -> bool:
    """False if workers hold more, and the finding is about an attribute that was measured and is too small for that."""
    if symptom.kind not in HELD:
        return True
    held = held_by(finding, loader.attributes)
    if held is None:
        return True
    return held.size >= _CHEAP and (symptom.kind == "copies" or held.name in symptom.names)


def held_by(finding: Diagnostic, attributes: Iterable[Attribute]) -> Attribute | None:
    """The largest of the attributes that a finding about storage names; None if it was not measured.

    One that is empty in the main process was not: workers fill their own.
    """
    named = attribute_named(finding) if finding.code in STORAGE else None
    several = [each for each in attributes if (each.owner, each.name) == named and each.elements != 0]
    return max(several, key=lambda each: each.size, default=None)


def _not_measured(records: Sequence[LoaderRecord], machine: Machine) -> list[str]:
    missing = []
    if machine.has_cuda is False:
        missing.append("pinning, and copies to a GPU: there is no CUDA here")
    if not os.path.exists("/proc/self/smaps_rollup"):
        missing.append("shared memory in /dev/shm and file descriptors: this system has no /proc")
    if any(record.settings.num_workers and not record.workers and record.batches for record in records):
        missing.append("what happens inside workers that were running before the watch began")
    return missing


def summary(record: LoaderRecord, number: int, machine: Machine) -> LoaderReport:
    """What was measured of one loader, with its symptoms, which no finding explains yet."""
    inside = [line for line in record.of_kind("batch") if line.get("size")]
    touched: dict[str, int] = {}
    for line in record.of_kind("touched"):
        for name, count in line["names"].items():
            touched[name] = touched.get(name, 0) + count
    contents = record.contents or Contents()
    report = LoaderReport(
        name=f"loader {number} ({record.dataset})",
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
        attributes=contents.attributes,
        touched=touched,
        pickles=contents.pickles,
        batch_bytes=record.batch_bytes,
        batch_tensors=record.batch_tensors,
        shm_size=record.shm_size,
        shm_lowest=min(record.shm_free, default=None),
        descriptors=max((count for points in record.descriptors.values() for _, count in points), default=None),
        descriptor_limit=record.descriptor_limit,
        has_accelerator=machine.has_accelerator,
    )
    report.symptoms = list(symptoms_of(record, report))
    return report


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


def _cleared(one: LoaderReport, findings: Sequence[Diagnostic], everywhere: Sequence[Attribute]) -> list[Cleared]:
    """Findings about storage whose attribute is small `everywhere` it was measured, and about time that is not lost."""
    found = []
    for finding in findings:
        named = attribute_named(finding) if finding.code in STORAGE else None
        if named is not None:
            sizes = [each for each in one.attributes if (each.owner, each.name) == named]
            if sizes and max(each.size for each in everywhere if (each.owner, each.name) == named) < _CHEAP:
                largest = max(sizes, key=lambda each: each.size)
                count = f"{words.number(largest.elements)} elements, " if largest.elements is not None else ""
                found.append(Cleared(finding, f"{count}{words.size(largest.size)}"))
        elif finding.code == "DL306" and one.batches >= 10 and one.wait_share < 0.05 and one.step > 0:
            found.append(Cleared(finding, f"the loop waits for {one.wait_share:.0%} of its time only"))
        elif finding.code == "DL309" and one.startup is not None and one.batches >= 10 and one.epochs > 1:
            if not any(each.kind == "starting" for each in one.symptoms):
                found.append(Cleared(finding, f"workers start in {words.seconds(one.startup)}"))
    return found
