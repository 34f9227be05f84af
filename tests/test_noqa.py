"""Comments silence what flake8 would silence. flake8 itself is the judge here."""

from __future__ import annotations

import argparse
import itertools
import time

import pytest
from flake8.processor import FileProcessor
from flake8.violation import Violation

from dataloader_lint.engine.linter import lint_source
from dataloader_lint.source.decoding import line_starts
from dataloader_lint.source.noqa import ignores_file, silenced, skips_file, suppress
from fake_rules import fake_rules

__all__ = ["fake_rules"]

_FORMS = [
    "#noqa", "#  noqa", "# noqa", "# NOQA", "# NoQA", "# noqa:", "# noqa :DL301", "# noqa : DL301", "# noqa:DL301",
    "# noqa: DL301", "# noqa:  DL301", "# noqa:\tDL301", "# noqa DL301", "# noqa: dl301", "# noqa: DL3", "# noqa: DL",
    "# noqa: D3", "# noqa: DL302", "# noqa: E501,DL301", "# noqa: E501, DL301", "# noqa: E501 DL301",
    "# noqa: E501,, DL301", "# noqa: E501;DL301", "# noqa: E501DL301", "# noqa: DL301 why", "# noqa: why",
    "# noqa-DL301", "# noqa: E501 # noqa: DL301", "# see # noqa: DL301", "# noqa: DL3011", "# noqa: 301",
    "# noqa:DL301:", "# noqanda", "# flake8: noqa", "# type: ignore # noqa",
]  # fmt: skip
_LAYOUTS = [
    "x = 1  {}\n",
    "x = 1\n{}\n",
    "x = f(\n    1,  {}\n    2,\n)\n",
    "x = '''\ntext {}\n'''\ny = 1\n",
    "x = '''\ntext\n'''  {}\ny = 1\n",
    "x = f('''\ntext\n''',  {}\n  2)\n",
    "x = 1 + \\\n    2  {}\ny = 1\n",
    "def f():\n    if x:\n        y = 1  {}\n\n\nz = 1\n",
    "x = 1\r\ny = 2  {}\r\nz = '''\r\n'''\r\n",
    "x = f'''\n{{1}}\n'''  {}\n",
    "\n\n{}\nx = 1",
    "x = 1\fy  {}\nz\n",
    "x = ('a  {}\n",
    "x = 1  {}",
]


def _flake8_silences(text: str, line: int, code: str) -> bool:
    options = argparse.Namespace(hang_closing=False, indent_size=4, max_line_length=79, max_doc_length=None, verbose=0)
    lines = text.replace("\r\n", "\n").splitlines(keepends=True) if "\f" not in text else text.split("\n")
    if "\f" in text:
        lines = [f"{one}\n" for one in lines]
    processor = FileProcessor("gone.py", options, lines)
    physical = processor.noqa_line_for(line)
    if physical is None:
        physical = lines[line - 1] if line <= len(lines) else ""
    return bool(Violation(code, "gone.py", line, 1, "", physical).is_inline_ignored(False))


@pytest.mark.parametrize(("layout", "form"), list(itertools.product(_LAYOUTS, _FORMS)))
def test_reads_comments_as_flake8_does(layout: str, form: str) -> None:
    text = layout.format(form)
    test = silenced(text)
    for line, code in itertools.product(range(1, text.count("\n") + 1), ("DL301", "DL201", "E501")):
        assert test(code, [line]) is _flake8_silences(text, line, code), (line, code)


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        ("# flake8: noqa\nx = 1\n", True),
        ("x = 1\n    # FLAKE8: NOQA\n", True),
        ("# flake8=noqa\n", True),
        ("x = 1\r# flake8:   noqa\r", True),
        ("# flake8: noqa: DL301\n", True),  # as flake8 has it: codes change nothing here
        ("x = 1  # flake8: noqa\n", False),
        ("# flake8:\n# noqa\n", False),
        ("# noqa\n", False),
    ],
)
def test_skips_files_as_flake8_does(text: str, skipped: bool) -> None:
    options = argparse.Namespace(
        hang_closing=False, indent_size=4, max_line_length=79, max_doc_length=None, verbose=0, disable_noqa=False
    )
    lines = text.replace("\r", "\n").splitlines(keepends=True)
    assert FileProcessor("gone.py", options, lines).should_ignore_file() is skipped
    assert skips_file(text) is skipped


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        ("# dataloader-lint: ignore-file\n", True),
        ("x = 1\n  #dataloader-lint:ignore-file: generated\n", True),
        ("x = 1  # dataloader-lint: ignore-file\n", False),
        ("# dataloader-lint: ignore-files\n", False),
    ],
)
def test_a_comment_of_its_own_skips_a_file(text: str, skipped: bool) -> None:
    assert skips_file(text) is ignores_file(text) is skipped


@pytest.mark.parametrize("line", ["\n", " \n", "# flake8\n", "\r\n"])
def test_looking_for_a_skipped_file_takes_time_by_its_length(line: str) -> None:
    begin = time.process_time()
    assert not skips_file(line * 200_000)
    assert time.process_time() - begin < 5  # minutes, if every line were followed to the end of the file


def _found(text: str) -> list[tuple[int, str]]:
    return [(one.start.line, one.code) for one in lint_source(text, "gone.py")]


@pytest.mark.usefixtures("fake_rules")
def test_a_comment_on_the_first_or_last_line_of_the_statement_silences() -> None:
    plain = "x = wrap(\n    DataLoader(\n        data,\n    ),\n)\n"
    assert _found(plain) == [(2, "DL301"), (2, "DL304")]
    lines = plain.splitlines()
    for number in range(1, 6):
        commented = "\n".join(line + "  # noqa: DL3" if n == number else line for n, line in enumerate(lines, 1))
        assert bool(_found(commented + "\n")) is (number in (3, 4)), number


@pytest.mark.usefixtures("fake_rules")
def test_a_comment_in_the_body_of_a_block_does_not_silence_its_head() -> None:
    head = "for batch in DataLoader(\n    data,\n):{}\n    use(batch)\n    stop(){}\n"
    assert _found(head.format("", "  # noqa")) == [(1, "DL301"), (1, "DL304")]
    assert _found(head.format("  # noqa", "")) == []


@pytest.mark.usefixtures("fake_rules")
def test_only_the_codes_that_are_named_are_silenced() -> None:
    assert _found("DataLoader(x)  # noqa: DL301, E501\n") == [(1, "DL304")]
    assert _found("# flake8: noqa\nDataLoader(x)\n") == []


_EXCUSED = [
    # text, lines of the finding, text with the comment
    ("x = 1\n", (1,), "x = 1  # noqa: DL301\n"),
    ("x = 1", (1,), "x = 1  # noqa: DL301"),
    ("x = 1   \r\ny = 2\r\n", (1,), "x = 1  # noqa: DL301\r\ny = 2\r\n"),
    ("x = 1  # why\n", (1,), "x = 1  # why  # noqa: DL301\n"),
    ("x = 1  # noqa: E501\n", (1,), "x = 1  # noqa: E501, DL301\n"),
    ("x = 1  # noqa: E501 too long\n", (1,), "x = 1  # noqa: E501, DL301 too long\n"),
    ("x = 1  # NOQA:E501,W291 \n", (1,), "x = 1  # NOQA:E501,W291, DL301 \n"),
    ("x = f(\n    1,\n    2,\n)\n", (2, 1, 4), "x = f(\n    1,  # noqa: DL301\n    2,\n)\n"),
    ("x = 1 + \\\n    2\n", (1,), "x = 1 + \\\n    2  # noqa: DL301\n"),
    ("x = '''\ntext\n'''\n", (1,), "x = '''\ntext\n'''  # noqa: DL301\n"),
    ("x = '''\ntext # noqa: E501\n'''\n", (1,), None),  # the first comment found is text
    (
        "x = f(\n    1,\n    '''\n    # noqa: E501''')\n", (3, 1),
        "x = f(  # noqa: DL301\n    1,\n    '''\n    # noqa: E501''')\n",
    ),
    ("x = 'äö😀'\n", (1,), "x = 'äö😀'  # noqa: DL301\n"),
    ("x = (\n", (1,), None),  # nothing to compare a file with that does not parse
]  # fmt: skip


@pytest.mark.parametrize(("text", "lines", "expected"), _EXCUSED)
def test_a_comment_is_added_where_it_counts(text: str, lines: tuple[int, ...], expected: str | None) -> None:
    edit = suppress(text, "DL301", lines)
    if edit is None:
        assert expected is None
        return
    starts = line_starts(text)
    start, end = (starts[place.line - 1] + place.column for place in (edit.start, edit.end))
    new = text[:start] + edit.content + text[end:]
    assert new == expected
    assert silenced(new)("DL301", lines)
    assert not silenced(text)("DL301", lines)
