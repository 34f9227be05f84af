"""Bytes become text and trees, or one clear reason why not."""

from __future__ import annotations

import codecs

import pytest

from dataloader_lint.source.decoding import UnreadableError, decode, split_lines
from dataloader_lint.source.parsing import parse


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (b"", ""),
        (b"x = 1\r\ny = 2\r", "x = 1\r\ny = 2\r"),
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (codecs.BOM_UTF8 + b"x\n", "x\n"),
        (codecs.BOM_UTF8 + b"# coding: utf-8\nx\n", "# coding: utf-8\nx\n"),
        (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n"),
        ("# -*- coding: future_fstrings -*-\nx = 'é'\n".encode(), "# -*- coding: future_fstrings -*-\nx = 'é'\n"),
        (
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '€'\n",
        ),
    ],
)
def test_decodes(source: bytes, text: str) -> None:
    assert decode(source) == text


@pytest.mark.parametrize(
    ("source", "problem", "line"),
    [
        (b"x = 1\ny = '\xe9'\n", "not valid UTF-8 (byte 0xe9)", 2),
        (b"x = 1\r\rz = '\xff'", "not valid UTF-8 (byte 0xff)", 3),
        (b"# \xe9\n", "not valid UTF-8", 1),
        (b"# coding: ascii\nx = '\xe9'\n", "not valid ascii", 2),
        (b"# coding: klingon\nx\n", "declares an encoding that Python does not know", 1),
        (b"# coding: future_fstrings\nx = '\xe9'\n", "not valid UTF-8", 2),
        (b"# coding: zlib\nx\n", "declares an encoding that Python does not know", 1),
        (codecs.BOM_UTF8 + b"# coding: latin-1\nx\n", "mark contradicts", 1),
        (b"x = 1\ny\0 = 2\n", "NUL byte", 2),
        ("x = 1".encode("utf-16"), "is UTF-16", 1),
        ("x = 1".encode("utf-32"), "is UTF-32", 1),
    ],
)
def test_says_why_it_cannot_decode(source: bytes, problem: str, line: int) -> None:
    with pytest.raises(UnreadableError) as caught:
        decode(source)
    assert problem in caught.value.problem
    assert "\n" not in caught.value.problem
    assert caught.value.line == line


def test_lines_end_where_python_ends_them() -> None:
    assert split_lines("a\fb\x0bc\u2028d\re\r\nf\n") == ["a\fb\x0bc\u2028d", "e", "f", ""]


@pytest.mark.parametrize(
    ("text", "problem", "line", "column"),
    [
        ("x = (\n", "syntax error: '(' was never closed", 1, 4),
        ("x = 1\ndef f(:\n    pass\n", "syntax error: invalid syntax", 2, 6),
        ("print 'a'\n", "syntax error: Missing parentheses", 1, 0),
        ("if x:\n\ty\n        z\n", "syntax error: inconsistent use of tabs", 3, None),
    ],
)
def test_says_why_it_cannot_parse(text: str, problem: str, line: int, column: int | None) -> None:
    with pytest.raises(UnreadableError) as caught:
        parse(text)
    assert caught.value.problem.startswith(problem)
    assert "\n" not in caught.value.problem
    assert caught.value.line == line
    assert column is None or caught.value.column == column


def test_what_only_libcst_refuses_is_said_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> None:
        raise ValueError("no luck\nat all")

    monkeypatch.setattr("libcst.parse_module", refuse)
    with pytest.raises(UnreadableError, match=r"^LibCST cannot parse this file: no luck$"):
        parse("x = 1\n")


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 20_000 + "1" + ")" * 20_000,
        "x = " + "[" * 20_000,
        "x = " + "-" * 100_000 + "1",
        "x = " + "1 + " * 100_000 + "1",
        "x" + ".a()" * 50_000,
        "x = " + "1 if a else " * 50_000 + "1",
        "if a:\n    pass\n" + "elif a:\n    pass\n" * 50_000,
        "x = " + "not " * 50_000 + "1",
        "x = " + "lambda: " * 50_000 + "1",
    ],
    ids=["brackets", "open", "signs", "sum", "chain", "conditional", "elif", "not", "lambda"],
)
def test_deep_nesting_does_not_kill_the_process(text: str) -> None:
    with pytest.raises(UnreadableError, match=r"nested too deeply|syntax error"):
        parse(text)


def test_long_files_parse() -> None:
    assert len(parse("x = f(1)[2] + {3: 4}[3]\n" * 1_000).body) == 1_000
