"""The answer to an error message or a question: what its symptom is and which rules find its cause.

Messages come as people have them: with and without the name of the exception, with pids and paths, as a traceback. The
patterns of `symptoms` come first, then what the pages of the rules list in their `Error messages`, then what the text
says in words, by `questions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dataloader_lint.rules.questions import named_rules, ranked
from dataloader_lint.rules.registry import FoundRule, found_rules
from dataloader_lint.rules.symptoms import SYMPTOMS, Symptom

_SECTION = re.compile(r"^## Error messages\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_NAMES = re.compile(r"(?<!\w)'[^']*'|\"[^\"]*\"|<[^>]{0,200}>")
_QUOTES = re.compile("[`'\"*\u2018\u2019\u201c\u201d]")
_MESSAGE = re.compile(r"^- `([^`]+)`", re.MULTILINE)
# `torch.cuda.OutOfMemoryError: `, `[rank0]: RuntimeError: `, and the same alone.
_EXCEPTION = re.compile(
    r"^(?:\[[\w:]+\]:? ?)*(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Warning|Interrupt):?(?:\s+|$)"
)
_ATTRIBUTE = "object has no attribute"
_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FRAME = re.compile(r"^(?:File \"|Traceback \(|-+> ?\d+ )")
_ARROW = re.compile(r"(?:-+>|\u276f|\u2771) *\d+ ")  # of IPython and of rich
_EDGES = " \t│|"
_NUMBER = re.compile(r"^(\d+)\s+")
# Exceptions, and not warnings.
_RAISED = re.compile(r"^(?:\W*\[[\w:]+\]:? ?)*(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception)\b")
_WARNING = re.compile(r"Warning\b")
_INTERRUPTED = re.compile(r"KeyboardInterrupt\b")
_MOST = 20_000  # characters of a text that are looked at, from its end
_LONGEST = 1_000  # characters of one line: patterns with `.*` take quadratic time
_DESCRIPTION = 1_500  # characters of a description in words, from its beginning
_FEWEST = 3  # words of a message that has to be told from others


@dataclass(frozen=True, slots=True)
class Answer:
    """What a text means: its symptom, if that is known, and the rules that find the cause, the likeliest first.

    `beside` are other symptoms that fit about as well. If `is_sure` is False, nothing fits, and `symptom` and
    `beside` are the closest.
    """

    symptom: Symptom | None
    rules: tuple[FoundRule, ...]
    beside: tuple[Symptom, ...] = ()
    is_sure: bool = True


def error_messages(page: str) -> list[str]:
    """The messages that a page lists, as they are printed, with `...` for the parts that vary."""
    section = _SECTION.search(page)
    return [" ".join(each.split()) for each in _MESSAGE.findall(section.group(1))] if section is not None else []


def answer(text: str) -> Answer | None:
    """The answer to a message, a traceback or a question; None if there is none."""
    titled = [each for each in SYMPTOMS if _bare(each.title).lower() == _bare(text[:_LONGEST]).lower()]
    if titled:
        return Answer(titled[0], rules_of(titled[0]))
    whole = _bare(text[-_MOST:])
    lines = _lines(text)
    found = _symptom(lines, whole)
    if found is not None:
        return Answer(found, rules_of(found))
    is_raised = is_error(lines)
    for line in reversed(lines):
        if is_raised and _WARNING.search(line):  # it explains no exception
            continue
        rules = rules_for_message(line)
        if rules:
            return Answer(None, tuple(rules))
    return None if is_raised else _described(lines)


def is_error(lines: Iterable[str]) -> bool:
    """True if one of the lines is the message of an exception, and not a question in words."""
    return any(_RAISED.match(line) for line in lines)


def rules_of(symptom: Symptom) -> tuple[FoundRule, ...]:
    """The rules that find the causes of a symptom, the likeliest first."""
    return tuple(found_rules()[code] for code in symptom.rules)


def _described(lines: list[str]) -> Answer | None:
    """The answer to what a text says in words."""
    text = " ".join(line for line in lines if not _INTERRUPTED.match(line))[:_DESCRIPTION]
    result = ranked(text)
    if not result.is_sure and (codes := named_rules(text)):
        return Answer(None, tuple(found_rules()[code] for code in codes))
    if not result.symptoms:
        return None
    first, *others = result.symptoms
    return Answer(first, rules_of(first), tuple(others), result.is_sure)


def rules_for_message(text: str) -> list[FoundRule]:
    """The rules whose page lists a message that `text` is a part of, or that is a part of `text`."""
    wanted = _plain(text)
    if len(wanted.split()) < _FEWEST:  # short words would match everything
        return []
    return [
        found
        for found in found_rules().values()
        if any(_fits(wanted, _plain(message)) for message in error_messages(found.page))
    ]


def _lines(text: str) -> list[str]:
    """The lines of a text that may be messages, without the code and the places of a traceback."""
    shown = _COLOR.sub("", text[-_MOST:])
    if "\\n  File " in shown:  # the repr of an exception that holds a traceback
        shown = shown.replace("\\n", "\n")
    several = shown.splitlines()
    has_numbers = any(_ARROW.match(line.strip(_EDGES)) for line in several)
    found: list[str] = []
    is_code = False  # what stands below the place of a frame and is indented further
    for line in several:
        bare = line[:_LONGEST].strip(_EDGES).lstrip("> ")
        if _NUMBER.match(bare):
            if has_numbers:  # a line of code
                continue
            bare = _NUMBER.sub("", bare)  # of a log
        if not bare or _FRAME.match(bare):
            is_code = bool(bare)
            continue
        is_code = is_code and line.startswith("    ")
        if not is_code or "Error" in bare:
            found.append(bare)
    return found


def _symptom(lines: list[str], whole: str) -> Symptom | None:
    """The first symptom in the table that fits a line, whichever line that is. `whole` is the text with its frames."""
    several = [_bare(line) for line in lines]
    found = [each for each in SYMPTOMS if _is_seen(each, several, whole)]
    if is_error(lines):
        return next((each for each in found if not each.is_warning), None)
    return found[0] if found else None


def _is_seen(symptom: Symptom, lines: list[str], whole: str) -> bool:
    found = any(pattern.search(line) for pattern in symptom.messages for line in lines) or any(
        message.search(line) for message, frame in symptom.traced if frame.search(whole) for line in (*lines, "")
    )
    return found and not _is_excluded(symptom, whole)


def _is_excluded(symptom: Symptom, whole: str) -> bool:
    return any(pattern.search(whole) for pattern in symptom.unless)


def _bare(text: str) -> str:
    """A text without quotation marks, and with single spaces."""
    return " ".join(_QUOTES.sub("", text).split())


def _fits(wanted: str, message: str) -> bool:
    if len(message.split()) < _FEWEST:  # the name of an exception says nothing
        return False
    if wanted in message:
        return True
    # A pasted message has names where the page has dots.
    parts = [part.strip() for part in message.split("...")]
    if not any(len(part) > 8 for part in parts):
        return False
    place = 0
    for part in parts:
        place = wanted.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def _plain(text: str) -> str:
    """Without case, quotes, names and the exception, which differ from program to program."""
    message = _EXCEPTION.sub("", text.strip())
    if _ATTRIBUTE not in message:  # there the names are all that tells one message from another
        message = _NAMES.sub("...", message)
    return _bare(message).lower()
