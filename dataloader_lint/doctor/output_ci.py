"""A report for CI services: JUnit's XML, and commands of GitHub Actions. What fails is what makes the exit code 1.

Broken limits do; symptoms do where there are no limits.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from dataloader_lint.doctor import words
from dataloader_lint.doctor.compare import Broken
from dataloader_lint.doctor.measured import Measured, Symptom
from dataloader_lint.output.text import neutralise


def junit(report: Measured, limits: Sequence[Broken], *, only_limits: bool = False) -> str:
    """One suite: a case for each symptom and each broken limit, and one for each loader that has neither.

    With `only_limits` symptoms are what their cases print, and no failures.
    """
    suites = ET.Element("testsuites", name="dataloader-lint doctor")
    suite = ET.SubElement(suites, "testsuite", name="dataloader-lint doctor")
    for each in report.all_symptoms:
        case, text = _case(suite, each.kind, _place(each)), "\n".join(_details(each))
        if only_limits:
            ET.SubElement(case, "system-out").text = _lines(f"{each.title}\n{text}")
        else:
            _fail(case, each.kind, each.title, text)
    for one in limits:
        _fail(_case(suite, "limit", one.place), "limit", one.text, "")
    names = {one.name for one in report.loaders if not one.symptoms and not any(one.name in x.text for x in limits)}
    for name in sorted(names):
        ET.SubElement(suite, "testcase", name=name, classname="dataloader-lint.doctor")
    for one_of in (suite, suites):
        one_of.set("tests", str(len(suite)))
        one_of.set("failures", str(len(suite.findall("*/failure"))))
    ET.indent(suites)
    whole: bytes = ET.tostring(suites, encoding="us-ascii", xml_declaration=True)
    return whole.decode("ascii")


def _case(suite: ET.Element, name: str, place: tuple[str, int] | None) -> ET.Element:
    where = {"file": neutralise(words.path(place[0])), "line": str(place[1])} if place is not None and place[0] else {}
    return ET.SubElement(suite, "testcase", {"name": name, "classname": "dataloader-lint.doctor", **where})


def _fail(case: ET.Element, name: str, title: str, text: str) -> None:
    ET.SubElement(case, "failure", {"message": neutralise(title), "type": name}).text = _lines(text)


def _lines(text: str) -> str:
    return "\n".join(map(neutralise, text.splitlines()))


def github(report: Measured, limits: Sequence[Broken], *, only_limits: bool = False) -> Iterator[str]:
    """Yields a command for each symptom and each broken limit; with `only_limits` symptoms are warnings."""
    for each in report.all_symptoms:
        yield _command("warning" if only_limits else "error", each.title, _place(each))
    for one in limits:
        yield _command("error", one.text, one.place)


def _command(level: str, text: str, place: tuple[str, int] | None) -> str:
    where = ""
    if place is not None and place[0]:
        where = f" file={_escaped(words.path(place[0]), ',:')},line={place[1]}"
    return f"::{level}{where}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    for each in f"%\r\n{more}":
        text = text.replace(each, f"%{ord(each):02X}")
    return text


def _place(each: Symptom) -> tuple[str, int] | None:
    if each.findings:
        return each.findings[0].filename, each.findings[0].start.line
    return each.place


def _details(each: Symptom) -> Iterator[str]:
    for one in each.findings:
        yield f"{words.place((one.filename, one.start.line))} {one.code} {one.message}"
    if each.gain:
        yield words.gain(each.gain)
    if each.advice:
        yield each.advice
