"""Layout that Python reads and LibCST drops or refuses: a backslash alone on a line, form feeds, carriage returns."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dataloader_lint.source.decoding import line_starts
from dataloader_lint.source.fast_tree import parse_as_python

# Python joins a line that holds only a backslash to the one below it; the first blank space of both indents the two.
# A form feed begins the indentation of a line again.
_ODD_BEGINNING = re.compile(r"(?<![^\r\n])(?:(?:[ \t\f]*\\(?:\r\n|\r|\n))+[ \t\f]*|[ \t]*\f[ \t\f]*)")
_BACKSLASH_LINE = re.compile(r"(?<![^\r\n])[ \t\f]*\\[\r\n]")
_LONE_RETURN = re.compile(r"\r(?!\n)")
_LINE_END = re.compile(r"\r\n|\r|\n")


def has_backslash_line(text: str) -> bool:
    """True if a line holds only a backslash, wherever it stands: it may also be in a string or in brackets."""
    return "\\" in text and _BACKSLASH_LINE.search(text) is not None


def without_odd_lines(text: str) -> str | None:
    """The text without backslash lines, form feeds before statements, and lines that end with a carriage return alone.

    None where it has none of them, or where Python would read another program.
    """
    has_returns = _LONE_RETURN.search(text) is not None
    if not has_returns and _ODD_BEGINNING.search(text) is None:
        return None
    try:
        parsed = parse_as_python(text)
        if has_returns:
            text = _LINE_END.sub("\n", text)
        inside = set(_lines_in_strings(parsed))
        numbers = {start: number for number, start in enumerate(line_starts(text), start=1)}

        def plain(found: re.Match[str]) -> str:
            if numbers.get(found.start()) in inside:
                return found.group()
            blanks = (line.rpartition("\f")[2].rstrip("\\") for line in _LINE_END.split(found.group()))
            return next(filter(None, blanks), "")

        changed = _ODD_BEGINNING.sub(plain, text)
        return changed if is_same_program(changed, parsed) else None
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
