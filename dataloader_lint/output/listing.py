"""Findings as lines of a terminal: place, code and message, whole as far as there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output.paint import Paint
from dataloader_lint.output.text import cut, line_of, marker, neutralise, wrapped


def versions(diagnostics: Sequence[Diagnostic], paint: Paint, width: int, *, unsafe: bool = False) -> list[list[str]]:
    """The same findings in fewer and fewer lines: whole, without the advice, and in one line each, cut at a word."""
    whole = [one.whole_message for one in diagnostics]
    problems = [one.problem for one in diagnostics]
    made = [_lines(diagnostics, texts, paint, width, unsafe=unsafe) for texts in (whole, problems)]
    return [*made, list(_cut_lines(diagnostics, paint, width, unsafe=unsafe))]


def _lines(
    diagnostics: Sequence[Diagnostic], texts: Sequence[str], paint: Paint, width: int, *, unsafe: bool
) -> list[str]:
    lines: list[str] = []
    for one, text in zip(diagnostics, texts, strict=True):
        plain, painted = _head(one, paint, unsafe=unsafe)
        first, *rest = wrapped(plain + neutralise(text), width, "    ", together=len(plain) - 1)
        is_head_whole = first.startswith(plain.rstrip())
        lines += [(painted + first[len(plain) :]).rstrip() if is_head_whole else first, *rest]
    return lines


def _cut_lines(diagnostics: Sequence[Diagnostic], paint: Paint, width: int, *, unsafe: bool) -> Iterator[str]:
    for one in diagnostics:
        plain, painted = _head(one, paint, unsafe=unsafe)
        if len(plain) <= width:
            yield painted + cut(neutralise(one.problem), width - len(plain))
        else:
            yield from wrapped(plain.rstrip(), width, "    ", together=len(plain))


def _head(one: Diagnostic, paint: Paint, *, unsafe: bool) -> tuple[str, str]:
    """What stands before the message, without colors and with them."""
    place, mark = line_of(one), marker(one, unsafe=unsafe)
    painted = f"{paint('strong', place)} {paint(one.level.value, one.code)}{paint('help', mark)} "
    return f"{place} {one.code}{mark} ", painted
