"""`# noqa` comments, read exactly as flake8 reads them, so that both front ends report the same.

The finer points of its grammar: `#noqa` is none, `# noqa : DL201` and `# noqa DL201` silence everything, codes are
prefixes in capitals, a comment at the end of a multi-line string or of a line that goes on after a backslash counts for
all its lines, and `# flake8: noqa` on a line of its own skips the file, even with codes behind it.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Callable, Iterable

from dataloader_lint.source.decoding import split_lines

_COMMENT = re.compile(r"# noqa(?::\s?(?P<codes>(?:[A-Z]+[0-9]+[,\s]*)+))?", re.IGNORECASE)
_SKIPPED_FILE = re.compile(r"(?:\A|[\r\n])\s*# flake8[:=][^\S\r\n]*noqa", re.IGNORECASE)


def skips_file(text: str) -> bool:
    """Whether a `# flake8: noqa` line asks for the whole file to be left alone."""
    return _SKIPPED_FILE.search(text) is not None


def silenced(text: str) -> Callable[[str, Iterable[int]], bool]:
    """A test whether a code is silenced by a `# noqa` on any of the given lines of a file."""
    if "noqa" not in text.lower():
        return lambda _code, _lines: False
    physical = split_lines(text)
    logical = _joined_lines(physical)

    def test(code: str, lines: Iterable[int]) -> bool:
        for line in lines:
            carrier = logical.get(line)
            if carrier is None:
                carrier = physical[line - 1] if 0 < line <= len(physical) else ""
            if _silences(carrier, code):
                return True
        return False

    return test


def _silences(line: str, code: str) -> bool:
    comment = _COMMENT.search(line)
    if comment is None:
        return False
    codes = comment["codes"]
    return codes is None or code.startswith(tuple(filter(None, re.split(r"[,\s]", codes))))


def _joined_lines(lines: list[str]) -> dict[int, str]:
    """Line number → the text in which its comment is looked for; nothing where the file cannot be tokenised."""
    source = iter([f"{line}\n" for line in lines])
    joined: dict[int, str] = {}
    first, last = len(lines) + 1, 0
    try:
        for token in tokenize.generate_tokens(lambda: next(source)):
            if token.type in (tokenize.ENDMARKER, tokenize.DEDENT):
                continue
            first, last = min(first, token.start[0]), max(last, token.end[0])
            if token.type in (tokenize.NL, tokenize.NEWLINE):
                text = "\n".join(lines[first - 1 : last])
                joined.update(dict.fromkeys(range(first, last + 1), text))
                first, last = len(lines) + 1, 0
    except (tokenize.TokenError, SyntaxError):
        return {}
    return joined
