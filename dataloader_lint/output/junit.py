"""JUnit's XML, which most CI services show as failed tests: a suite for each file, a case for each finding."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from dataloader_lint.diagnostics import Diagnostic, Level
from dataloader_lint.output.places import cell_prefix, path_from
from dataloader_lint.output.text import neutralise, shown_place


def emit(
    diagnostics: Sequence[Diagnostic],
    url_of: Callable[[str], str],
    root: str,
    crash_code: str,
    *,
    notes_fail: bool = False,
) -> Iterator[str]:
    """Yields the report. A finding with `crash_code` is an error and no failure, a note a skipped case unless
    `notes_fail` says that it fails the run. A clean run is one passed case."""
    suites = ET.Element("testsuites", name="dataloader-lint")
    for path, found in groupby(diagnostics, lambda one: path_from(root, one.filename)):
        suite = ET.SubElement(suites, "testsuite", name=neutralise(path))
        for one in found:
            is_skipped = one.level is Level.NOTE and not notes_fail
            kind = "error" if one.code == crash_code else "skipped" if is_skipped else "failure"
            _add_case(suite, one, neutralise(path), url_of(one.code), kind)
        _count(suite)
    if not diagnostics:
        suite = ET.SubElement(suites, "testsuite", name="dataloader-lint")
        ET.SubElement(suite, "testcase", name="no findings", classname="dataloader-lint")
        _count(suite)
    for kind in ("tests", "failures", "errors"):
        suites.set(kind, str(sum(int(suite.get(kind, "0")) for suite in suites)))
    ET.indent(suites)
    yield ET.tostring(suites, encoding="us-ascii", xml_declaration=True).decode("ascii")


def _add_case(suite: ET.Element, one: Diagnostic, path: str, url: str, kind: str) -> None:
    line: dict[str, str] = {"line": str(one.start.line)} if one.cell is None else {}
    attributes = {"name": one.code, "classname": os.path.splitext(path)[0].replace("/", "."), "file": path}
    case = ET.SubElement(suite, "testcase", {**attributes, **line})
    message = neutralise(cell_prefix(one) + one.whole_message)
    text = f"{shown_place(one, path)}: {neutralise(one.whole_message)}\n{url}"
    typed = {} if kind == "skipped" else {"type": one.code}  # which fails nothing, and services show its text
    ET.SubElement(case, kind, {"message": message, **typed}).text = text


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("*/failure"))))
    suite.set("errors", str(len(suite.findall("*/error"))))
