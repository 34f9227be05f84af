"""docs/pitfalls.md names rules that exist and that are shown to find something."""

from __future__ import annotations

import pytest

from dataloader_lint.rules.registry import found_rules
from docs.generate import PITFALLS_PAGE
from docs.pitfalls_page import GROUPS, Pitfall, render
from fixture_harness import FIXTURES

PITFALLS = [each for pitfalls in GROUPS.values() for each in pitfalls]


def test_there_are_53_and_each_is_named_once() -> None:
    assert len({each.name for each in PITFALLS}) == len(PITFALLS) == 53


@pytest.mark.parametrize("code", sorted({code for each in PITFALLS for code in each.codes}))
def test_a_named_rule_exists_and_has_a_fixture_that_it_reports(code: str) -> None:
    assert code in found_rules()
    reported = [path for path in (FIXTURES / code).rglob("*.py") if f"# expect: {code}" in path.read_text("utf-8")]
    assert reported


@pytest.mark.parametrize("pitfall", [each for each in PITFALLS if not each.codes], ids=lambda each: each.name)
def test_without_a_rule_the_page_says_why(pitfall: Pitfall) -> None:
    assert len(pitfall.note) > 20


def test_opt_in_rules_are_in_italics() -> None:
    found = {code: (each.rule, f"rules.md#{code}") for code, each in found_rules().items()}
    page = render(found)
    assert "| `num_workers=0` | [DL306](rules.md#DL306) *no-workers* |" in page
    assert "[DL616](rules.md#DL616) unbounded-retry |" in page


def test_an_unknown_code_is_an_error() -> None:
    with pytest.raises(KeyError):
        render({})


def test_the_page_has_a_row_for_each() -> None:
    tables, _ = PITFALLS_PAGE.read_text("utf-8").split("\n## The newest rules on real code\n")
    rows = [line for line in tables.splitlines() if line.startswith("| ")]
    assert len(rows) == len(PITFALLS) + len(GROUPS)
