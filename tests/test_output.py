"""How findings look: every format, and what nasty input does to it."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dataloader_lint.diagnostics import Diagnostic, Fix, Level, Position, Reason, Safety, TextEdit
from dataloader_lint.output import as_json, concise, fixing, full, page, paint, statistics
from dataloader_lint.output.text import draw_line, neutralise, shown_path


def made(
    line: int, column: int, end: tuple[int, int] | None = None, filename: str = "some.py", advice: str = "mend it"
) -> Diagnostic:
    start = Position(line, column)
    return Diagnostic(filename, start, Position(*(end or (line, column))), "DL301", "it hurts", advice, (line, line))


def page_of(code: str) -> str:
    return f"https://docs/{code}"


def drawn(diagnostic: Diagnostic, source: str, width: int = 100, style: paint.Paint = paint.plain) -> str:
    return "\n".join(full.emit([diagnostic], lambda _: source.split("\n"), page_of, style, width))


def test_concise() -> None:
    lines = list(concise.emit([made(3, 0), made(4, 7, advice="")], paint.plain))
    assert lines == ["some.py:3:1: DL301 it hurts; mend it", "some.py:4:8: DL301 it hurts"]


def test_full_on_one_line() -> None:
    source = "\nimport os\n\nloader = DataLoader(data)\n\nuse(loader)\n"
    assert drawn(made(4, 9, (4, 25)), source) == (
        "DL301 error: it hurts\n"
        " --> some.py:4:10\n"
        "  |\n"
        "2 | import os\n"
        "3 |\n"
        "4 | loader = DataLoader(data)\n"
        "  |          ^^^^^^^^^^^^^^^^\n"
        "5 |\n"
        "6 | use(loader)\n"
        "  |\n"
        "help: mend it\n"
        "docs: https://docs/DL301\n"
    )


def test_full_over_several_lines() -> None:
    source = "a\nb\n\nx = DataLoader(\n    data,\n)\n\ny"
    assert drawn(made(4, 4, (6, 1), advice=""), source) == (
        "DL301 error: it hurts\n"
        " --> some.py:4:5\n"
        "  |\n"
        "2 |   b\n"
        "3 |\n"
        "4 |   x = DataLoader(\n"
        "  |  _____^\n"
        "5 | |     data,\n"
        "6 | | )\n"
        "  | |_^\n"
        "7 |\n"
        "8 |   y\n"
        "  |\n"
        "docs: https://docs/DL301\n"
    )
    assert "1 | / DataLoader(\n2 | | )\n  | |_^" in drawn(made(1, 0, (2, 1)), "DataLoader(\n)")


def test_full_leaves_out_the_middle_of_long_findings() -> None:
    source = "\n".join(f"line {number}" for number in range(1, 60))
    text = drawn(made(5, 0, (50, 7)), source)
    shown = [line.split(" ")[0] for line in text.splitlines() if line[:1].isdigit()]
    assert text.count("\n...") == 1
    assert len(shown) < 14
    assert "50 | | line 50" in text


def test_full_crops_long_lines_around_the_finding() -> None:
    source = "x = [" + "1, " * 200_000 + "DataLoader(data)" + ", 1" * 200_000 + "]"
    column = source.index("DataLoader")
    text = drawn(made(1, column, (1, column + 16)), source, width=60)
    code, marks = text.splitlines()[3:5]
    assert len(code) < 70
    assert code[marks.index("^") : marks.rindex("^") + 1] == "DataLoader(data)"
    assert code.startswith("1 | …")
    assert code.endswith("…")
    whole = drawn(made(1, 0, (1, len(source))), source, width=60)
    assert max(map(len, whole.splitlines())) < 70


@pytest.mark.parametrize(("ahead", "marked"), [(20, 45), (29, 58), (1, 59), (45, 16), (300, 50)])
def test_full_shows_all_of_a_marked_part_that_fits(ahead: int, marked: int) -> None:
    source = "a" * ahead + "[" + "b" * (marked - 2) + "]" + "c" * 90
    code, marks = drawn(made(1, ahead, (1, ahead + marked)), source, width=60).splitlines()[3:5]
    assert code[marks.index("^") : marks.rindex("^") + 1] == source[ahead : ahead + marked]
    assert len(code) <= len("1 | ") + 60 + len("…")
    assert code.startswith("1 | …") == (ahead + marked > 60)


@pytest.mark.parametrize(
    ("line", "column", "end", "shown", "marks"),
    [
        ("\tx = f(1)", 5, 9, "    x = f(1)", "        ^^^^"),
        ("a\tf(1)", 2, 6, "a   f(1)", "    ^^^^"),
        ("s = '数据'; f(1)", 10, 14, "s = '数据'; f(1)", "            ^^^^"),
        ("s = 'e\u0301'; f(1)", 10, 14, "s = 'e\u0301'; f(1)", "         ^^^^"),
        ("s = '\x1b[31m\x07'; f(1)", 13, 17, "s = '␛[31m␇'; f(1)", "             ^^^^"),
        ("s = '\u202e\x9b\x7f'; f(1)", 10, 14, "s = '\ufffd\ufffd␡'; f(1)", "          ^^^^"),
        ("f(1)\r", 0, 4, "f(1)␍", "^^^^"),
        ("f(", 2, 2, "f(", "  ^"),
        ("f(", 9, 9, "f(", "  ^"),
        ("f(1)", 2, 99, "f(1)", "  ^^"),
    ],
)
def test_full_draws_odd_characters_and_marks_below_them(
    line: str, column: int, end: int, shown: str, marks: str
) -> None:
    text = drawn(made(1, column, (1, end)), line)
    assert text.splitlines()[3:5] == [f"1 | {shown}", f"  | {marks}"]


def test_full_without_source() -> None:
    end = ["help: mend it", "docs: https://docs/DL301", ""]
    assert drawn(made(9, 4), "x = 1").split("\n") == ["DL301 error: it hurts", " --> some.py:9:5", *end]
    assert list(full.emit([made(1, 0)], lambda _: (), page_of, paint.plain, 80))[1:] == [" --> some.py:1:1", *end]


def test_colours_only_add_escape_sequences() -> None:
    source = "x = DataLoader(\n    data,\n)\n"
    bright = drawn(made(1, 4, (3, 1)), source, style=paint.coloured)
    assert "\x1b[1;31mDL301\x1b[0m" in bright
    plain = bright
    for code in ("1;31", "1;34", "1;36", "1", "2", "0"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert [line.rstrip() for line in plain.splitlines()] == drawn(made(1, 4, (3, 1)), source).splitlines()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_when_there_are_colours() -> None:
    assert paint.choose(Terminal(), {}) is paint.coloured
    assert paint.choose(Terminal(), {"TERM": "dumb"}) is paint.plain
    assert paint.choose(Terminal(), {"NO_COLOR": "1"}) is paint.plain
    assert paint.choose(Terminal(), {"NO_COLOR": ""}) is paint.coloured
    assert paint.choose(io.StringIO(), {}) is paint.plain
    assert paint.choose(io.StringIO(), {"FORCE_COLOR": "1"}) is paint.coloured
    assert paint.choose(io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}) is paint.plain


def test_names_and_messages_cannot_act_on_the_terminal() -> None:
    assert neutralise("fine ünïcödé") == "fine ünïcödé"
    assert neutralise("\x1b]0;pwn\x07\n\u202e\udce9") == "\\x1b]0;pwn\\x07\\n\\u202e\\xe9"
    nasty = made(1, 0, filename="\x1b[2J.py")
    for lines in (concise.emit([nasty], paint.plain), full.emit([nasty], lambda _: (), page_of, paint.plain, 80)):
        assert "\x1b" not in "".join(lines)


def test_paths_are_shown_from_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown_path(str(tmp_path / "a" / "b.py")) == str(Path("a", "b.py"))
    assert shown_path(str(tmp_path) + "2/b.py") == str(tmp_path) + "2/b.py"
    assert shown_path("a/b.py") == "a/b.py"


def test_drawn_columns_fit_the_text() -> None:
    text, columns = draw_line("a\tü数\x00")
    assert text == "a   ü数␀"
    assert columns == [0, 1, 4, 5, 7, 8]


def test_json_has_the_shape_of_ruffs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    fix = Fix(Safety.UNSAFE, "Remove it", (TextEdit(Position(2, 0), Position(2, 4), ""),))
    one = Diagnostic("a\x1b.py", Position(2, 0), Position(2, 4), "DL301", "it hurts", "", (1, 5), fix)
    text = "\n".join(as_json.emit([one, made(1, 0)], lambda code: "some-name"))
    assert "\x1b" not in text
    first, second = json.loads(text)
    assert first == {
        "because": [],
        "cell": None,
        "code": "DL301",
        "end_location": {"column": 5, "row": 2},
        "filename": str(tmp_path / "a\x1b.py"),
        "fix": {
            "applicability": "unsafe",
            "edits": [{"content": "", "end_location": {"column": 5, "row": 2}, "location": {"column": 1, "row": 2}}],
            "message": "Remove it",
        },
        "help": "",
        "level": "error",
        "location": {"column": 1, "row": 2},
        "message": "it hurts",
        "name": "some-name",
        "no_fix": None,
        "noqa_row": 2,
        "places": [],
        "problem": "it hurts",
        "url": "https://dataloader-lint.readthedocs.io/en/latest/rules/dl301-some-name/",
    }
    assert second["fix"] is None
    assert second["message"] == "it hurts; mend it"
    assert (second["problem"], second["help"]) == ("it hurts", "mend it")
    assert json.loads("\n".join(as_json.emit([], str))) == []


def test_statistics_count_from_the_worst_level_down() -> None:
    fix = Fix(Safety.SAFE, "Remove it", ())
    many = [made(1, 0)] * 10 + [replace(made(1, 0), fix=fix)]
    slow = Diagnostic("a.py", Position(1, 0), Position(1, 0), "DL401", "p", "", (1, 1), level=Level.SPEED)
    other = Diagnostic("a.py", Position(1, 0), Position(1, 0), "DL201", "p", "", (1, 1), fix)
    names = {"DL301": "workers", "DL201": "lambda", "DL401": "copy"}.__getitem__
    assert list(statistics.emit([slow, slow, other, *many], names, paint.plain)) == [
        "11\tDL301\terror\tworkers [*] 1 of 11",
        " 1\tDL201\terror\tlambda [*]",
        " 2\tDL401\tspeed\tcopy",
    ]
    counted = json.loads("".join(statistics.emit_json([other, *many], names)))
    assert counted[0] == {"code": "DL301", "name": "workers", "level": "error", "count": 11, "fixable": 1}


def test_a_page_keeps_its_text() -> None:
    text = "Summary.\n\n## What it does\nFinds `it`.\n\n```python\nx = 1\n```"
    lines = list(page.emit("DL301", "some-name", "On by default.", text, paint.plain))
    assert lines[:3] == ["# DL301 some-name", "", "On by default."]
    assert text in "\n".join(lines)
    assert lines[-1].endswith("/dl301-some-name/")


def test_a_page_is_laid_out_where_there_are_colours() -> None:
    text = (
        "Short `code here`.\n\n## What it does\nOne line and\nanother with [a link](https://page/ab).\n\n"
        "- `an item` that goes on\n  and on\n- another\n\n## Example\n```python\nx = [1]  # `kept`\n\ny = 2\n```\nEnd."
    )
    lines = list(page.emit("DL301", "some-name", "On.", text, paint.coloured, 30, is_laid_out=True))
    bare = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert bare == [
        "DL301 some-name", "", "On.", "", "Short code here.", "", "Example", "    x = [1]  # `kept`", "    ",
        "    y = 2", "End.", "", "What it does", "One line and another with a", "link (https://page/ab).", "",
        "- an item that goes on and", "  on", "- another", "",
        "https://dataloader-lint.readthedocs.io/en/latest/rules/dl301-some-name/",
    ]  # fmt: skip
    assert "\x1b[1mWhat it does\x1b[0m" in lines
    assert "\x1b[1;36mcode here\x1b[0m" in lines[4]
    assert list(page.emit("DL301", "n", "On.", text, paint.plain))[4:-2] == page.reordered(text).splitlines()


def test_tables_of_a_page_are_aligned_and_fit() -> None:
    table = "| Kind, `x` | Bytes |\n|---|---|\n| a [long](https://u) one | 41 |\n| b | 7 |"
    text = f"S.\n\n## Why is this bad?\n{table}\n\nEnd."
    lines = list(page.emit("DL301", "n", "On.", text, paint.plain, 40, is_laid_out=True))
    assert lines[7:12] == ["Kind, `x`   Bytes", "----------  -----", "a long one  41", "b           7", ""]
    narrow = list(page.emit("DL301", "n", "On.", text.replace("one", "one " * 20), paint.plain, 40, is_laid_out=True))
    assert max(map(len, narrow[:-1])) <= 40
    assert "|---|" in "\n".join(page.emit("DL301", "n", "On.", text, paint.plain, 40))


def test_a_page_says_why_before_how_a_rule_recognizes_it() -> None:
    text = "Summary.\n\n## What it does\nFinds it.\n\n## Why is this bad?\nIt is.\n\n"
    text += "## Example\n```python\n## no heading\n```"
    headings = [line for line in page.reordered(text).splitlines() if line.startswith("## ")]
    assert headings == ["## Why is this bad?", "## Example", "## no heading", "## What it does"]


def test_copies_in_other_files_are_one_problem() -> None:
    texts = {f"{name}.py": f"import os\n  run({name!r})\nloader = DataLoader(data)" for name in "abcdefgh"}
    texts["b.py"] = "loader =  DataLoader(data)\nloader = DataLoader(data)\nlonger = DataLoader(data)"
    found = [made(3, 0, filename=name) for name in texts if name != "b.py"]
    found[1:1] = [made(line, 0, filename="b.py") for line in (1, 2, 3)]
    found += [made(3, 0, filename="h.py", advice="something else"), made(2, 0, filename="c.py")]

    def heads(some: list[Diagnostic]) -> list[str]:
        lines = full.emit(some, lambda one: texts[one.filename].split("\n"), page_of, paint.plain, 80)
        return [line for line in lines if line.startswith((" -->", "also in:"))]

    assert heads(found) == [
        " --> a.py:3:1",
        "also in: b.py:1:1, c.py:3:1, d.py:3:1, e.py:3:1, f.py:3:1 and 2 more files",
        " --> b.py:2:1",
        " --> b.py:3:1",
        " --> h.py:3:1",
        " --> c.py:2:1",
    ]
    assert heads([found[0], found[4]]) == [" --> a.py:3:1", "also in: c.py:3:1"]
    assert heads(found[1:3]) == [" --> b.py:1:1", " --> b.py:2:1"]


def test_text_is_broken_between_words_in_a_terminal() -> None:
    place = Position(1, 0)
    because = (Reason("a_file.py", place, "`loader` is made here with `num_workers=2` and much else"),)
    one = Diagnostic("a.py", place, Position(1, 1), "DL301", "a problem " * 9, "do this", (1, 1), None, because=because)
    url = "https://example.org/rules/dl301-some-name/"
    wide = list(full.emit([one], lambda _: ("x = 1",), lambda _: url, paint.plain, 40))
    assert max(map(len, wide)) > 60
    lines = list(full.emit([one], lambda _: ("x = 1",), lambda _: url, paint.plain, 40, columns=50))
    assert max(len(line) for line in lines if url not in line) <= 50
    assert " ".join(" ".join(lines).split()) == " ".join(" ".join(wide).split())
    linked = list(full.emit([one], lambda _: (), lambda _: url, paint.plain, 40, columns=50, has_links=True))
    assert f"docs: \x1b]8;;{url}\x1b\\dl301-some-name\x1b]8;;\x1b\\" in linked


def left(code: str, line: int, no_fix: str, fix: Fix | None = None) -> Diagnostic:
    return Diagnostic("a/b.py", Position(line, 0), Position(line, 0), code, "p", "", (line, line), fix, no_fix=no_fix)


def test_what_was_fixed_and_left_is_said_by_cause() -> None:
    unsafe = Fix(Safety.UNSAFE, "Move it", ())
    remaining = [left("DL101", 7, "an element is replaced"), left("DL205", 8, ""), left("DL102", 9, "")]
    remaining += [left("DL204", line, "", unsafe) for line in (1, 2, 3)]
    assert list(fixing.emit({"DL401": 2}, remaining, lambda code: "some-name")) == [
        "  fixed 2 DL401 some-name",
        "  left 3 DL204: needs --unsafe-fixes",
        "  left 1 DL101: an element is replaced (a/b.py:7)",
        "  left 2: no autofix for DL102, DL205",
    ]


def test_changed_files_are_named_as_far_as_they_fit() -> None:
    assert fixing.changed([]) == ""
    assert fixing.changed(["a.py", "b/c.py"]) == "  changed a.py, b/c.py"
    assert fixing.changed([f"{name}.py" for name in "abcdefgh"]) == "  changed a.py, b.py, c.py, d.py, e.py and 3 more"
    assert fixing.changed(["a.py", f"{'b' * 90}.py"]) == "  changed a.py and 1 more"


def test_what_was_left_fits_a_screen() -> None:
    long = replace(left("DL101", 7, "an element is replaced"), filename=f"{'folder/' * 20}b.py")
    many = [long, *(left(f"DL1{number}", number, f"reason {number}" * 9) for number in range(10, 40))]
    lines = list(fixing.emit({}, many, str, would=True))
    assert lines[0].startswith("  left 1 DL101: an element is replaced (...")
    assert lines[0].endswith("folder/b.py:7)")
    assert max(map(len, lines)) <= fixing.WIDTH
    assert len(lines) == 20
    assert lines[-1] == "  and 12 more: see `no_fix` of --output-format json"
