"""`# noqa` comments, read exactly as flake8 reads them, so that both front ends report the same.

The finer points of its grammar: `#noqa` is none, `# noqa : DL201` and `# noqa DL201` silence everything, codes are
prefixes in capitals, a comment at the end of a multi-line string or of a line that goes on after a backslash counts for
all its lines, and `# flake8: noqa` on a line of its own skips the file, even with codes behind it. So does a line
`# dataloader-lint: ignore-file`, for this linter only.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Callable, Iterable

from dataloader_lint.diagnostics import Position, TextEdit
from dataloader_lint.source.decoding import split_lines

COMMENT = re.compile(r"# noqa(?::\s?(?P<codes>(?:[A-Z]+[0-9]+[,\s]*)+))?", re.IGNORECASE)
SEPARATOR = re.compile(r"[,\s]")
_IGNORED_FILE = re.compile(r"(?:\A|[\r\n])[^\S\r\n]*# ?dataloader-lint: ?ignore-file\b")
_SKIPPED_FILE = re.compile(r"(?:\A|[\r\n])[^\S\r\n]*# flake8[:=][^\S\r\n]*noqa", re.IGNORECASE)


def skips_file(text: str) -> bool:
    """True if a `# flake8: noqa` or `# dataloader-lint: ignore-file` line asks to skip the whole file."""
    return ("flake8" in text.lower() and _SKIPPED_FILE.search(text) is not None) or ignores_file(text)


def ignores_file(text: str) -> bool:
    """True if a `# dataloader-lint: ignore-file` line asks this linter to skip the whole file."""
    return "ignore-file" in text and _IGNORED_FILE.search(text) is not None


def silenced(text: str) -> Callable[[str, Iterable[int]], bool]:
    """A test whether a code is silenced by a `# noqa` on any of the given lines of a file."""
    if "noqa" not in text.lower():
        return lambda _code, _lines: False
    physical = split_lines(text)
    logical = joined_lines(physical)

    def test(code: str, lines: Iterable[int]) -> bool:
        return any(_silences(_carrier(physical, logical, line), code) for line in lines)

    return test


def suppress(text: str, code: str, lines: Iterable[int]) -> TextEdit | None:
    """The edit that silences a code by a `# noqa` comment on the first of the given lines that can carry one.

    A comment that is there gets one more code. None where no comment can be put without a change of the program.
    """
    physical = split_lines(text)
    logical = joined_lines(physical)
    for line in dict.fromkeys(lines):
        first, last = logical.get(line, (line, line))
        if not 0 < first <= last <= len(physical):
            continue
        edit = _added(physical, first, last, code)
        new = _edited(physical, edit)
        if silenced(new)(code, (line,)) and _is_same_program(text, new):
            return edit
    return None


def suppress_all(text: str, wanted: Iterable[tuple[str, Iterable[int]]]) -> list[str] | None:
    """The lines of a text with comments that silence each code on one of its lines, as `suppress` would put them.

    None where not all can be silenced without a change of the program; then they have to be tried one by one.
    """
    physical = split_lines(text)
    logical = joined_lines(physical)  # comments at the ends of lines leave it as it is
    for code, lines in wanted:
        if not any(_put(physical, logical, code, line) for line in dict.fromkeys(lines)):
            return None
    return physical if _is_same_program(text, "\n".join(physical)) else None


def _put(physical: list[str], logical: dict[int, tuple[int, int]], code: str, line: int) -> bool:
    """Silence a code on a line, and say whether that could be done."""
    first, last = logical.get(line, (line, line))
    if not 0 < first <= last <= len(physical):
        return False
    if _silences(_carrier(physical, logical, line), code):
        return True
    edit = _added(physical, first, last, code)
    index = edit.start.line - 1
    old = physical[index]
    physical[index] = f"{old[: edit.start.column]}{edit.content}{old[edit.end.column :]}"
    if _silences(_carrier(physical, logical, line), code):
        return True
    physical[index] = old
    return False


def _added(physical: list[str], first: int, last: int, code: str) -> TextEdit:
    """One more code in the comment of these lines, or a new comment at their end."""
    for number in range(first, last + 1):
        comment = COMMENT.search(physical[number - 1])
        if comment is not None and comment["codes"]:
            place = Position(number, comment.start("codes") + len(comment["codes"].rstrip(", \t\f")))
            return TextEdit(place, place, f", {code}")
    line = physical[last - 1]
    bare = line.rstrip(" \t\f")
    return TextEdit(Position(last, len(bare)), Position(last, len(line)), f"{'  ' if bare else ''}# noqa: {code}")


def _edited(physical: list[str], edit: TextEdit) -> str:
    line = physical[edit.start.line - 1]
    new = f"{line[: edit.start.column]}{edit.content}{line[edit.end.column :]}"
    return "\n".join([*physical[: edit.start.line - 1], new, *physical[edit.start.line :]])


def _is_same_program(old: str, new: str) -> bool:
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of the escapes in this file is not our business
            return ast.dump(ast.parse(old)) == ast.dump(ast.parse(new))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _carrier(physical: list[str], logical: dict[int, tuple[int, int]], line: int) -> str:
    """The text in which a comment for a line is looked for."""
    first, last = logical.get(line, (line, line))
    return "\n".join(physical[first - 1 : last]) if first > 0 else ""


def _silences(line: str, code: str) -> bool:
    comment = COMMENT.search(line)
    if comment is None:
        return False
    codes = comment["codes"]
    return codes is None or code.startswith(tuple(filter(None, SEPARATOR.split(codes))))


def joined_lines(lines: list[str]) -> dict[int, tuple[int, int]]:
    """Line number → the first and the last of the lines that it shares a comment with; nothing where tokens fail."""
    source = iter([f"{line}\n" for line in lines])
    joined: dict[int, tuple[int, int]] = {}
    first, last = len(lines) + 1, 0
    try:
        for token in tokenize.generate_tokens(lambda: next(source)):
            if token.type in (tokenize.ENDMARKER, tokenize.DEDENT):
                continue
            first, last = min(first, token.start[0]), max(last, token.end[0])
            if token.type in (tokenize.NL, tokenize.NEWLINE):
                joined.update(dict.fromkeys(range(first, last + 1), (first, last)))
                first, last = len(lines) + 1, 0
    except (tokenize.TokenError, SyntaxError):
        return {}
    return joined
