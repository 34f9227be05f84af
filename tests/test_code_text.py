"""What is left of a text without its comments, and when another text with the same code is the same program."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from dataloader_lint.source.code_text import code_lines, code_of, code_text, has_plain_comments

TABLE = [
    ("x = 1  # one\n", "x = 1"),
    ("# head\n\n\nx = 1\n\n# end", "x = 1"),
    ("def f():\n    # why\n\n    return 1\n", "def f():\n    return 1"),
    ("x = '#'  # a\ny = \"it's # no comment\"\n", "x = '#'\ny = \"it's # no comment\""),
    ('"""a\n\n# b\n"""\n\nx = 1\n', '"""a\n\n# b\n"""\nx = 1'),
    ("x = '''a\\''' # b\n'''  # c\n", "x = '''a\\''' # b\n'''"),
    ("x = 1  # noqa: DL101\n", "x = 1  # noqa: DL101"),
    ("# dataloader-lint: ignore-file\nx = 1\n", "# dataloader-lint: ignore-file\nx = 1"),
    ("# -*- coding: latin-1 -*-\nx = 1\n", "# -*- coding: latin-1 -*-\nx = 1"),
    ("x = 1 + \\\n# is read\n    2\n", "x = 1 + \\\n# is read\n    2"),
    ("x = [\n    1,  # one\n\n    # two\n    2,\n]\n", "x = [\n    1,\n    2,\n]"),
]


@pytest.mark.parametrize(("text", "code"), TABLE)
def test_code(text: str, code: str) -> None:
    assert code_of(text.encode()) == f"\n{code}".encode()


@pytest.mark.parametrize(("text", "code"), TABLE)
def test_numbers_of_lines(text: str, code: str) -> None:
    assert_same_lines(text.encode(), code.encode())


def assert_same_lines(content: bytes, code: bytes) -> None:
    """Each line of the code is, but for a comment behind it, the line of the text that is said to be it."""
    lines = content.split(b"\n")
    pairs = list(zip(code_lines(content), code.split(b"\n"), strict=True))
    assert all(lines[number - 1].startswith(line) for number, line in pairs)
    assert [number for number, _ in pairs] == sorted({number for number, _ in pairs})


@pytest.mark.parametrize("content", [b"x = 1\r\n", b"x = 1\f\n", b"x = '\xff'\n", b"\0"])
def test_texts_that_are_left_alone(content: bytes) -> None:
    assert code_of(content) is None
    text = content.decode("latin-1")
    assert code_text(text) == (text if content != b"x = '\xff'\n" else "\nx = '\xff'")


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("x = 1\ny = '''a\nb'''\n", True),
        ("x = '\n", False),
        ("x = (1,\n     2)\n", True),
        ("def f(:\n", False),
    ],
)
def test_where_comments_are_comments(text: str, is_plain: bool) -> None:
    code = code_of(text.encode())
    assert code is not None
    assert has_plain_comments(code) is is_plain


@pytest.mark.skipif(sys.version_info < (3, 12), reason="quotes inside quotes are no Python before")
def test_an_end_of_a_line_that_is_inside_a_string() -> None:
    code = code_of(b"d = {}\nx = f'''{d['''a\n''']}'''\n")
    assert code is not None
    assert not has_plain_comments(code)


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "fixtures").glob("DL10*/*.py"))[:40], ids=str)
def test_files_without_their_comments_are_the_same_programs(path: Path) -> None:
    content = path.read_bytes()
    code = code_of(content)
    assert code is not None and has_plain_comments(code)
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(content))
    assert_same_lines(content, code.removeprefix(b"\n"))
