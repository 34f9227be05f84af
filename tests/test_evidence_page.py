"""docs/evidence.md and its pictures say what was measured, and nothing else."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from benchmarks.evidence import FIGURES, FOLDER, PAGE, draw_all, render_page
from benchmarks.evidence_measure import measurements
from docs.generate import PICTURES, RULES_PAGE
from evidence.harness import find_proofs

NAMES = [picture.file for picture in PICTURES]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return found


def test_page_is_made_from_the_figures(figures: dict[str, Any]) -> None:
    """Where this fails: `python -m benchmarks.evidence --redraw`, and without the option where figures are missing."""
    assert list(figures) == list(measurements())
    assert PAGE.read_text(encoding="utf-8") == render_page(figures)


def test_pictures_are_made_from_the_figures(figures: dict[str, Any]) -> None:
    pictures = draw_all(figures)
    assert sorted(pictures) == sorted(NAMES) == sorted(path.name for path in FOLDER.glob("*.svg"))
    for name, picture in pictures.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == picture


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_readable_text_in_light_and_dark(name: str) -> None:
    root = ET.fromstring((FOLDER / name).read_text(encoding="utf-8"))
    style = root.findtext(f"{SVG}style") or ""
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    used = {word for element in root.iter() for word in element.get("class", "").split()}
    coloured = used - {"strong", "title", "line", "dot", "bar"}
    assert coloured >= {"paper", "ink", "soft", "grid"}
    for word in coloured:
        assert re.search(rf"\.{word}\b", light) and re.search(rf"\.{word}\b", dark)
    assert len([element for element in root.iter(f"{SVG}text") if element.text]) > 10


def test_pages_of_rules_lead_to_their_evidence() -> None:
    page, rules = PAGE.read_text(encoding="utf-8"), RULES_PAGE.read_text(encoding="utf-8")
    anchors = re.findall(r'<a id="(dl\d{3})">', page)
    assert anchors == [code.lower() for code in find_proofs()]
    assert re.findall(r"\(evidence\.md#(dl\d{3})\)", rules) == anchors
    assert set(re.findall(r"\(evidence/(\S+\.svg)\)", rules)) == set(NAMES)
