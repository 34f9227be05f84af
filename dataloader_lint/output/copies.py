"""Findings that are copies of one another: a script copied into several files has its mistake in each of them."""

from __future__ import annotations

from collections.abc import Iterable

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output.fingerprints import content_of
from dataloader_lint.output.levels import plural
from dataloader_lint.output.places import Lines
from dataloader_lint.output.text import marker, shown_place

_MOST_NAMED = 5


def with_copies(
    diagnostics: Iterable[Diagnostic], lines_of: Lines, *, unsafe: bool
) -> list[tuple[Diagnostic, list[Diagnostic]]]:
    """Each finding with its copies: the same rule, message and source line in other files, at most one in each.

    The order is that in which the findings come. `unsafe` says whether unsafe fixes count as fixable.
    """
    groups: dict[tuple[str, ...], tuple[Diagnostic, list[Diagnostic]]] = {}
    for one in diagnostics:
        line = content_of(one, lines_of)
        said = (one.code, one.problem, one.advice, one.level.value, marker(one, unsafe=unsafe), line)
        group = groups.get(said)
        if group is None:
            groups[said] = (one, [])
        elif line and one.filename not in {other.filename for other in (group[0], *group[1])}:
            group[1].append(one)
        else:
            groups[*said, one.filename, str(one.start)] = (one, [])
    return list(groups.values())


def named(copies: list[Diagnostic]) -> str:
    """Where copies are: some of them by name, and how many more there are."""
    places = ", ".join(shown_place(one) for one in copies[:_MOST_NAMED])
    left = len(copies) - _MOST_NAMED
    more = f" and {plural(left, 'more file')}" if left > 0 else ""
    return f"{places}{more}"
