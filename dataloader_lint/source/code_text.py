"""The code of a text: without comments and blank lines, but for the comments that are read.

Two texts with the same code are the same program, and findings in one of them are findings in the other. Comments that
this program reads (`# noqa`), and those that say how a file is encoded, count as code.
"""

from __future__ import annotations

import re

# Strings, line ends behind a backslash with a comment that may follow, and comments that are read stay as they are.
# Nothing is looked for twice: what does not end is taken up to where it cannot go on, and nothing is given back.
_READ = rb"(?=[^\n]*(?i:noqa|coding|dataloader-lint|flake8))"
_STRING = (
    rb'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+(?:"""|\\?\Z)'
    rb"|'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+(?:'''|\\?\Z)"
    rb'|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+(?:"|(?=\n)|\\?\Z)'
    rb"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+(?:'|(?=\n)|\\?\Z)"
)
_KEPT = rb"(" + _STRING + rb"|\\\n[ \t]*+(?:#[^\n]*+)?|#" + _READ + rb"[^\n]*+)"
_COMMENT = rb"#(?!" + _READ + rb")[^\n]*+"
_PARTS = re.compile(
    _KEPT + rb"|\n[ \t]*+(?:" + _COMMENT + rb")?(?=\n|\Z)|(?<![ \t])[ \t]*+" + _COMMENT,
    re.DOTALL,
)
_ENDS = re.compile(_KEPT + rb"|\n", re.DOTALL)


def code_of(content: bytes) -> bytes | None:
    """The code of a file that holds this, behind a line end; None where what is a comment in it takes more to tell.

    What is not Python may be taken for comments as well: see `has_plain_comments`.
    """
    if b"\r" in content or b"\f" in content or b"\0" in content:
        return None
    try:
        content.decode()
    except UnicodeError:
        return None
    return _PARTS.sub(_kept, b"\n" + content)


def code_lines(content: bytes) -> list[int]:
    """The number, from 1, of each line that `code_of` leaves, whole or in part."""
    text = b"\n" + content
    found: list[int] = []
    line = place = 0
    for part in _PARTS.finditer(text):
        here = line + text.count(b"\n", place, part.end() if part[1] else part.start())
        found.extend(range(line + 1, here + 1))
        line = here + (0 if part[1] else part[0].count(b"\n"))
        place = part.end()
    found.extend(range(line + 1, line + text.count(b"\n", place) + 1))
    return found


def _kept(found: re.Match[bytes]) -> bytes:
    return found[1] or b""


def has_plain_comments(code: bytes) -> bool:
    """True if every text with this code differs from it in nothing that Python reads.

    A comment more at the end of each line must change nothing: then no such end is inside a string after all, as it can
    be where strings are nested in one another.
    """
    import ast

    from dataloader_lint.source.fast_tree import parse_as_python

    marked = _ENDS.sub(lambda found: found[1] or b" #\n", code + b"\n")
    try:
        plain, more = (parse_as_python(each.decode()) for each in (code, marked))
        return ast.dump(plain) == ast.dump(more)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def code_text(text: str) -> str:
    """The code of a decoded text; the text itself where comments cannot be told."""
    code = code_of(text.encode("utf-8", "surrogatepass"))
    return text if code is None else code.decode("utf-8", "surrogatepass")
