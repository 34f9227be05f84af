"""A symptom: how its messages look, what it means, and which rules find its causes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`0-9])")


@dataclass(frozen=True, slots=True)
class Symptom:
    """A symptom with its page.

    `messages` are patterns to search for in one line of what a program printed. `traced` are others, which count only
    beside a line that the second pattern finds: a frame of the traceback. A text in which one of `unless` is found
    anywhere has another message. All ignore case, blank space and quotation marks.

    `asked` are phrases of concepts, by which questions in words are found (see `rules.questions`).

    `is_warning`: the program goes on. Such a message explains no exception that follows it.
    """

    title: str
    page: str
    rules: tuple[str, ...] = ()
    messages: tuple[re.Pattern[str], ...] = field(default=())
    traced: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = field(default=())
    asked: tuple[str, ...] = ()
    unless: tuple[re.Pattern[str], ...] = field(default=())
    is_warning: bool = False

    @property
    def in_short(self) -> str:
        """The first sentence of the page."""
        return _SENTENCE_END.split(self.page, maxsplit=1)[0].rstrip(".:")


def seen(
    title: str,
    page: str,
    rules: str,
    *messages: str,
    traced: tuple[tuple[str, str], ...] = (),
    asked: tuple[str, ...] = (),
    unless: tuple[str, ...] = (),
    is_warning: bool = False,
) -> Symptom:
    """A symptom from texts: the codes of `rules` with a space between them, all else as patterns."""
    return Symptom(
        title,
        " ".join(line.strip() for line in page.split("\n")).strip(),
        tuple(rules.split()),
        _patterns(messages),
        tuple((_pattern(message), _pattern(frame)) for message, frame in traced),
        asked,
        _patterns(unless),
        is_warning,
    )


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _patterns(several: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(_pattern(each) for each in several)
