"""The first look at an old code base: shown to people who have chosen nothing, and to nobody else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks import processes
from commands import here, terminal, write
from dataloader_lint.diagnostics import Diagnostic, Fix, Level, Position, Safety
from dataloader_lint.output import overview, paint

__all__ = ["here"]

HEAD = "from torch.utils.data import DataLoader\n\n"
RAISES = "one = DataLoader(data, persistent_workers=True)\n"
SPAWNS = "def make{}(data):\n    return DataLoader(data, num_workers=2, collate_fn=lambda rows: rows)\n"


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """What a terminal of 100 columns gets."""
    command = [sys.executable, "-m", "dataloader_lint", *arguments]
    with terminal() as (handle, shown):
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", **environment}
        processes.run(command, stdout=handle, stderr=handle, env=environment)
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture
def old_code(here: Path) -> None:
    write("a.py", HEAD + RAISES * 20)
    write("b.py", HEAD + "".join(map(SPAWNS.format, range(5))))


def test_many_findings_are_summed_up(old_code: None) -> None:
    shown = on_a_terminal()
    assert "25 problems in 2 files: 20 errors, 5 warnings.\n\nErrors (raises, hangs, or gives wrong data)\n" in shown
    assert "\n    20  DL301  persistent-workers-without-workers: `persistent_workers=True` needs worker" in shown
    assert shown.index("Errors (") < shown.index("Warnings (")
    assert shown.count("\ndocs: https://") == 2
    assert "\n  dataloader-lint --full  " in shown
    assert "show all 25\n" in shown
    assert "fix 25 safely" in shown
    assert "--write-baseline dataloader-lint.json" in shown
    assert shown.endswith("only on Linux? 20 left\n")
    assert "dataloader-lint --full ." not in shown
    assert "dataloader-lint --full a.py b.py" in on_a_terminal("a.py", "b.py")
    assert "20 problems in 1 file" not in on_a_terminal("--start-method", "fork")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--full",),
        ("--quiet",),
        ("--statistics",),
        ("--select", "DL"),
        ("--output-format", "full"),
        ("--max-workers", "4"),
        ("--fix", "--fixable", "DL2"),
        ("--output-file", "report.txt"),
    ],
)
def test_who_asks_for_all_gets_all(old_code: None, arguments: tuple[str, ...]) -> None:
    assert "What next?" not in on_a_terminal(*arguments)


def test_settings_pipes_and_few_findings_are_as_ever(old_code: None) -> None:
    command = [sys.executable, "-m", "dataloader_lint"]
    assert processes.run(command).stdout.count("\ndocs: ") == 25
    assert "What next?" not in on_a_terminal("b.py")
    write("pyproject.toml", "[project]\nname = 'x'\nrequires-python = '>=3.11'\n")
    assert "What next?" in on_a_terminal()
    write("pyproject.toml", "[tool.dataloader-lint]\nmax-workers = 16\n")
    assert "What next?" not in on_a_terminal()


def finding(code: str, level: Level, line: int, fix: bool = False) -> Diagnostic:
    made = Fix(Safety.SAFE, "Mend it", ()) if fix else None
    place = Position(line, 0)
    return Diagnostic("a.py", place, place, code, "it hurts", "", (line, line), made, level=level)


def test_three_of_the_worst_are_of_three_rules() -> None:
    found = [finding("DL101", Level.MEMORY, 1), finding("DL301", Level.ERROR, 2), finding("DL301", Level.ERROR, 3)]
    found += [finding("DL302", Level.ERROR, 4), finding("DL401", Level.SPEED, 5)]

    def about(code: str) -> overview.RuleLine:
        return overview.RuleLine(f"name-of-{code}", "what it finds", False)

    def full(some: object) -> object:
        return [f"full {one.code}:{one.start.line}" for one in some]  # type: ignore[attr-defined]

    lines = list(overview.emit(found, about, full, lambda *more: " ".join(more), paint.plain, 40))  # type: ignore[arg-type]
    assert [line for line in lines if line.startswith("full")] == ["full DL301:2", "full DL302:4", "full DL101:1"]
    assert "     2  DL301  name-of-DL301: what it f…" in lines
    assert not any("fork" in line or "--fix" in line for line in lines)


def test_the_first_look_fits_the_screen() -> None:
    found = [finding(f"DL3{number:02}", Level.ERROR, number) for number in range(1, 8)]
    found += [finding(f"DL1{number:02}", Level.MEMORY, number) for number in range(1, 7)]
    about = overview.RuleLine("name", "what it finds", needs_spawning=False)

    def full(some: Sequence[Diagnostic]) -> Iterator[str]:
        return (f"{one.code} {number}" for one in some for number in range(8))

    for rows in (24, 32, 50):
        lines = list(overview.emit(found, lambda _: about, full, lambda *more: " ".join(more), paint.plain, 80, rows))
        assert len(lines) < rows
        assert max(map(len, lines)) <= 80
        assert sum("DL10" in line for line in lines) == 1
        assert ("DL301 7" in lines) == (rows > 24)
