"""SARIF 2.1.0 for code scanning: findings with fingerprints and fixes, and the rules with their pages as help.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from dataloader_lint.diagnostics import Diagnostic, Fix, Level, Position, Reason
from dataloader_lint.output.fingerprints import fingerprints
from dataloader_lint.output.levels import NAMES
from dataloader_lint.output.places import Lines, cell_prefix, path_from

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"


@dataclass(frozen=True, slots=True)
class RuleHelp:
    """What a report says about a rule. `page` is Markdown whose first line is a summary; `family` groups rules."""

    code: str
    name: str
    page: str
    url: str
    family: str
    default: bool
    level: Level


def emit(
    diagnostics: Sequence[Diagnostic],
    rules: Sequence[RuleHelp],
    lines_of: Lines,
    root: str,
    version: str,
    crash_code: str,
) -> Iterator[str]:
    """Yields the report. `rules` are those with findings; `crash_code` is that of a run that failed."""
    indexes = {rule.code: index for index, rule in enumerate(rules)}
    marks = fingerprints(diagnostics, lines_of, root)
    run = {
        "tool": {
            "driver": {
                "name": "dataloader-lint",
                "informationUri": "https://dataloader-lint.readthedocs.io/",
                "semanticVersion": version,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": f"file://{_quoted(root.rstrip(os.sep))}/"}},
        "invocations": [{"executionSuccessful": all(one.code != crash_code for one in diagnostics)}],
        "results": [_result(one, indexes[one.code], mark, root) for one, mark in zip(diagnostics, marks, strict=True)],
    }
    yield json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: RuleHelp) -> dict[str, object]:
    page = rule.page.strip()
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": page.partition("\n")[0]},
        "fullDescription": {"text": _section(page, "What it does") or page.partition("\n")[0]},
        "help": {"text": page, "markdown": page},
        "helpUri": rule.url,
        "defaultConfiguration": {"level": NAMES[rule.level].sarif, "enabled": rule.default},
        "properties": {"tags": ["pytorch", "dataloader", rule.family, rule.level.value]},
    }


def _section(page: str, heading: str) -> str:
    """The text under a heading of a page, as one paragraph."""
    return " ".join(page.partition(f"## {heading}\n")[2].partition("\n## ")[0].split())


def _result(one: Diagnostic, index: int, mark: str, root: str) -> dict[str, object]:
    artifact = _artifact(one.filename, root)
    place: dict[str, object] = {"artifactLocation": artifact}
    if one.cell is None:  # a region of a notebook would be one of its JSON text
        place["region"] = _region(one.start, one.end)
    result: dict[str, object] = {
        "ruleId": one.code,
        "ruleIndex": index,
        "level": NAMES[one.level].sarif,
        "message": {"text": cell_prefix(one) + one.message},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"primaryLocationLineHash": mark},
    }
    steps = [*(Reason(each.filename, each.start, "and here", each.cell) for each in one.places), *one.because]
    related = [_related(number, each, root) for number, each in enumerate(steps)]
    if related:
        result["relatedLocations"] = related
    if one.fix is not None and one.cell is None:
        result["fixes"] = [_fix(one.fix, artifact)]
    return result


def _related(number: int, one: Reason, root: str) -> dict[str, object]:
    place: dict[str, object] = {"artifactLocation": _artifact(one.filename, root)}
    if one.cell is None:
        place["region"] = {"startLine": one.position.line, "startColumn": one.position.column + 1}
    return {"id": number, "physicalLocation": place, "message": {"text": one.text}}


def _fix(fix: Fix, artifact: dict[str, str]) -> dict[str, object]:
    replacements = [
        {"deletedRegion": _region(edit.start, edit.end), "insertedContent": {"text": edit.content}}
        for edit in fix.edits
    ]
    return {
        "description": {"text": fix.title},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": replacements}],
        "properties": {"applicability": fix.safety.value},
    }


def _region(start: Position, end: Position) -> dict[str, int]:
    return {
        "startLine": start.line,
        "startColumn": start.column + 1,
        "endLine": end.line,
        "endColumn": end.column + 1,
    }


def _artifact(filename: str, root: str) -> dict[str, str]:
    path = path_from(root, filename)
    if os.path.isabs(path):
        return {"uri": f"file://{_quoted(path)}"}
    return {"uri": _quoted(path), "uriBaseId": _ROOT}


def _quoted(path: str) -> str:
    """A path as part of a URI, with a slash before the drive letter of an absolute one on Windows."""
    path = path.replace(os.sep, "/")
    lead = "/" if path[1:3] == ":/" else ""
    return lead + quote(os.fsencode(path), safe="/:" if lead else "/")
