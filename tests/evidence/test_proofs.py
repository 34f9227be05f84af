"""What is proven is what the linter says: it reports the one program of every proof, and not the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import find_proofs

PROOFS = find_proofs()


@pytest.mark.parametrize("code", PROOFS)
def test_the_linter_reports_what_shows_the_symptom_and_nothing_else(code: str, tmp_path: Path) -> None:
    before, after = PROOFS[code].programs()
    assert PROOFS[code].codes(before, tmp_path / "before") == {code}
    assert PROOFS[code].codes(after, tmp_path / "after") == set()


@pytest.mark.parametrize("code", PROOFS)
def test_symptom_and_cure_fit_into_a_table(code: str) -> None:
    for text in (PROOFS[code].symptom, PROOFS[code].cure):
        assert 3 <= len(text) <= 160 and "|" not in text and "\n" not in text
