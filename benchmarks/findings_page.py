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
MAX_LINES = 12  # of a fix


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
    return " / ".join(_texts(finding))


def _texts(finding: Finding) -> list[str]:
    return [*finding.words, *([f"fix: {finding.fix.title}"] if finding.fix else [])]


def _change(row: Row) -> Iterator[str]:
    name, sources, change = row
    finding, kinds = change.finding, change.kinds
    yield f"  {kinds[0].value:<6}{name}/{finding.place}" + _details(change)
    old, new = change.old, change.new
    if old is None or new is None:
        yield INDENT + finding.message
        yield f"{INDENT}| {sources.line(finding)}"
        return
    if old.message == new.message:
        yield INDENT + new.message
    for before, after in itertools.zip_longest(_texts(old), _texts(new), fillvalue="nothing"):
        if Kind.WORDS in kinds and before != after:
            yield f"{INDENT}old: {before}"
            yield f"{INDENT}new: {after}"
    lines = [sources.line(old), sources.line(new)]
    if lines[0] != lines[1]:
        yield f"{INDENT}old | {lines[0]}"
        yield f"{INDENT}new | {lines[1]}"
    else:
        yield f"{INDENT}| {lines[1]}"
    if Kind.FIX in kinds:
        yield from (INDENT + line for line in _fixes(sources, old, new))


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


def _fixes(sources: Sources, old: Finding, new: Finding) -> Iterator[str]:
    """What the fixes do: one of them, where the other is missing or does the same, else how their results differ.

    Of one fix the lines that are only indented are left out.
    """
    both = old.fix is not None and new.fix is not None and old.span == new.span and old.fix.edits != new.fix.edits
    before, after = ("old fix", "new fix") if both else ("fix -", "fix +")
    lines: list[str] = []
    for cell in sorted({edit.span.cell for fix in (old.fix, new.fix) if fix for edit in fix.edits}):
        text = sources.text(new.path, cell)
        results = [
            text.edited(edit for edit in fix.edits if edit.span.cell == cell) for fix in (old.fix, new.fix) if fix
        ]
        left, right = (results[0] if both else text.lines), results[-1]
        differ = [line for line in difflib.unified_diff(left, right, n=0, lineterm="") if not line.startswith("@@")][2:]
        for line in differ if both else _without_indented(differ):
            lines.append(f"{before if line[0] == '-' else after} {line[1:]}".rstrip())
    yield from lines[:MAX_LINES]
    if len(lines) > MAX_LINES:
        yield f"and {len(lines) - MAX_LINES} more lines"


def _without_indented(lines: Sequence[str]) -> Iterator[str]:
    """Those lines of a diff that are not both taken out and put in, apart from blank space."""
    texts = {sign: Counter(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+"}
    same = texts["-"] & texts["+"]
    left = {sign: same.copy() for sign in "-+"}
    for line in lines:
        if left[line[0]][line[1:].strip()] > 0:
            left[line[0]][line[1:].strip()] -= 1
        else:
            yield line


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
