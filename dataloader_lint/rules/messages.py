"""Which rules find the cause of an error message: read from the `Error messages` section of their pages."""

from __future__ import annotations

import re

from dataloader_lint.rules.registry import FoundRule, found_rules

_SECTION = re.compile(r"^## Error messages\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_NAMES = re.compile(r"(?<!\w)'[^']*'|\"[^\"]*\"|<[^>]{0,200}>")
_QUOTES = re.compile(r"[`'\"]")
_MESSAGE = re.compile(r"^- `([^`]+)`", re.MULTILINE)


def error_messages(page: str) -> list[str]:
    """The messages that a page lists, as they are printed, with `...` for the parts that vary."""
    section = _SECTION.search(page)
    return [" ".join(each.split()) for each in _MESSAGE.findall(section.group(1))] if section is not None else []


def rules_for_message(text: str) -> list[FoundRule]:
    """The rules whose page lists a message that `text` is a part of, or that is a part of `text`."""
    wanted = _plain(text)
    if len(wanted) < 8:  # short words would match everything
        return []
    return [
        found
        for found in found_rules().values()
        if any(_fits(wanted, _plain(message)) for message in error_messages(found.page))
    ]


def _fits(wanted: str, message: str) -> bool:
    if wanted in message:
        return True
    # A pasted message has names where the page has dots.
    parts = [part for part in message.split("...") if len(part) > 8]
    return bool(parts) and all(part in wanted for part in parts)


def _plain(text: str) -> str:
    """Without case, quotes and names, which differ from program to program."""
    return " ".join(_QUOTES.sub("", _NAMES.sub("...", text)).lower().split())
