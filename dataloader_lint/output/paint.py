"""Colours: what is painted how, and when nothing is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TextIO

Paint = Callable[[str, str], str]
"""Called with the name of a style and the text to put it on."""

_STYLES = {
    "strong": "1",
    "code": "1;31",
    "mark": "1;31",
    "error": "1;31",
    "warning": "1;33",
    "memory": "1;35",
    "speed": "1;34",
    "opinion": "1",
    "note": "2",
    "edge": "1;34",
    "place": "1;34",
    "help": "1;36",
    "quiet": "2",
    "added": "32",
    "removed": "31",
    "context": "0",
}


def plain(_style: str, text: str) -> str:
    """Paints nothing."""
    return text


def coloured(style: str, text: str) -> str:
    """Paints with ANSI escape sequences."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if text else text


def choose(stream: TextIO, environment: Mapping[str, str], color: str = "auto") -> Paint:
    """Colors if `color` is "always"; with "auto" on a terminal, but NO_COLOR and FORCE_COLOR (in this order) win."""
    if color != "auto":
        return coloured if color == "always" else plain
    if environment.get("NO_COLOR"):
        return plain
    if environment.get("FORCE_COLOR"):
        return coloured
    return coloured if stream.isatty() and environment.get("TERM") != "dumb" else plain
