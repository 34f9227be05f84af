"""One cause, one finding: the findings of a file that one change would mend become one, with its other places."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataloader_lint.diagnostics import Diagnostic, Fix
    from dataloader_lint.settings import Settings

    Cause = tuple[str, str, str]


def in_groups(found: Iterable[Diagnostic]) -> list[list[Diagnostic]]:
    """The findings of one file by their causes; in each group first the one that stands for it."""
    groups: dict[object, list[Diagnostic]] = {}
    for one in sorted(found, key=lambda each: each.sort_key):
        key: object = (one.filename, one.code, one.cause) if one.cause else one
        groups.setdefault(key, []).append(one)
    for group in groups.values():
        group.sort(key=lambda each: each.level.rank)  # which keeps the order of those at the same level
    return list(groups.values())


def by_cause(found: Sequence[Diagnostic], text: str, settings: Settings) -> list[Diagnostic]:
    """One finding for each cause in a text, sorted by place, without notes if the settings say so.

    What was measured decides the level, where the doctor has tried the fix and no setting says otherwise.
    Comments that suppress some of the findings must have been heard before.
    """
    if not found:
        return []
    from dataclasses import replace

    from dataloader_lint.diagnostics import Level, Place

    made: list[Diagnostic] = []
    for first, *others in in_groups(found):
        if not others:
            made.append(first)
            continue
        elsewhere = [one for one in others if (one.cell, one.start, one.end) != (first.cell, first.start, first.end)]
        places = (Place(one.filename, one.start, one.end, one.statement_lines, one.cell) for one in elsewhere)
        ordered = tuple(sorted(dict.fromkeys(places), key=lambda place: (place.cell or 0, place.start)))
        fix = _together([first.fix, *(one.fix for one in others)])
        reasons = [one.no_fix for one in (first, *others) if one.no_fix]
        no_fix = "" if fix is not None else reasons[0] if reasons else ""
        made.append(replace(first, places=ordered, fix=fix, no_fix=no_fix))
    if settings.measured:
        from dataloader_lint.engine.measured import as_measured

        made = as_measured(made, text, settings)
    shown = made if settings.notes else [one for one in made if one.level is not Level.NOTE]
    return sorted(shown, key=lambda one: one.sort_key)


def at_each_place(one: Diagnostic) -> list[Diagnostic]:
    """A finding once for each of its places, as if each stood for itself."""
    from dataclasses import replace

    return [
        replace(one, places=()),
        *(
            replace(
                one, start=each.start, end=each.end, statement_lines=each.statement_lines, cell=each.cell, places=()
            )
            for each in one.places
        ),
    ]


def _together(fixes: Sequence[Fix | None]) -> Fix | None:
    """One fix for a whole group, as safe as the least safe part; None where a part has none or parts overlap."""
    from itertools import pairwise

    from dataloader_lint.diagnostics import Fix, Safety

    parts = [fix for fix in fixes if fix is not None]
    if len(parts) < len(fixes):
        return None
    edits = sorted(
        dict.fromkeys(edit for fix in parts for edit in fix.edits),
        key=lambda edit: (edit.cell or 0, edit.start, edit.end),
    )
    if any(one.cell == two.cell and two.start < one.end for one, two in pairwise(edits)):
        return None
    safety = Safety.SAFE if all(fix.safety is Safety.SAFE for fix in parts) else Safety.UNSAFE
    return Fix(safety, parts[0].title, tuple(edits))
