"""docs/evidence.md and its pictures say what was measured, and nothing else."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from benchmarks.evidence import FIGURES, FOLDER, PAGE, draw_all, newer, render_page
from benchmarks.evidence_measure import UnexpectedError, check_seen, describe, measure_proof, measurements
from docs.generate import PICTURES, RULES_PAGE
from evidence.harness import Error, Need, Outcome, Proof, find_proofs

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


def test_what_a_machine_cannot_show_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU the program ends with an error about it, which is no figure."""
    monkeypatch.setattr(Need, "is_met", lambda need: need is not Need.CUDA)
    monkeypatch.setattr(Proof, "run_before", lambda *_, **__: pytest.fail("it was run"))
    found = measure_proof(find_proofs()["DL404"], tmp_path, print)
    assert found["missing"] == ["CUDA"]
    assert not {"before", "after"} & set(found)


def test_earlier_figures_stay_where_nothing_can_be_measured_now() -> None:
    measured, nothing = {"before": {"seen": "1"}, "measured": 1}, {"missing": ["CUDA"], "measured": 2}
    assert newer(measured, nothing) is measured
    assert newer(None, nothing) is nothing
    assert newer(nothing, measured) is measured
    assert newer(nothing, {**nothing, "measured": 3})["measured"] == 3


def test_the_page_says_what_was_not_measured(figures: dict[str, Any]) -> None:
    row = next(line for line in render_page(figures).splitlines() if 'id="dl404"' in line)
    assert row.count("not measured: needs CUDA") == 2
    seen = {"seen": "wrong: 3", "seconds": []}
    measured = {**figures["DL404"], "before": seen, "after": seen}
    del measured["missing"]
    page = render_page({**figures, "DL404": measured})
    row = next(line for line in page.splitlines() if 'id="dl404"' in line)
    assert "not measured" not in row and row.count("`wrong: 3`") == 2
    assert "The programs of DL207, DL215, DL314, DL402 were not run." in page


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome([], Error("RuntimeError", "Found no NVIDIA driver on your system"), [], False, ""),
        Outcome([{"wrong": 1}], None, [Error("ModuleNotFoundError", "No module named 'fsspec'")], False, ""),
        Outcome([{"batches": "AssertionError: Torch not compiled with CUDA enabled"}], None, [], False, ""),
        Outcome([{"wrong": 1}], None, [], True, ""),
        Outcome([], None, [], False, "Killed"),
    ],
)
def test_a_failure_is_no_figure(outcome: Outcome) -> None:
    with pytest.raises(UnexpectedError, match="DL404 before is to show"):
        check_seen("DL404 before", "ValueError, of 4 results some are wrong", outcome, describe(outcome))


def test_the_errors_of_all_figures_are_those_that_the_proofs_claim(figures: dict[str, Any]) -> None:
    for code, proof in find_proofs().items():
        for side, claim in (("before", proof.symptom), ("after", proof.cure)):
            if side in figures[code]:
                said = Outcome([{"all": 1}], None, [], False, "")
                check_seen(f"{code} {side}", claim, said, figures[code][side]["seen"])
