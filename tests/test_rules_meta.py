"""What every rule file owes its readers, and that rules, pages and fixtures name each other without gaps."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint import lint_source
from dataloader_lint.diagnostics import Level
from dataloader_lint.settings import Settings
from docs.generate import FAMILIES, HEADINGS, RULES_PAGE, Page, read_pages
from fixture_harness import FIXTURES, find_units

ALL_PAGES = read_pages()
# What the engine itself reports has a page, but no check to try on examples and fixtures.
PAGES = [page for page in ALL_PAGES if page.checks]
# Names read well after "allow"; these start an order, not the name of a thing.
BANNED_NAME = re.compile(r"(use|prefer|avoid|no(?!-workers$))-")

# Read, not imported: what runs under torch is none of this file's business.
PROVEN = {
    path.stem.removeprefix("test_").upper(): path
    for path in sorted((Path(__file__).parent / "evidence").glob("test_dl*"))
}

each_code = pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.rule.code)
each_rule = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.rule.code)


def codes_in(source: str, page: Page) -> set[str]:
    """Lints a documented example with the default rules and the one that it belongs to, without notes of others."""
    found = lint_source(source, "example.py", Settings(extend_select=(page.rule.code,)))
    return {one.code for one in found if one.level is not Level.NOTE or one.code == page.rule.code}


def proven_in(path: Path) -> str:
    """The code in `PROOF = Proof(rule="DL101", ...)` at the top level of a file."""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id="PROOF")], value=ast.Call(func=ast.Name(id="Proof"), keywords=keywords)
            ):
                return next(ast.literal_eval(each.value) for each in keywords if each.arg == "rule")
    return f"{path.name} has no PROOF"


def test_rules_are_found() -> None:
    assert len(PAGES) >= 8


def test_codes_and_names_are_unique() -> None:
    assert max(Counter(page.rule.code for page in ALL_PAGES).values()) == 1
    assert max(Counter(page.rule.name for page in ALL_PAGES).values()) == 1


@each_code
def test_file_is_called_like_the_rule(page: Page) -> None:
    file_name = page.module.rpartition(".")[2]
    assert file_name == f"{page.rule.code}_{page.rule.name}".lower().replace("-", "_")


@each_rule
def test_family_is_the_hundred_of_the_code(page: Page) -> None:
    assert page.family == list(FAMILIES)[int(page.rule.code[2])]


@each_code
def test_name_reads_well_after_allow(page: Page) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", page.rule.name)
    assert not BANNED_NAME.match(page.rule.name)


@each_code
def test_docstring_has_the_fixed_headings(page: Page) -> None:
    assert tuple(page.sections) == HEADINGS
    assert [heading for heading, text in page.sections.items() if not text] == []
    assert page.summary
    assert "\n" not in page.summary
    assert "|" not in page.summary, "the summary is a table cell too"


@each_rule
def test_examples_are_true(page: Page) -> None:
    bad, good = page.blocks("Example"), page.blocks("Use instead")
    assert bad
    assert good
    for block in [*bad, *good]:
        ast.parse(block)
    for block in bad:
        assert codes_in(block, page) == {page.rule.code}
    for block in good:
        assert page.rule.code not in codes_in(block, page)


@each_rule
def test_fixtures_show_reports_and_silence(page: Page) -> None:
    units = [unit for unit in find_units() if unit.code == page.rule.code]
    reported = [code for unit in units for _, _, code in unit.expected()]
    assert page.rule.code in reported
    assert sum(unit.silent_cases() for unit in units) >= 3


def test_silent_fixtures_expect_nothing() -> None:
    noisy = [
        unit.name for unit in find_units() for inside, _, _ in unit.expected() if Path(inside).name.startswith("silent")
    ]
    assert noisy == []


def test_no_fixture_without_a_rule() -> None:
    assert {folder.name for folder in FIXTURES.iterdir() if folder.is_dir()} == {page.rule.code for page in PAGES}


@each_rule
def test_a_default_rule_names_its_evidence(page: Page) -> None:
    if page.rule.default or page.rule.default_for is not None:
        assert page.rule.code in PROVEN


def test_no_evidence_without_a_rule() -> None:
    assert set(PROVEN) <= {page.rule.code for page in PAGES}
    assert {code: proven_in(path) for code, path in PROVEN.items()} == {code: code for code in PROVEN}


@pytest.mark.parametrize("code", PROVEN)
def test_evidence_runs_the_program_before_and_after(code: str) -> None:
    runs = {
        node.func.attr
        for node in ast.walk(ast.parse(PROVEN[code].read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value) == "PROOF"
    }
    assert runs & {"run_each", "attempt_each"} or {"run_before", "run_after"} <= runs


def test_no_page_without_a_rule() -> None:
    documented = re.findall(r"^## (DL\d{3}) ", RULES_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(documented) == [page.rule.code for page in ALL_PAGES]


def test_listing_rules_does_not_import_libcst() -> None:
    listing = "import sys; from docs.generate import read_pages; read_pages(); sys.exit('libcst' in sys.modules)"
    done = processes.run_bytes([sys.executable, "-c", listing], cwd=RULES_PAGE.parent.parent)
    assert done.returncode == 0
