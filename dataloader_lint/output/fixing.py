"""What `--fix` did and what it left, by rule, each with the reason in a few words; at most a screen of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from dataloader_lint.diagnostics import Diagnostic, Safety
from dataloader_lint.output.text import neutralise, shown_path

WIDTH = 80
_LINES = 20
_MOST_FILES = 5
_NEEDS_UNSAFE = "needs --unsafe-fixes"
_NO_AUTOFIX = "no autofix"


def emit(
    fixed: Mapping[str, int], remaining: Sequence[Diagnostic], name_of: Callable[[str], str], *, would: bool = False
) -> Iterator[str]:
    """Yields one line for each rule that was fixed, and for each reason why findings of a rule were left.

    `fixed` counts fixes by code, `name_of` gives a rule's name by its code, `would` is True of `--diff`. What has no
    autofix at all is one line. A line has at most 80 columns.
    """
    done = "fix" if would else "fixed"
    lines = [f"  {done} {count} {code} {name_of(code)}" for code, count in sorted(fixed.items())]
    left: dict[tuple[str, str], list[Diagnostic]] = {}
    for one in remaining:
        left.setdefault((one.code, _reason(one)), []).append(one)
    without = Counter({code: len(found) for (code, reason), found in left.items() if reason == _NO_AUTOFIX})
    ordered = sorted(left.items(), key=lambda each: (each[0][1] != _NEEDS_UNSAFE, each[0]))
    lines += [_left(code, reason, found) for (code, reason), found in ordered if reason != _NO_AUTOFIX]
    if without:
        lines.append(_cut(f"  left {without.total()}: {_NO_AUTOFIX} for {', '.join(sorted(without))}"))
    if len(lines) > _LINES:
        lines[_LINES - 1 :] = [f"  and {len(lines) - _LINES + 1} more: see `no_fix` of --output-format json"]
    yield from lines


def changed(paths: Sequence[str]) -> str:
    """The line that names the files that were changed, as many as fit, and counts the others."""
    names = [shown_path(path) for path in paths]
    for shown in range(min(len(names), _MOST_FILES), 0, -1):
        left = len(names) - shown
        line = f"  changed {', '.join(names[:shown])}{f' and {left} more' if left else ''}"
        if len(line) <= WIDTH or shown == 1:
            return line
    return ""


def _reason(one: Diagnostic) -> str:
    if one.fix is not None:
        return _NEEDS_UNSAFE if one.fix.safety is Safety.UNSAFE else "could not be written"
    return one.no_fix or _NO_AUTOFIX


def _left(code: str, reason: str, found: Sequence[Diagnostic]) -> str:
    """Names the place where there is one, and the end of its path where that is long."""
    line = f"  left {len(found)} {code}: {neutralise(reason)}"
    if len(found) > 1:
        return _cut(line)
    cell = f"cell {found[0].cell}:" if found[0].cell is not None else ""
    place = f"{shown_path(found[0].filename)}:{cell}{found[0].start.line}"
    room = WIDTH - len(line) - 3
    return _cut(f"{line} ({place if len(place) <= room else '...' + place[max(0, len(place) - room + 3) :]})")


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."
