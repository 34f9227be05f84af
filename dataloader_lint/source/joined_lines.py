"""Lines that hold only a backslash, which Python joins to the statement below them and LibCST cannot always read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dataloader_lint.source.bare import parse_as_python
from dataloader_lint.source.decoding import line_starts

_BACKSLASH_LINES = re.compile(r"(?<![^\r\n])(?:[ \t\f]*\\(?:\r\n|\r|\n))+[ \t\f]*")
_BLANK = re.compile(r"[ \t\f]+")


def has_backslash_line(text: str) -> bool:
    """True if a line holds only a backslash, wherever it stands: it may also be in a string or in brackets."""
    return "\\" in text and _BACKSLASH_LINES.search(text) is not None


def without_backslash_lines(text: str) -> str | None:
    """The text without such lines before its statements; None where it has none or would mean something else then.

    The first blank space among the joined lines indents the statement, as it does for Python.
    """
    if not has_backslash_line(text):
        return None
    try:
        parsed = parse_as_python(text)
        strings = set(_lines_in_strings(parsed))
        starts = line_starts(text)
        numbers = {start: number for number, start in enumerate(starts, start=1)}

        def joined(found: re.Match[str]) -> str:
            if numbers.get(found.start()) in strings:
                return found.group()
            blank = _BLANK.search(found.group())
            return blank.group() if blank is not None else ""

        plain = _BACKSLASH_LINES.sub(joined, text)
        return plain if is_same_program(plain, parsed) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def is_same_program(text: str, parsed: ast.Module) -> bool:
    """True if Python reads a text as the module that is given. Raises what `ast.parse` does."""
    return ast.dump(parse_as_python(text)) == ast.dump(parsed)


def _lines_in_strings(parsed: ast.Module) -> Iterator[int]:
    """The numbers of the lines that begin inside of a string."""
    for node in ast.walk(parsed):
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno is not None:
            yield from range(node.lineno + 1, node.end_lineno + 1)
