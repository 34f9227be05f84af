"""What services and editors call each level: the one table behind all formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from dataloader_lint.diagnostics import Diagnostic, Level


class Names(NamedTuple):
    """A level in the words of others. `lsp` is a DiagnosticSeverity, `pylint` the letter of a message's kind."""

    sarif: str
    gitlab: str
    github: str
    azure: str
    rdjson: str
    pylint: str
    lsp: int


NAMES = {
    Level.ERROR: Names("error", "critical", "error", "error", "ERROR", "E", 1),
    Level.WARNING: Names("warning", "major", "warning", "warning", "WARNING", "W", 2),
    Level.MEMORY: Names("warning", "major", "warning", "warning", "WARNING", "W", 2),
    Level.SPEED: Names("note", "minor", "notice", "warning", "INFO", "R", 3),
    Level.OPINION: Names("note", "info", "notice", "warning", "INFO", "C", 3),
    Level.NOTE: Names("note", "info", "notice", "warning", "INFO", "I", 4),
}


MEANINGS = {
    Level.ERROR: "raises, hangs, or gives wrong data",
    Level.WARNING: "fails where workers are spawned: macOS, Windows and, from Python 3.14 on, Linux",
    Level.MEMORY: "costs memory or open files in every worker",
    Level.SPEED: "costs time",
    Level.OPINION: "a matter of policy, such as a limit of your own",
    Level.NOTE: "true, but small, of unknown size, or without an effect that anybody saw",
}


def counted(diagnostics: Iterable[Diagnostic]) -> str:
    """How many findings there are of each level, worst first: "2 errors, 1 warning, 3 memory"."""
    counts = Counter(one.level for one in diagnostics)
    return ", ".join(f"{counts[level]} {_noun(level, counts[level])}" for level in Level if counts[level])


def plural(number: int, noun: str) -> str:
    """A number with its noun: "1 note", "3 notes", "2 fixes"."""
    return f"{number} {noun}{'' if number == 1 else 'es' if noun.endswith('x') else 's'}"


def not_shown(count: int) -> str:
    """What is said of the findings that the baseline holds."""
    return f"{plural(count, 'finding')} of the baseline {'is' if count == 1 else 'are'} not shown."


def _noun(level: Level, count: int) -> str:
    return level.value + "s" if count > 1 and level in (Level.ERROR, Level.WARNING, Level.NOTE) else level.value
