"""The last lines of a report: how much was found, fixed, and could be fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dataloader_lint.diagnostics import Diagnostic, Level, Safety
from dataloader_lint.output.levels import counted, plural


def emit(
    diagnostics: Sequence[Diagnostic], fixed: int, dropped: int, *, fixing: bool, unsafe: bool, hidden: int = 0
) -> Iterator[str]:
    """Yields what to say below the findings that remain.

    `fixed` counts the repairs that were made, `dropped` those that were tried and left out. `fixing` says whether
    `--fix` was given, `unsafe` whether unsafe fixes count as fixable, `hidden` how many findings the baseline holds.
    Notes are counted apart: they are no problems.
    """
    problems = [one for one in diagnostics if one.level is not Level.NOTE]
    notes = plural(len(diagnostics) - len(problems), "note") if len(diagnostics) > len(problems) else ""
    if not problems and not fixed:
        yield f"No problems, {notes}." if notes else "All checks passed!"
        if hidden:
            yield _baselined(hidden)
        if not notes:
            return
    else:
        total = fixed + len(problems)
        fixes = f" ({fixed} fixed, {len(problems)} remaining)" if fixing else ""
        levels = f": {counted(problems)}" if problems else ""
        yield f"Found {total} {_plural('problem', total)}{fixes}{levels}{f'; {notes}' if notes else ''}."
        if dropped:
            yield f"{dropped} {_plural('fix', dropped)} did not hold when tried and {_was(dropped)} left out."
        if hidden:
            yield _baselined(hidden)
    safe = sum(1 for one in diagnostics if one.fix is not None and (unsafe or one.fix.safety is Safety.SAFE))
    hidden = sum(1 for one in diagnostics if one.fix is not None) - safe
    more = f"{hidden} hidden {_plural('fix', hidden)} can be enabled with the `--unsafe-fixes` option"
    if safe and not fixing:
        yield f"{safe} fixable with the `--fix` option{f' ({more})' if hidden else ''}."
    elif hidden:
        yield f"No fixes available ({more})."


def _baselined(count: int) -> str:
    return f"{count} {_plural('finding', count)} of the baseline {'is' if count == 1 else 'are'} not shown."


def _plural(word: str, count: int) -> str:
    return word if count == 1 else word + ("es" if word.endswith("x") else "s")


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
