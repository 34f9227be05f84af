"""How `benchmarks.findings_diff` prints what differs."""

from __future__ import annotations

import difflib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from benchmarks.findings import QUOTED, Change, Finding, Kind, Sources

# A code base, its texts, and what differs there.
Row = tuple[str, Sources, Change]

NUMBER = re.compile(r"\d+")
INDENT = " " * 8


def render(rows: Iterable[Row]) -> Iterator[str]:
    """Lines: for each rule what came, went, moved, and has another fix or other words, with its source line.

    Findings whose words change in the same way are shown by one of them.
    """
    by_rule = sorted(rows, key=lambda row: (row[2].finding.code, list(Kind).index(row[2].kinds[0]), row[0]))
    for code, group in itertools.groupby(by_rule, key=lambda row: row[2].finding.code):
        members = list(group)
        counts = Counter(change.kinds[0] for _, _, change in members)
        yield f"{code}: " + ", ".join(f"{kind.value} {counts[kind]}" for kind in Kind if counts[kind])
        alike: dict[tuple[str, str], list[Row]] = {}
        for row in members:
            if row[2].kinds[0] is Kind.WORDS:
                alike.setdefault(_rewording(row[2]), []).append(row)
            else:
                yield from _change(row)
        for same in alike.values():
            yield from _change(same[0])
            if len(same) > 1:
                yield f"{INDENT}and {len(same) - 1} more reworded alike"
        yield ""


def _rewording(change: Change) -> tuple[str, str]:
    """Old and new words without the names and numbers in them."""
    old, new = (NUMBER.sub("0", QUOTED.sub("`", _words(each))) if each else "" for each in (change.old, change.new))
    return old, new


def _words(finding: Finding) -> str:
    return " / ".join([*finding.words, *([f"fix: {finding.fix.title}"] if finding.fix else [])])


def _change(row: Row) -> Iterator[str]:
    name, sources, change = row
    finding, kinds = change.finding, change.kinds
    yield f"  {kinds[0].value:<6}{name}/{finding.place}" + _details(change)
    old, new = change.old, change.new
    if old is None or new is None:
        yield INDENT + finding.message
        yield f"{INDENT}| {sources.line(finding)}"
        return
    if Kind.WORDS in kinds:
        yield f"{INDENT}old: {_words(old)}"
        yield f"{INDENT}new: {_words(new)}"
    else:
        yield INDENT + finding.message
    lines = [sources.line(old), sources.line(new)]
    if lines[0] != lines[1]:
        yield f"{INDENT}old | {lines[0]}"
        yield f"{INDENT}new | {lines[1]}"
    else:
        yield f"{INDENT}| {lines[1]}"
    if Kind.FIX in kinds:
        for age, each in (("old", old), ("new", new)):
            yield from (f"{INDENT}{age} fix {line}" for line in _fixed(sources, each))


def _details(change: Change) -> str:
    old, new, kinds = change.old, change.new, change.kinds
    if old is None or new is None:
        fix = change.finding.fix
        return f"  ({fix.safety} fix)" if fix else ""
    details = []
    if Kind.MOVED in kinds:
        was = f"{old.span.column}-{old.span.end_row}:{old.span.end_column}"
        details.append(f"was line {old.span.row}" if old.span.row != new.span.row else f"was {old.span.row}:{was}")
    if Kind.FIX in kinds:
        safeties = [each.fix.safety if each.fix else "no" for each in (old, new)]
        details.append(f"{safeties[0]} -> {safeties[1]} fix" if safeties[0] != safeties[1] else "other edits")
    return f"  ({'; '.join(details)})" if details else ""


def _fixed(sources: Sources, finding: Finding) -> Iterator[str]:
    """The lines that a fix takes out and puts in."""
    for cell in sorted({edit.span.cell for edit in finding.fix.edits} if finding.fix else set()):
        text = sources.text(finding.path, cell)
        edits = [edit for edit in finding.fix.edits if edit.span.cell == cell] if finding.fix else []
        for line in itertools.islice(difflib.unified_diff(text.lines, text.edited(edits), n=0, lineterm=""), 2, None):
            if not line.startswith("@@"):
                yield f"{line[0]} {line[1:].strip()}"


def render_table(changes: Sequence[tuple[str, Change]]) -> Iterator[str]:
    """Lines of a table: how many of each kind, by rule and code base; nothing where nothing differs."""
    counts = Counter((change.finding.code, name, change.kinds[0]) for name, change in changes)
    cells = sorted({(code, name) for code, name, _ in counts})
    if not cells:
        return
    width = max(len(name) for _, name in [*cells, ("", "code base")])
    yield f"{'rule':<7}{'code base':<{width}}" + "".join(f"{kind.value:>7}" for kind in Kind)
    for code, group in itertools.groupby(cells, key=lambda cell: cell[0]):
        names = [name for _, name in group]
        for name in names:
            yield f"{code:<7}{name:<{width}}" + "".join(f"{counts[code, name, kind]:>7}" for kind in Kind)
        if len(names) > 1:
            totals = [sum(counts[code, name, kind] for name in names) for kind in Kind]
            yield f"{code:<7}{'all':<{width}}" + "".join(f"{total:>7}" for total in totals)
    totals = [sum(count for (_, _, each), count in counts.items() if each is kind) for kind in Kind]
    yield f"{'all':<7}{'':<{width}}" + "".join(f"{total:>7}" for total in totals)
