"""The last lines of a report: how much was found, fixed, and could be fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dataloader_lint.diagnostics import Diagnostic, Level, Safety
from dataloader_lint.output.levels import counted, not_shown, plural


def emit(
    diagnostics: Sequence[Diagnostic],
    fixed: int,
    dropped: int,
    *,
    fixing: bool,
    unsafe: bool,
    hidden: int = 0,
    notes_fail: bool = False,
) -> Iterator[str]:
    """Yields what to say below the findings that remain.

    `fixed` counts the repairs that were made, `dropped` those that were tried and left out. `fixing` says whether
    `--fix` was given, `unsafe` whether unsafe fixes count as fixable, `hidden` how many findings the baseline holds.
    Notes are counted apart: they are no problems, unless `notes_fail` says that they fail the run.
    """
    problems, notes = split(diagnostics, notes_fail=notes_fail)
    if not problems and not fixed:
        yield f"No problems, {notes}." if notes else "All checks passed!"
        if hidden:
            yield not_shown(hidden)
        if not notes:
            return
    else:
        total = fixed + len(problems)
        fixes = f" ({fixed} fixed, {len(problems)} remaining)" if fixing else ""
        levels = f": {counted(problems)}" if problems else ""
        yield f"Found {plural(total, 'problem')}{fixes}{levels}{f'; {notes}' if notes else ''}."
        if dropped:
            yield f"{plural(dropped, 'fix')} did not hold when tried and {_was(dropped)} left out."
        if hidden:
            yield not_shown(hidden)
    safe = sum(1 for one in diagnostics if one.fix is not None and (unsafe or one.fix.safety is Safety.SAFE))
    unsafe_ones = sum(1 for one in diagnostics if one.fix is not None) - safe
    if safe and not fixing:
        more = f" ({unsafe_ones} more with `--unsafe-fixes`)" if unsafe_ones else ""
        yield f"[*] {safe} fixable with the `--fix` option{more}."
    elif unsafe_ones:
        yield f"No safe fixes; {unsafe_ones} with `--unsafe-fixes`."


def would_fix(
    diagnostics: Sequence[Diagnostic], fixed: int, *, hidden: int = 0, notes_fail: bool = False
) -> Iterator[str]:
    """Yields what `--diff` says, in the numbers of `--fix`: `fixed` fixes would be made, and `diagnostics` remain."""
    problems, notes = split(diagnostics, notes_fail=notes_fail)
    more = f"; {notes}" if notes else ""
    if fixed:
        levels = f": {counted(problems)}" if problems else ""
        yield f"Would fix {plural(fixed, 'problem')}; {len(problems)} would remain{levels}{more}."
    elif problems:
        yield f"No fixes for {plural(len(problems), 'problem')}: {counted(problems)}{more}."
    else:
        yield f"Nothing to fix{more}."
    if hidden:
        yield not_shown(hidden)


def split(diagnostics: Sequence[Diagnostic], *, notes_fail: bool) -> tuple[list[Diagnostic], str]:
    """The problems among findings, and how many notes there are beside them; empty if there are none.

    Notes are problems if `notes_fail`.
    """
    problems = [one for one in diagnostics if notes_fail or one.level is not Level.NOTE]
    notes = len(diagnostics) - len(problems)
    return problems, plural(notes, "note") if notes else ""


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
