"""The first look at an old code base: shown to people who have chosen nothing, and to nobody else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import processes
from commands import here, terminal, write
from dataloader_lint.diagnostics import Diagnostic, Fix, Level, Position, Safety
from dataloader_lint.output import overview, paint
from dataloader_lint.output.text import cut, wrapped

__all__ = ["here"]

HEAD = "from torch.utils.data import DataLoader\n\n"
RAISES = "one = DataLoader(data, persistent_workers=True)\n"
NOTED = (
    HEAD
    + """class Images(Dataset):
    def __init__(self, root):
        self.root = root
        self.rows = [line for line in open(root)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
"""
).replace("DataLoader", "Dataset", 1)
SPAWNS = "def make{}(data):\n    return DataLoader(data, num_workers=2, collate_fn=lambda rows: rows)\n"


def on_a_terminal(*arguments: str, rows: int = 0, columns: int = 0, **environment: str) -> str:
    """What a terminal gets; without a size it counts as one of 100 columns, of unknown height."""
    command = [sys.executable, "-m", "dataloader_lint", *arguments]
    with terminal() as (handle, shown):
        if rows:
            termios.tcsetwinsize(handle, (rows, columns))
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", **environment}
        processes.run(command, stdout=handle, stderr=subprocess.DEVNULL, env=environment)
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture
def old_code(here: Path) -> None:
    write("a.py", HEAD + RAISES * 20)
    write("b.py", HEAD + "".join(map(SPAWNS.format, range(5))))


def test_many_findings_are_summed_up(old_code: None) -> None:
    shown = on_a_terminal()
    assert "25 problems in 2 files: 20 errors, 5 warnings.\n\nErrors (raise, hang, or give wrong data)\n" in shown
    assert "\n    20  DL301  persistent-workers-without-workers: 1 file, first a.py:3\n" in shown
    assert "\n     5  DL201  lambda-collate-fn: 1 file, first b.py:4\n" in shown
    assert shown.index("Errors (") < shown.index("Warnings (")
    assert shown.count("\ndocs: https://") == 2
    assert "\n  dataloader-lint --full               show 25 problems in full\n" in shown
    assert "\n  dataloader-lint --explain DL301      why" in shown
    assert "fix the 25 marked [*]" in shown
    assert "--write-baseline dataloader-lint.json" in shown
    assert "--start-method fork  only Linux and Python < 3.14? 5 fewer\n" in shown
    assert "dataloader-lint --full ." not in shown
    assert "dataloader-lint --full a.py b.py" in on_a_terminal("a.py", "b.py")


def test_what_comes_next_keeps_its_promise(old_code: None) -> None:
    write("c.py", NOTED)
    shown = on_a_terminal(rows=24, columns=80)
    assert "25 problems in 2 files: 20 errors, 5 warnings; 1 note." in shown
    assert "--full               show 25 problems in full, and 1 note\n" in shown
    everything = on_a_terminal("--full", rows=24, columns=80)
    assert everything.count("\ndocs: ") == 25
    assert "\nc.py:6 DL101 `Images.rows`:" in everything
    assert "…" not in everything[everything.index("Notes (") :]
    forked = on_a_terminal("--start-method", "fork")
    assert "Found 20 problems: 20 errors; 1 note.\n" in forked
    again = on_a_terminal("--start-method", "fork", rows=24, columns=80)
    assert "\n  dataloader-lint --full --start-method fork  20 in full, and 1 note\n" in again
    assert "Linux" not in again


def test_few_problems_have_a_line_each(here: Path) -> None:
    write("train.py", HEAD + RAISES * 3 + SPAWNS.format(1) + NOTED)
    shown = on_a_terminal(rows=24, columns=80)
    assert shown.startswith("4 problems in 1 file: 3 errors, 1 warning; 1 note.\n\nErrors (")
    places = ["train.py:3 DL301 [*] ", "train.py:4 DL301 [*] ", "train.py:5 DL301 [*] ", "train.py:7 DL201 [*] "]
    assert all(f"\n{place}" in shown for place in places)
    assert "\ntrain.py:13 DL101 `Images.rows`: " in shown
    assert "What next?" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert len(shown.splitlines()) < 24
    assert "train.py:3:7\n" in on_a_terminal(rows=100, columns=80)


def test_a_baseline_leaves_the_same_report(old_code: None) -> None:
    write("c.py", NOTED)
    processes.run([sys.executable, "-m", "dataloader_lint", "--write-baseline", "known.json", "a.py"])
    shown = on_a_terminal("--baseline", "known.json", rows=24, columns=80)
    assert shown.startswith("5 problems in 1 file: 5 warnings; 1 note.\n20 findings of the baseline are not shown.\n\n")
    assert all(f"\nb.py:{line} DL201 [*] " in shown for line in (4, 6, 8, 10, 12))
    assert "\n  dataloader-lint --full --baseline known.json  5 in full, and 1 note\n" in shown
    assert "--write-baseline" not in shown
    assert on_a_terminal("--full", "--baseline", "known.json").count("\ndocs: ") == 5


def test_notes_alone_are_whole_where_they_fit_and_say_what_to_type_next(here: Path) -> None:
    write("a.py", NOTED)
    for arguments in ((), ("--full",), ("--notes",)):
        shown = on_a_terminal(*arguments, rows=24, columns=80)
        assert shown.startswith("Notes (true, but small or of unknown size):\na.py:6 DL101 `Images.rows`: a list ")
        assert "…" not in shown
        assert max(map(len, shown.splitlines())) <= 80
        assert ("\n`dataloader-lint --explain DL101` says why.\n" in shown) == (not arguments)
    off = on_a_terminal("--preview", rows=24, columns=80).splitlines()[-1].split()[0]
    assert f"{off} rules of 79 are off; `--explain` lists them.\n" in on_a_terminal("--preview", rows=24, columns=80)
    assert "are off" not in on_a_terminal("--select", "all", rows=24, columns=80)
    for number in range(20):
        write(f"some_folder/number_{number}.py", NOTED)
    shown = on_a_terminal(rows=24, columns=80)
    assert shown.startswith("21 notes, shown by `--full`: 21 DL101\n")
    assert "\n`--full` shows the notes in full; `dataloader-lint --explain DL101` says why.\n" in shown
    tall = on_a_terminal(rows=30, columns=80)
    assert tall.count("\nsome_folder/number_") == 20
    assert "…\n" in tall
    assert not re.search(r"[0-9]…|\w{30}…", tall)


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
    assert "What next?" in on_a_terminal("b.py", rows=24, columns=80)
    write("pyproject.toml", "[project]\nname = 'x'\nrequires-python = '>=3.11'\n")
    assert "What next?" in on_a_terminal()
    write("pyproject.toml", "[tool.dataloader-lint]\nmax-workers = 16\n")
    assert "What next?" not in on_a_terminal()


def finding(code: str, level: Level, line: int, fix: bool = False, path: str = "a.py") -> Diagnostic:
    made = Fix(Safety.SAFE, "Mend it", ()) if fix else None
    place = Position(line, 0)
    return Diagnostic(path, place, place, code, "it hurts", "", (line, line), made, level=level)


COMMANDS = overview.Commands("--full", "--explain", "--fix", "--write-baseline", "--start-method fork")


def lines_of(found: Sequence[Diagnostic], width: int, rows: int | None = None) -> list[str]:
    about = overview.RuleLine("name", "what it finds", needs_spawning=False)

    def full(some: Sequence[Diagnostic]) -> Iterator[str]:
        return (f"full {one.code}:{one.start.line} {number}" for one in some for number in range(8))

    return list(overview.emit(found, lambda _: about, full, COMMANDS, paint.plain, width, rows))


def test_three_of_the_worst_are_of_three_rules() -> None:
    found = [finding("DL101", Level.MEMORY, 1), finding("DL301", Level.ERROR, 2), finding("DL301", Level.ERROR, 3)]
    found += [finding("DL302", Level.ERROR, 4), *(finding("DL401", Level.SPEED, 5 + each) for each in range(20))]
    lines = lines_of(found, 60)
    shown = [line for line in lines if line.startswith("full") and line.endswith(" 0")]
    assert shown == ["full DL301:2 0", "full DL302:4 0", "full DL101:1 0"]
    assert "     2  DL301  name: 1 file, first a.py:2" in lines
    assert "     1  DL302  name: a.py:4" in lines
    assert not any("fork" in line or "--fix" in line for line in lines)


def test_the_first_look_fits_the_screen() -> None:
    found = [finding(f"DL3{number:02}", Level.ERROR, number) for number in range(1, 8)]
    found += [finding(f"DL1{number:02}", Level.MEMORY, number, path=f"{number}.py") for number in range(1, 7)]
    for many in (found, found * 2, found[:7] * 2 + found[7:] * 9):
        for rows in (22, 24, 32, 50):
            lines = lines_of(many, 80, rows)
            assert len(lines) < rows
            assert max(map(len, lines)) <= 80
    assert lines_of(found, 80, 24)[3:5] == ["a.py:1 DL301 it hurts", "a.py:2 DL302 it hurts"]
    assert any(line.startswith("Memory: 2 DL101 name, 2 DL102 name,") for line in lines_of(found * 2, 80, 22))
    assert "     2  DL106  name: 1 file, first 6.py:6" in lines_of(found * 2, 80, 24)
    assert "full DL301:1 7" in lines_of(found * 2, 80, 50)


LONG = "some/deep/folder/of/a/project/with/long/names/data_loading_module_of_the_third_experiment.py"


@pytest.mark.parametrize(("columns", "rows"), [(60, 16), (80, 24), (100, 30), (120, 40), (60, 14), (40, 16)])
def test_the_first_look_fits_any_terminal(columns: int, rows: int) -> None:
    levels = (Level.ERROR, Level.WARNING, Level.MEMORY)
    commands = overview.Commands(*(f"dataloader-lint {name}" for name in ("--full", "--explain", "--fix", LONG, "")))
    about = overview.RuleLine("handle-opened-in-init", "a handle that does not survive", needs_spawning=True)
    for problems in (1, 2, 5, 9, 30):
        for notes in (0, 5):
            found = [
                finding(
                    f"DL3{each % 15 + 1:02}", levels[each % 3], each + 1, each % 2 == 0, LONG if each % 2 else "a.py"
                )
                for each in range(problems)
            ]
            found += [finding(f"DL1{each + 1:02}", Level.NOTE, each + 1) for each in range(notes)]
            lines = list(
                overview.emit(
                    found, lambda _: about, lambda _: iter(()), commands, paint.plain, columns, rows, hidden=3
                )
            )
            assert len(lines) < rows
            assert [line for line in lines if len(line) > columns and LONG not in line] == []
            assert "What next?" in lines
            counted = sum(int(line.split()[0]) for line in lines if re.match(" +[0-9]+  (?:DL|of )", line))
            listed = sum(line.startswith(("a.py:", "some/")) for line in lines)
            assert problems <= counted + listed or any(line.startswith("Memory: ") for line in lines)


def test_long_words_are_broken_where_a_path_can_be() -> None:
    assert wrapped("see folder/of/experiments.py", 18) == ["see folder/of/", "  experiments.py"]
    assert wrapped("see folder/experiments_without_end", 16) == ["see folder/", "  experiments_", "  without_end"]


def test_messages_get_shorter_before_they_are_summed_up() -> None:
    one = replace(finding("DL301", Level.ERROR, 1), problem="one two three `four five`", advice="six seven eight nine")
    assert "a.py:1 DL301 one two three `four five`; six" in lines_of([one] * 4, 48)
    assert lines_of([one] * 4, 40, 24)[3:5] == ["a.py:1 DL301 one two three `four five`;", "    six seven eight nine"]
    assert lines_of([one] * 6, 33, 24)[4:6] == ["a.py:1 DL301 one two three", "    `four five`"]
    assert lines_of([one] * 8, 33, 18)[4:6] == ["a.py:1 DL301 one two three…"] * 2
    assert not any("a.py:1 DL301" in line for line in lines_of([one] * 12, 33, 18))


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [
        ("a list of paths", 15, "a list of paths"),
        ("a list of paths", 14, "a list of…"),
        ("a list of paths", 10, "a list of…"),
        ("a list of paths", 9, "a list…"),
        ("up to 190 MB a worker", 12, "up to…"),
        ("up to 19.25 MB", 9, "up to…"),
        ("`a.b c` is `d e`, f", 15, "`a.b c` is…"),
        ("`a.b c` is it", 7, "…"),
        ("unbroken", 4, "…"),
        ("word", 0, ""),
    ],
)
def test_texts_are_cut_behind_a_word(text: str, room: int, shown: str) -> None:
    assert cut(text, room) == shown


def test_lines_end_at_no_place_in_code_or_amounts() -> None:
    text = "one `two three` and 19 MB of `a long piece of code that fits nowhere`"
    assert wrapped(text, 27) == ["one `two three` and 19 MB", "  of `a long piece of code", "  that fits nowhere`"]
    assert wrapped("first in n.ipynb:cell 3:1", 20) == ["first in", "  n.ipynb:cell 3:1"]
    assert wrapped("b.py:1 DL301 it hurts", 12, "    ", together=12) == ["b.py:1 DL301", "    it hurts"]
