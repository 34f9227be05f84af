"""Fixes on the fixtures: golden files, and what holds for every fix of every file.

`fixable.py` has `fixable.py.safe`, what `--fix` makes of it, and where unsafe fixes make something else of it
`fixable.py.unsafe`. Nothing in a `refused.py` is fixed.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from dataloader_lint import lint_source
from dataloader_lint.diagnostics import FixResult
from dataloader_lint.engine.fixer import fix_source, with_fixes
from dataloader_lint.rules.base import FixLevel, Rule
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.settings import Settings
from fixture_harness import FIXTURES
from some_files import some_of

FIXABLE = sorted(FIXTURES.glob("DL*/fixable*.py"))
REFUSED = sorted(FIXTURES.glob("DL*/refused*.py"))
FILES = some_of(
    sorted(FIXTURES.glob("DL*/**/*.py")), lambda file: file.relative_to(FIXTURES).parts[0], lambda file: file.name
)
# The fix of unused comments is the engine's own; tests/test_unused_noqa.py tries it.
RULES = [one.rule for one in found_rules().values() if one.rule.fix is not FixLevel.NONE and one.rule.code != "DL001"]

each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(FIXTURES).as_posix())
each_fixable = pytest.mark.parametrize("file", FIXABLE, ids=lambda file: file.relative_to(FIXTURES).as_posix())
each_refused = pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.relative_to(FIXTURES).as_posix())
both_levels = pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])


def settings_for(file: Path) -> Settings:
    """All Datasets are large, as there is no fix for what costs little memory, or nobody knows how much."""
    return Settings(extend_select=(file.relative_to(FIXTURES).parts[0],), samples=(("*", 10_000_000),))


def fix(file: Path, unsafe: bool, source: bytes | None = None) -> FixResult:
    content = file.read_bytes() if source is None else source
    return fix_source(content, str(file), settings_for(file), unsafe=unsafe)


@each_fixable
@both_levels
def test_the_result_is_what_the_golden_file_says(file: Path, unsafe: bool) -> None:
    result = fix(file, unsafe)
    golden = file.with_name(file.name + ".unsafe")
    if not unsafe or not golden.exists():
        golden = file.with_name(file.name + ".safe")
    assert result.source.decode() == golden.read_text(encoding="utf-8")
    assert result.dropped == []


@each_fixable
def test_everything_fixable_is_fixed(file: Path) -> None:
    code = file.parent.name
    assert [one.start.line for one in fix(file, unsafe=True).remaining if one.code == code] == []


@each_refused
def test_nothing_is_made_of_what_must_be_refused(file: Path) -> None:
    code = file.parent.name
    result = fix_source(file.read_bytes(), str(file), Settings(select=(code,)), unsafe=True)
    assert result.source == file.read_bytes()
    assert result.fixed == {}
    assert result.dropped == [], "refused is not tried"
    assert {one.code for one in result.remaining} <= {code}, "nothing breaks"


def test_a_rule_has_a_fix_if_it_says_so() -> None:
    has_fix = {code for code, one in found_rules().items() if hasattr(importlib.import_module(one.module), "fix")}
    assert has_fix == {rule.code for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_with_a_fix_shows_what_it_does_and_what_it_refuses(rule: Rule) -> None:
    code, level = rule.code, rule.fix
    fixed = Counter[str]()
    safely = Counter[str]()
    for file in FIXABLE:
        if file.parent.name == code:
            fixed.update(fix(file, unsafe=True).fixed)
            safely.update(fix(file, unsafe=False).fixed)
    assert fixed[code]
    assert any(file.parent.name == code for file in REFUSED)
    assert (safely[code] > 0) is (level is not FixLevel.UNSAFE)
    assert (safely[code] < fixed[code]) is (level is not FixLevel.SAFE)


@pytest.mark.thorough
@each_file
@both_levels
def test_a_fix_holds(file: Path, unsafe: bool) -> None:
    source = file.read_bytes()
    before = lint_source(source, str(file), settings_for(file))
    result = fix(file, unsafe)
    if result.fixed:
        compile(result.source, str(file), "exec")
    after = lint_source(result.source, str(file), settings_for(file))
    assert [(one.code, one.start) for one in after] == [(one.code, one.start) for one in result.remaining]
    gone = Counter(one.code for one in before) - Counter(one.code for one in after)
    assert not Counter(one.code for one in after) - Counter(one.code for one in before)
    assert all(gone[code] >= count for code, count in result.fixed.items())

    again = fix(file, unsafe, result.source)
    assert again.source == result.source
    assert again.fixed == {}


@pytest.mark.thorough
@each_file
def test_what_is_not_edited_stays_as_it_is(file: Path) -> None:
    source = file.read_bytes()
    if b"coding" in source:
        return
    touched: set[int] = set()
    for one in with_fixes(source, str(file), settings_for(file)):
        for edit in one.fix.edits if one.fix is not None else ():
            touched |= set(range(edit.start.line, edit.end.line + 1))
    old = source.decode().splitlines(keepends=True)
    new = fix(file, True, source).source.decode().splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    changed = {
        line + 1 for kind, start, end, _, _ in matcher.get_opcodes() if kind != "equal" for line in range(start, end)
    }
    # Blank lines that a diff counts as changed may as well be those next to them.
    assert {line for line in changed - touched if old[line - 1].strip()} == set()


def in_tabs(source: bytes) -> bytes:
    return re.sub(rb"^(?:    )+", lambda found: b"\t" * (len(found[0]) // 4), source, flags=re.MULTILINE)


LAYOUTS: dict[str, Callable[[bytes], bytes]] = {
    "crlf": lambda source: source.replace(b"\n", b"\r\n"),
    "cr": lambda source: source.replace(b"\n", b"\r"),
    "bom": lambda source: b"\xef\xbb\xbf" + source,
    "tabs": in_tabs,
    "shifted": lambda source: b"#!/usr/bin/env python\n# A licence\n" + source,
    "cut": lambda source: source.removesuffix(b"\n"),
    "latin": lambda source: b"# coding: latin-1\n# \xe9\n" + source,
}


@pytest.mark.thorough
@each_fixable
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_and_encoding_of_the_file_stay(file: Path, layout: str) -> None:
    change = LAYOUTS[layout]
    source = file.read_bytes()
    if not source.isascii() and layout == "latin":
        pytest.skip("holds other characters")
    assert fix(file, True, change(source)).source == change(fix(file, True).source)


@pytest.mark.thorough
@each_fixable
def test_form_feeds_stay(file: Path) -> None:
    """LibCST itself drops one that stands directly before a statement."""
    source = re.sub(rb"^(def|class|@)", rb"\f\1", file.read_bytes(), flags=re.MULTILINE)
    result = fix(file, True, source)
    assert result.source.count(b"\f") == source.count(b"\f")
    ast.parse(result.source)
    # New functions stand above the form feed, as they stand above comments.
    assert result.source.replace(b"\f", b"") == fix(file, True).source


@pytest.mark.thorough
@each_fixable
def test_json_edits_make_the_same_of_a_file(file: Path) -> None:
    """Whoever applies the edits of one diagnostic gets a file without that finding."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    found = with_fixes(text.encode(), str(file), settings_for(file))
    one = next(one for one in found if one.fix is not None and one.code == file.parent.name)
    assert one.fix is not None
    for edit in reversed(one.fix.edits):
        start, end = (starts[place.line - 1] + place.column for place in (edit.start, edit.end))
        text = text[:start] + edit.content + text[end:]
    after = lint_source(text, str(file), settings_for(file))
    assert len(after) < len(found)


def test_comments_that_stay_and_go_are_distinguished(tmp_path: Path) -> None:
    """A comment that stands in what is kept does not make up for an equal one beside it."""
    text = (
        "import numpy as np\nimport torch\nfrom torch.utils.data import DataLoader\n\n\n"
        "def collate(rows):\n    return torch.tensor({}[np.asarray(row) for row in  # note\n        rows])\n\n\n"
        "loader = DataLoader([1], num_workers=2, collate_fn=collate)\n"
    )
    settings = Settings(select=("DL606",))
    for comment, count in (("  # note\n        ", {}), ("", {"DL606": 1})):
        source = text.format(comment).encode()
        assert fix_source(source, str(tmp_path / "a.py"), settings, unsafe=True).fixed == count


def test_a_lambda_of_two_lines_becomes_one_line_where_it_fits() -> None:
    file = FIXTURES / "DL204" / "fixable_chain.py"
    source = file.read_text(encoding="utf-8").replace(
        'F.pad(x[None], (4, 4), mode="reflect")',
        'F.pad(\n                x[None], (4, 4),\n\n                mode="reflect"\n)',
    )
    expected = file.with_suffix(".py.safe").read_text(encoding="utf-8")
    assert fix(file, unsafe=False, source=source.encode()).source.decode() == expected
    longer = source.replace("mode=", "value=0.123456789012345678901234567890, mode=")
    assert 'mode="reflect"\n' in fix(file, unsafe=False, source=longer.encode()).source.decode()
