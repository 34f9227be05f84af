"""One cause, one finding: which findings come together, and what reports, comments and fixes make of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dataloader_lint import Settings, fix_source, lint_source
from dataloader_lint.cli import main
from dataloader_lint.diagnostics import Level, Safety
from dataloader_lint.engine import baseline
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Rule
from dataloader_lint.rules.registry import FoundRule
from fake_rules import fake_rules

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File

__all__ = ["fake_rules"]

SOURCE = """first = DataLoader("one")
second = DataLoader("one")
other = DataLoader("two")
third = DataLoader("one")
"""
ONLY = Settings(select=("DL301",))


def _check(file: File, level: Level | None = None) -> Iterator[Finding]:
    """Each loader whose argument is the same text has the same cause."""
    for call in file.module.calls_named("DataLoader"):
        text = call.args[0].value.value  # type: ignore[attr-defined]
        yield Finding(call, f"made of {text}", "mend it", partial(_fix, call), level=level, cause=text)


def _fix(call: cst.Call, editor: Editor) -> Repair:
    from dataloader_lint.edits import Repair
    from dataloader_lint.edits import replace as exchange

    line = editor.text[: editor.start(call)].count("\n") + 1
    safety = Safety.UNSAFE if line == _unsafe_line[0] else Safety.SAFE
    return Repair(safety, "Mend it", (exchange(editor, call, "mended()"),))


_unsafe_line = [0]


@pytest.fixture
def grouping(fake_rules: dict[str, FoundRule]) -> dict[str, FoundRule]:
    rule = Rule("DL301", "made-up-loader", Entity.FILE, Level.ERROR, Claim.MAY, fix=FixLevel.SAFE)
    fake_rules["DL301"] = FoundRule(rule, None, _check, "A made-up page.", "made.up.fake")
    _unsafe_line[0] = 0
    return fake_rules


@pytest.mark.usefixtures("grouping")
def test_findings_of_one_cause_are_one() -> None:
    found = lint_source(SOURCE, "some.py", ONLY)
    assert [(one.start.line, [place.start.line for place in one.places]) for one in found] == [(1, [2, 4]), (3, [])]
    assert [one.also for one in found] == ["and lines 2, 4", ""]
    assert found[0].whole_message == 'made of "one"; mend it (and lines 2, 4)'


def test_the_worst_level_stands_for_its_cause(grouping: dict[str, FoundRule]) -> None:
    def check(file: File) -> Iterator[Finding]:
        for number, finding in enumerate(_check(file)):
            yield replace(finding, level=Level.SPEED if number == 1 else Level.NOTE)

    grouping["DL301"] = replace(grouping["DL301"], check=check)
    found = lint_source(SOURCE, "some.py", ONLY)
    assert [(one.start.line, one.level) for one in found] == [(2, Level.SPEED), (3, Level.NOTE)]
    assert [place.start.line for place in found[0].places] == [1, 4]
    assert [one.start.line for one in lint_source(SOURCE, "some.py", ONLY.replace(notes=False))] == [2]
    severe = ONLY.replace(severity=(("DL301", "warning"),))
    assert {one.level for one in lint_source(SOURCE, "some.py", severe)} == {Level.WARNING}


@pytest.mark.usefixtures("grouping")
def test_a_comment_silences_its_own_line_only() -> None:
    silenced = SOURCE.replace('first = DataLoader("one")', 'first = DataLoader("one")  # noqa: DL301')
    found = lint_source(silenced, "some.py", ONLY)
    assert [(one.start.line, [place.start.line for place in one.places]) for one in found] == [(2, [4]), (3, [])]


@pytest.mark.usefixtures("grouping")
def test_a_cause_is_fixed_whole_and_as_safe_as_its_least_safe_part() -> None:
    fixed = fix_source(SOURCE.encode(), "some.py", ONLY)
    assert fixed.source.decode().count("mended()") == 4
    assert fixed.fixed == {"DL301": 2}
    _unsafe_line[0] = 4
    some = fix_source(SOURCE.encode(), "some.py", ONLY)
    assert some.source.decode().splitlines()[2] == "other = mended()"
    assert some.source.decode().count("mended()") == 1
    (left,) = some.remaining
    assert left.fix is not None and left.fix.safety is Safety.UNSAFE and len(left.fix.edits) == 3
    assert fix_source(SOURCE.encode(), "some.py", ONLY, unsafe=True).source.decode().count("mended()") == 4


@pytest.mark.usefixtures("grouping")
def test_reports_name_the_other_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.py"
    file.write_text(SOURCE)

    def report(shape: str) -> str:
        assert main(["--select", "DL301", "--no-cache", "--isolated", "--output-format", shape, str(file)]) == 1
        return capsys.readouterr().out

    assert "(and lines 2, 4)" in report("concise")
    assert "(and lines 2, 4)" in report("github")
    assert "a.py:1:9 and lines 2, 4" in report("full")
    first = json.loads(report("json"))[0]
    assert [place["location"]["row"] for place in first["places"]] == [2, 4]
    result = json.loads(report("sarif"))["runs"][0]["results"][0]
    related = [each["physicalLocation"]["region"]["startLine"] for each in result["relatedLocations"]]
    assert related == [2, 4]


@pytest.mark.usefixtures("grouping")
def test_comments_are_added_to_each_place(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(SOURCE)
    assert main(["--select", "DL301", "--no-cache", "--isolated", "--add-noqa", str(file)]) == 0
    assert file.read_text().count("# noqa: DL301") == 4


def test_more_places_of_a_known_cause_are_new_and_so_is_what_was_a_note(grouping: dict[str, FoundRule]) -> None:
    def entries(text: str, level: Level | None) -> tuple[list[int], baseline.Counter[baseline.Entry]]:
        grouping["DL301"] = replace(grouping["DL301"], check=partial(_check, level=level))
        found = lint_source(text, "some.py", ONLY)
        new, _ = baseline.split(found, known, lambda _: text.splitlines(), ".")
        return [one.start.line for one in new], baseline.Counter(
            baseline.entries_of(found, lambda _: text.splitlines(), ".")
        )

    known: baseline.Counter[baseline.Entry] = baseline.Counter()
    _, known = entries(SOURCE, None)
    moved = "import torch\n" + SOURCE
    assert entries(moved, None)[0] == []
    assert entries(moved, Level.NOTE)[0] == []
    longer = 'added = DataLoader("one")\n' + SOURCE
    assert entries(longer, None)[0] == [1]
    _, known = entries(longer, None)
    assert entries(SOURCE, None)[0] == []
    _, known = entries(SOURCE, Level.NOTE)
    assert entries(moved, Level.NOTE)[0] == []
    assert entries(moved, None)[0] == [2, 4]


def test_notes_fail_no_run(grouping: dict[str, FoundRule], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grouping["DL301"] = replace(grouping["DL301"], check=partial(_check, level=Level.NOTE))
    file = tmp_path / "a.py"
    file.write_text(SOURCE)
    arguments = ["--select", "DL301", "--no-cache", "--isolated", str(file)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Notes:\n") and printed.count("DL301") == 2 and "No problems, 2 notes." in printed
    assert main(["--no-notes", *arguments]) == 0
    assert capsys.readouterr().out == "All checks passed!\n"
