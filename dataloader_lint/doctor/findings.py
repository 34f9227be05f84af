"""Findings of the linter in the files that a loader comes from, and which of them a symptom belongs to."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence

from dataloader_lint.diagnostics import Diagnostic, Place

_LONGEST = 40  # lines of a statement that are looked at
# Families that say something about a running loader; the opinions among them come only with a symptom.
_OPT_IN = ("DL106", "DL306", "DL309", "DL402", "DL406", "DL606", "DL607", "DL608", "DL611", "DL617")


def lint(files: Sequence[str], codes: Iterable[str] = ()) -> list[Diagnostic]:
    """All findings in the files, with the project's settings; opt-in rules run if a symptom names them."""
    if not files:
        return []
    from dataloader_lint.engine import runner
    from dataloader_lint.source.pyproject import chosen

    wanted = tuple(dict.fromkeys((*_OPT_IN, *codes)))
    try:
        settings = chosen(folder=os.path.dirname(files[0]))
    except Exception:  # settings that cannot be read are the linter's to report
        settings = chosen(isolated=True)
    values = settings.replace(extend_select=tuple(dict.fromkeys((*settings.extend_select, *wanted))), options=None)
    return runner.lint_paths(list(files), values)


def matching(
    findings: Sequence[Diagnostic],
    codes: Sequence[str],
    names: Sequence[str] = (),
    places: Sequence[tuple[str, int]] = (),
    *,
    is_exact: bool = False,
) -> list[Diagnostic]:
    """The findings with one of the codes, the likeliest first.

    Those at one of the places are the only ones, if there are any or `is_exact`; then those whose message has one of
    the names.
    """
    found = [one for one in findings if one.code in codes]
    exact = at_one_of(found, places) or [one for one in found if _is_because_of(one, places)]
    if is_exact and not exact:
        return []
    named = [one for one in found if any(_mentions(one, name) for name in names)]
    return sorted(exact or named or found, key=lambda one: (codes.index(one.code), one.sort_key))


def at_one_of(findings: Iterable[Diagnostic], places: Iterable[tuple[str, int]]) -> list[Diagnostic]:
    """The findings that have one of the lines; at that line, if it is another place of the same cause."""
    real = {(os.path.realpath(name), line) for name, line in places}
    found: list[Diagnostic] = []
    for one in findings:
        several: list[Diagnostic | Place] = [one, *one.places]
        for each in several:
            first, last = each.statement_lines
            name = os.path.realpath(each.filename)
            if any((name, line) in real for line in {each.start.line, *range(first, min(last, first + _LONGEST) + 1)}):
                is_itself = each is one
                found.append(
                    one if is_itself else dataclasses.replace(one, start=each.start, end=each.end, cell=each.cell)
                )
                break
    exact = [one for one in found if (os.path.realpath(one.filename), one.start.line) in real]
    return exact or found


def _is_because_of(one: Diagnostic, places: Sequence[tuple[str, int]]) -> bool:
    steps = {(os.path.realpath(each.filename), each.position.line) for each in one.because}
    return any((os.path.realpath(name), line) in steps for name, line in places)


def of_loader(
    findings: Sequence[Diagnostic], made: Sequence[tuple[str, int]], others: Sequence[tuple[str, int]]
) -> list[Diagnostic]:
    """The findings without those at a line that constructs another loader, and not this one."""
    elsewhere = {id(one) for one in findings if _is_at(one, others) and not _is_at(one, made)}
    return [one for one in findings if id(one) not in elsewhere]


def _is_at(one: Diagnostic, places: Sequence[tuple[str, int]]) -> bool:
    return bool(at_one_of([one], places))


def _mentions(one: Diagnostic, name: str) -> bool:
    return f".{name}`" in one.problem or f"`{name}`" in one.problem
