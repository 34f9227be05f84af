"""`# noqa: DL...` comments that suppress nothing, the edits that remove them, and comments that are misread."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from dataloader_lint.source.decoding import split_lines
from dataloader_lint.source.noqa import COMMENT, SEPARATOR, joined_lines

_OURS = re.compile(r"DL(?:\d\w*)?")
_IN_SMALL_LETTERS = re.compile(r"[Dd][Ll]\d{1,3}")
_NAME = re.compile(r":[ \t]?([a-z0-9]+(?:-[a-z0-9]+)+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UnusedComment:
    """Codes of one comment that suppress nothing: where the comment starts and ends, and the text without them.

    Lines count from 1 and columns from 0. The edit replaces the text between `cut_from` and `cut_to` of the line by
    `content`; with `drops_line` it takes the whole line away.
    """

    line: int
    start: int
    end: int
    codes: tuple[str, ...]
    cut_from: int
    cut_to: int
    content: str
    drops_line: bool


@dataclass(frozen=True, slots=True)
class MisreadComment:
    """A comment that flake8's grammar takes otherwise than it is meant: its place, what is wrong, and what to write."""

    line: int
    start: int
    end: int
    problem: str
    advice: str


def misread_comments(text: str, code_of: Callable[[str], str]) -> Iterator[MisreadComment]:
    """Yields the comments with a code of ours in small letters, or with the name of a rule.

    The first suppress nothing, as flake8 has it, the others whatever is found on the line. `code_of` gives the code of
    a rule by its name, and an empty text for what is no name.
    """
    if not any(_is_misread(found, text, code_of) for found in COMMENT.finditer(text)):
        return
    lines = split_lines(text)
    for line, column in _comments(lines):
        comment = COMMENT.search(lines[line - 1], column)
        if comment is None:
            continue
        if comment["codes"]:
            for code in _in_small_letters(comment["codes"]):
                problem = f"`# noqa: {code}` suppresses nothing: codes are in capitals"
                yield MisreadComment(line, comment.start(), comment.end(), problem, f"write {code.upper()}")
            continue
        name, end = _name_behind(comment, lines[line - 1])
        code = code_of(name)
        if code:
            problem = f"`# noqa: {name}` suppresses all findings of the line, as it holds no code"
            yield MisreadComment(line, comment.start(), end, problem, f"write {code}")


def _is_misread(comment: re.Match[str], text: str, code_of: Callable[[str], str]) -> bool:
    if comment["codes"]:
        return bool(_in_small_letters(comment["codes"]))
    return bool(code_of(_name_behind(comment, text)[0]))


def _in_small_letters(codes: str) -> list[str]:
    return [code for code in SEPARATOR.split(codes) if _IN_SMALL_LETTERS.fullmatch(code) and not code.isupper()]


def _name_behind(comment: re.Match[str], text: str) -> tuple[str, int]:
    """The words with hyphens behind `# noqa:`, and where they end; empty if there are none."""
    found = _NAME.match(text, comment.end())
    return (found[1].lower(), found.end()) if found else ("", comment.end())


def unused_comments(
    text: str, findings: Iterable[tuple[str, Iterable[int]]], can_tell: Callable[[str], bool]
) -> Iterator[UnusedComment]:
    """Yields the comments of a file with codes of ours that suppress none of the findings.

    `findings` are codes with the lines on which a comment suppresses them. `can_tell` is False for a code (or the
    beginning of codes) whose rules did not all run. Comments without codes are left alone.
    """
    if not _may_hold_ours(text):
        return
    lines = split_lines(text)
    logical = joined_lines(lines)
    by_range: dict[tuple[int, int], set[str]] = {}
    for code, places in findings:
        for line in places:
            by_range.setdefault(logical.get(line, (line, line)), set()).add(code)
    for line, column in _comments(lines):
        comment = COMMENT.search(lines[line - 1], column)
        if comment is None or not comment["codes"]:
            continue
        suppressed = by_range.get(logical.get(line, (line, line)), set())
        codes = [code for code in SEPARATOR.split(comment["codes"]) if code]
        unused = tuple(
            code
            for code in dict.fromkeys(codes)
            if _OURS.fullmatch(code) and not any(one.startswith(code) for one in suppressed) and can_tell(code)
        )
        if unused:
            yield _removed(lines[line - 1], line, comment, [code for code in codes if code not in unused], unused)


def _may_hold_ours(text: str) -> bool:
    """True if a comment of the text may have codes of ours; splitting a text into tokens takes as long as linting it.

    Codes may go on in the next line here, so rather too many texts pass.
    """
    return any("DL" in (found["codes"] or "") for found in COMMENT.finditer(text))


def _comments(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Line and column of each comment; none after a place where the text has no tokens."""
    source = iter([f"{line}\n" for line in lines])
    try:
        for token in tokenize.generate_tokens(lambda: next(source)):
            if token.type == tokenize.COMMENT:
                yield token.start
    except (tokenize.TokenError, SyntaxError):
        return


def _removed(text: str, line: int, comment: re.Match[str], kept: list[str], unused: tuple[str, ...]) -> UnusedComment:
    start, end = comment.start(), comment.start("codes") + len(comment["codes"].rstrip(", \t\f"))
    if kept:
        return UnusedComment(line, start, end, unused, comment.start("codes"), end, ", ".join(kept), False)
    rest = text[end:].strip()
    before = text[:start].rstrip()
    if rest:  # another comment, or the reason, which may be worth more than the code
        content = rest if rest.startswith("#") else f"# {rest.lstrip('-:;, ')}"
        return UnusedComment(line, start, end, unused, start, len(text), content, False)
    return UnusedComment(line, start, end, unused, len(before), len(text), "", not before)
