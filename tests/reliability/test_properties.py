"""Programs from a grammar, and real files spoiled by chance: no crash, no harm, findings that only meaning moves."""

from __future__ import annotations

import random
from pathlib import Path

import black
import hypothesmith
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.rules.registry import INTERNAL_ERROR, UNREADABLE_FILE
from fixture_harness import FIXTURES
from reliability.budget import for_a_while
from reliability.circles import circular
from reliability.programs import Program, Style, programs, render, styles
from reliability.rewriting import mutated, sites, with_comments
from reliability.sweep import EVERY_RULE, harm_of

NOWHERE = "/nonexistent/program.py"
FILES = [path for path in sorted(FIXTURES.rglob("*.py")) if "project_" not in path.as_posix()]
FAILURES = sorted((Path(__file__).parent / "failures").glob("*.py"))

few = settings(max_examples=15, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
many = settings(max_examples=5_000, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def lint(text: str) -> list[Diagnostic]:
    found = lint_source(text, NOWHERE, EVERY_RULE)
    assert not [one for one in found if one.code in (INTERNAL_ERROR, UNREADABLE_FILE)], found
    return found


def check_stable(program: Program, style: Style, seed: int) -> None:
    text = render(program)
    expected = sites(text, lint(text))
    chance = random.Random(seed)
    changes = {
        "imports and names": render(program, style),
        "comments": with_comments(text, chance),
        "black": black.format_str(text, mode=black.Mode(line_length=chance.choice((40, 88, 400)))),
        "newlines": text.replace("\n", "\r\n"),
        "tabs": text.replace("    ", "\t"),
    }
    for what, changed in changes.items():
        if program.suppressed and what == "black":
            continue  # a comment counts for the lines of its statement, which black makes more of
        assert sites(changed, lint(changed)) == expected, f"{what}:\n{text}\n---\n{changed}"


def check_repair(source: bytes, *, unsafe: bool) -> None:
    result = fix_source(source, NOWHERE, EVERY_RULE, unsafe=unsafe)
    assert not [one for one in result.remaining if one.code == INTERNAL_ERROR], result.remaining
    assert harm_of(source, result.source) == "", result.source.decode()
    again = fix_source(result.source, NOWHERE, EVERY_RULE, unsafe=unsafe)
    assert again.source == result.source
    before = {one.code for one in lint_source(source, NOWHERE, EVERY_RULE)}
    assert {one.code for one in result.remaining} <= before


def check_mutant(path: Path, seed: int) -> None:
    source = mutated(path.read_bytes(), random.Random(seed))
    found = lint_source(source, NOWHERE, EVERY_RULE, fixes=True)
    assert not [one for one in found if one.code == INTERNAL_ERROR], found
    check_repair(source, unsafe=True)


@few
@given(programs(), styles(), st.integers(0, 10**6))
def test_findings_are_stable(program: Program, style: Style, seed: int) -> None:
    check_stable(program, style, seed)


@few
@given(programs(), styles(), st.booleans())
def test_repairs_do_no_harm(program: Program, style: Style, unsafe: bool) -> None:
    check_repair(render(program, style).encode(), unsafe=unsafe)


@few
@given(st.sampled_from(FILES), st.integers(0, 10**9))
def test_spoiled_files(path: Path, seed: int) -> None:
    check_mutant(path, seed)


@few
@given(st.sampled_from(FILES), st.integers(0, 10**9))
def test_layout_of_real_code(path: Path, seed: int) -> None:
    check_layout(path, seed)


def check_layout(path: Path, seed: int) -> None:
    text = path.read_bytes().decode("utf-8-sig", "replace")
    if "coding" in text or "noqa" in text:
        return
    expected = sites(text, lint(text))
    changed = with_comments(text, random.Random(seed))
    assert sites(changed, lint(changed)) == expected, changed
    formatted = black.format_str(text, mode=black.Mode(line_length=60 + seed % 100))
    assert sites(formatted, lint(formatted)) == expected, formatted


@settings(parent=few, max_examples=40)
@given(st.integers(0, 10**9))
def test_values_made_of_themselves(seed: int) -> None:
    lint(circular(random.Random(seed)))


@pytest.mark.parametrize("path", FAILURES, ids=lambda path: path.stem)
def test_what_failed_once(path: Path) -> None:
    """Programs and mutants that broke something, kept as they were found."""
    source = path.read_bytes()
    found = lint_source(source, NOWHERE, EVERY_RULE, fixes=True)
    assert not [one for one in found if one.code == INTERNAL_ERROR], found
    for unsafe in (False, True):
        check_repair(source, unsafe=unsafe)


@pytest.mark.long
@for_a_while
@many
@given(programs(), styles(), st.integers(0, 10**6))
def test_findings_are_stable_long(program: Program, style: Style, seed: int) -> None:
    check_stable(program, style, seed)


@pytest.mark.long
@for_a_while
@many
@given(programs(), styles(), st.booleans())
def test_repairs_do_no_harm_long(program: Program, style: Style, unsafe: bool) -> None:
    check_repair(render(program, style).encode(), unsafe=unsafe)


@pytest.mark.long
@for_a_while
@many
@given(st.sampled_from(FILES), st.integers(0, 10**9))
def test_spoiled_files_long(path: Path, seed: int) -> None:
    check_mutant(path, seed)


@pytest.mark.long
@for_a_while
@settings(parent=many, max_examples=1_000)
@given(st.sampled_from(FILES), st.integers(0, 10**9))
def test_layout_of_real_code_long(path: Path, seed: int) -> None:
    check_layout(path, seed)


@pytest.mark.long
@for_a_while
@many
@given(st.integers(0, 10**9))
def test_values_made_of_themselves_long(seed: int) -> None:
    lint(circular(random.Random(seed)))


@pytest.mark.long
@for_a_while
@settings(parent=many, max_examples=500)
@given(st.deferred(hypothesmith.from_node))
def test_any_syntax(text: str) -> None:
    """Code of every shape that Python's grammar has, from hypothesmith, with the words in it that open the gate."""
    source = f"from torch.utils.data import DataLoader, Dataset\n{text}"
    found = lint_source(source, NOWHERE, EVERY_RULE, fixes=True)
    assert not [one for one in found if one.code == INTERNAL_ERROR], found
    check_repair(source.encode("utf-8", "surrogatepass"), unsafe=True)
