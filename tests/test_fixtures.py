"""Every fixture is reported exactly where its comments say, however it is written and whichever way it is linted."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from benchmarks import processes
from dataloader_lint import lint_paths
from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.engine.causes import at_each_place
from dataloader_lint.settings import Settings
from docs.generate import read_pages
from fixture_harness import FIXTURES, Place, Unit, find_units, places, read_source, suppressed
from some_files import some_of

ROOT = Path(__file__).parent.parent
UNITS = find_units()
RULES = [page.rule for page in read_pages()]
DEFAULT_CODES = {rule.code for rule in RULES if rule.default}
ALL_CODES = ",".join(rule.code for rule in RULES)

SOME = some_of(UNITS, lambda unit: unit.code, lambda unit: unit.path.name)

each_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
some_units = pytest.mark.parametrize("unit", SOME, ids=lambda unit: unit.name)


def diagnose(unit: Unit) -> list[Diagnostic]:
    """Lints a unit with the default rules and the one that it is a fixture of."""
    return lint_paths([unit.path], Settings(extend_select=(unit.code,)))


def lint(unit: Unit) -> list[Place]:
    """The places of what is found in a unit."""
    return places(diagnose(unit), unit.root)


@each_unit
def test_reported_where_the_comments_say(unit: Unit) -> None:
    differences = unit.differences(diagnose(unit))
    assert not differences, f"\n{differences}"


def test_a_difference_is_shown_with_its_line_and_message(tmp_path: Path) -> None:
    source = "from torch.utils.data import DataLoader\n\nDataLoader(range(4), persistent_workers=True)\n"
    (tmp_path / "reported.py").write_text(source + "print()  # expect: DL301\n")
    unit = Unit("DL301", tmp_path / "reported.py")
    missing, unexpected, message = unit.differences(diagnose(unit)).splitlines()
    assert missing == "missing DL301 at reported.py:4: print()  # expect: DL301"
    assert unexpected == "unexpected DL301 at reported.py:3: DataLoader(range(4), persistent_workers=True)"
    assert message.startswith("    `DataLoader` raises ValueError: ")


@pytest.mark.thorough
@some_units
def test_noqa_silences(unit: Unit, tmp_path: Path) -> None:
    assert lint(unit.rewritten(tmp_path, suppressed)) == []


@pytest.mark.thorough
@pytest.mark.parametrize("code", ["DL101", "DL102", "DL103"])
def test_what_no_worker_copies_yet_is_said_to_be_so(code: str) -> None:
    for unit in UNITS:
        if unit.code == code and unit.path.name.startswith(("reported", "project")):
            marked = set()
            for file in unit.files:
                lines = read_source(file).splitlines()
                marked |= {
                    (str(file), n) for n, line in enumerate(lines, start=2) if line.strip() == "# no workers yet"
                }
            found = [one for one in lint_paths([unit.path], Settings(select=(code,))) if one.code == code]
            said = [one for one in found if "not copied yet: " in one.problem]
            assert {(each.filename, each.start.line) for one in said for each in at_each_place(one)} >= marked


@pytest.mark.thorough
@some_units
def test_layout_of_the_file_does_not_matter(unit: Unit, tmp_path: Path) -> None:
    crlf = unit.rewritten(tmp_path / "crlf", lambda source: source.replace(b"\n", b"\r\n"))
    assert lint(crlf) == unit.expected()

    if not any(b"coding" in file.read_bytes() for file in unit.files):
        bom = unit.rewritten(tmp_path / "bom", lambda source: b"\xef\xbb\xbf" + source)
        assert lint(bom) == unit.expected()

        top = b"# One comment\n\n# and another\n"
        shifted = unit.rewritten(tmp_path / "shifted", lambda source: top + source)
        assert lint(shifted) == [(file, line + 3, code) for file, line, code in unit.expected()]


def run(*command: str) -> str:
    """Runs a command on all fixtures at once, each rule's a project; it may find things, but it may not fail."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "fixtures")
        shutil.copytree(FIXTURES, copy)
        for rule in copy.iterdir():
            if rule.is_dir():
                (rule / "setup.cfg").touch()
        done = processes.run([sys.executable, "-m", *command], cwd=copy, env={**os.environ, "PYTHONPATH": str(ROOT)})
        assert done.returncode in (0, 1), done.stderr
        return done.stdout.replace(f"{copy.resolve()}{os.sep}", "")


# (path, line, column from 1, code)
FullPlace = tuple[str, int, int, str]


@pytest.fixture(scope="module")
def from_the_command_line() -> list[list[FullPlace]]:
    """The places of each finding."""

    def place(one: dict[str, Any], code: str) -> FullPlace:
        return (Path(one["filename"]).as_posix(), one["location"]["row"], one["location"]["column"], code)

    found = json.loads(run("dataloader_lint", "--select", ALL_CODES, "--output-format", "json", "."))
    return [[place(each, one["code"]) for each in (one, *one["places"])] for one in found]


@pytest.fixture(scope="module")
def from_flake8() -> list[FullPlace]:
    shape = ("--format", "%(path)s|%(row)d|%(col)d|%(code)s")
    lines = run("flake8", "--isolated", "--dl-notes", "true", "--select", ALL_CODES, *shape, ".")
    found = (line.split("|") for line in lines.splitlines())
    return sorted((Path(path).as_posix(), int(row), int(column), code) for path, row, column, code in found)


@pytest.mark.thorough
def test_flake8_and_the_command_line_report_the_same_places(
    from_flake8: list[FullPlace], from_the_command_line: list[list[FullPlace]]
) -> None:
    assert from_flake8 == sorted(first for first, *_ in from_the_command_line)


@pytest.mark.thorough
def test_the_command_line_reports_what_the_comments_say(
    from_the_command_line: list[list[FullPlace]],
) -> None:
    found: defaultdict[str, list[Place]] = defaultdict(list)
    for path, line, _, code in chain.from_iterable(from_the_command_line):
        if code in DEFAULT_CODES or code == Path(path).parts[0]:
            found[path].append((path, line, code))
    expected: defaultdict[str, list[Place]] = defaultdict(list)
    for unit in UNITS:
        for inside, line, code in unit.expected():
            path = (unit.root / inside).relative_to(FIXTURES).as_posix()
            expected[path].append((path, line, code))
    assert {path: sorted(places) for path, places in found.items()} == expected
