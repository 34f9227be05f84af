"""The findings that explain what was measured, as SARIF 2.1.0: each says which symptom it explains."""

from __future__ import annotations

import os
from dataclasses import replace

from dataloader_lint import __version__
from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.doctor.measured import Measured
from dataloader_lint.output import sarif
from dataloader_lint.output.as_json import page_url
from dataloader_lint.output.places import root_folder
from dataloader_lint.rules.registry import INTERNAL_ERROR, found_rules


def emit(report: Measured) -> str:
    """The report. A symptom that no finding explains has no place, and is not in it."""
    seen: dict[tuple[object, ...], Diagnostic] = {}
    for symptom in report.all_symptoms:
        for one in symptom.findings:
            measured = f"{one.problem} (measured: {symptom.title})"
            seen.setdefault(one.sort_key, replace(one, problem=measured, fix=None))
    rules = [
        sarif.RuleHelp(
            found.rule.code,
            found.rule.name,
            found.page,
            page_url(found.rule.code, found.rule.name),
            found.module.split(".")[-2],
            found.rule.is_on,
            found.rule.level,
        )
        for code, found in found_rules().items()
        if code in {one.code for one in seen.values()}
    ]
    lines = sarif.emit(list(seen.values()), rules, _lines_of, root_folder(os.environ), __version__, INTERNAL_ERROR)
    return "\n".join(lines)


def _lines_of(one: Diagnostic) -> list[str]:
    try:
        with open(one.filename, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []
