"""A report for CI services: JUnit's XML, and commands of GitHub Actions. Symptoms and broken limits fail."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from dataloader_lint.doctor import words
from dataloader_lint.doctor.compare import Broken
from dataloader_lint.doctor.measured import Measured, Symptom
from dataloader_lint.output.text import neutralise


def junit(report: Measured, limits: Sequence[Broken]) -> str:
    """One suite: a case for each symptom and each broken limit, and one for each loader that has neither."""
    suites = ET.Element("testsuites", name="dataloader-lint doctor")
    suite = ET.SubElement(suites, "testsuite", name="dataloader-lint doctor")
    for each in report.all_symptoms:
        _failed(suite, each.kind, each.title, "\n".join(_details(each)), _place(each))
    for one in limits:
        _failed(suite, "limit", one.text, "", one.place)
    names = {one.name for one in report.loaders if not one.symptoms and not any(one.name in x.text for x in limits)}
    for name in sorted(names):
        ET.SubElement(suite, "testcase", name=name, classname="dataloader-lint.doctor")
    for one_of in (suite, suites):
        one_of.set("tests", str(len(suite)))
        one_of.set("failures", str(len(suite.findall("*/failure"))))
    ET.indent(suites)
    whole: bytes = ET.tostring(suites, encoding="us-ascii", xml_declaration=True)
    return whole.decode("ascii")


def _failed(suite: ET.Element, name: str, title: str, text: str, place: tuple[str, int] | None) -> None:
    where = {"file": neutralise(words.path(place[0])), "line": str(place[1])} if place is not None and place[0] else {}
    case = ET.SubElement(suite, "testcase", {"name": name, "classname": "dataloader-lint.doctor", **where})
    ET.SubElement(case, "failure", {"message": neutralise(title), "type": name}).text = neutralise(text)


def github(report: Measured, limits: Sequence[Broken]) -> Iterator[str]:
    """Yields a command for each symptom and each broken limit."""
    for each in report.all_symptoms:
        yield _command(each.title, _place(each))
    for one in limits:
        yield _command(one.text, one.place)


def _command(text: str, place: tuple[str, int] | None) -> str:
    where = ""
    if place is not None and place[0]:
        where = f" file={_escaped(words.path(place[0]), ',:')},line={place[1]}"
    return f"::error{where}::{_escaped(text)}"


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
