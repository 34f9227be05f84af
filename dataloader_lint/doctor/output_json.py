"""A report as one JSON object."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.doctor.measured import Cleared, LoaderReport, Measured, Symptom
from dataloader_lint.output.as_json import SITE

VERSION = 1


def emit(report: Measured) -> str:
    """The report; sizes are in bytes, times in seconds, and null is what was not measured."""
    content = {
        "version": VERSION,
        "error": report.error or None,
        "stopped": report.stopped or None,
        "symptoms": [_symptom(each) for each in report.all_symptoms],
        "loaders": [_loader(one) for one in report.loaders],
        "tried": report.tried or None,
        "trials": [dataclasses.asdict(each) for each in report.trials],
        "not_measured": report.not_measured,
        "documentation": f"{SITE}doctor/",
    }
    return json.dumps(content, indent=2, default=str)


def _symptom(each: Symptom) -> dict[str, Any]:
    return {
        "kind": each.kind,
        "title": each.title,
        "advice": each.advice,
        "gain": each.gain or None,
        "loader": each.loader or None,
        "rules": list(each.codes),
        "findings": [_finding(one) for one in each.findings],
        "place": {"filename": os.path.abspath(each.place[0]), "row": each.place[1]} if each.place else None,
    }


def _finding(one: Diagnostic) -> dict[str, Any]:
    return {
        "code": one.code,
        "filename": os.path.abspath(one.filename),
        "cell": one.cell,
        "row": one.start.line,
        "column": one.start.column + 1,
        "message": one.message,
    }


def _cleared(each: Cleared) -> dict[str, Any]:
    return {**_finding(each.finding), "reason": each.reason}


def _loader(one: LoaderReport) -> dict[str, Any]:
    return {
        "name": one.name,
        "filename": os.path.abspath(one.place[0]) if one.place[0] else None,
        "row": one.place[1],
        "settings": dataclasses.asdict(one.settings),
        "batches": one.batches,
        "epochs": one.epochs,
        "seconds": one.seconds,
        "wait": one.wait,
        "step": one.step,
        "startup": one.startup,
        "fetch_per_batch": one.fetch,
        "collate_per_batch": one.collate,
        "batch_bytes": one.batch_bytes,
        "batch_tensors": one.batch_tensors,
        "shm_size": one.shm_size,
        "shm_lowest": one.shm_lowest,
        "descriptors": one.descriptors,
        "descriptor_limit": one.descriptor_limit,
        "pickled": {
            name: {
                "size": each.size,
                "tensors": each.tensors,
                "is_cut": each.is_cut,
                "error": each.error or None,
                "path": each.path or None,
                "failures": [{"path": failure.path, "error": failure.error} for failure in each.failures],
            }
            for name, each in one.pickles.items()
        },
        "attributes": [
            {
                "path": each.path,
                "type": each.kind,
                "elements": each.elements,
                "element": each.element or None,
                "objects": each.objects,
                "size": each.size,
                "pickled": each.pickled,
            }
            for each in one.attributes
        ],
        "read_in_first_batches": one.touched,
        "workers": [dataclasses.asdict(each) for each in one.workers],
        "cheap": [_cleared(each) for each in one.cleared],
    }
