"""The first look at an old code base, on one screen: what there is, worst first, where, and what to do next.

As many problems as fit have a line each. If there are more, each rule has a line with the place of its first finding,
and some problems are shown in full as far as there is room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dataloader_lint.diagnostics import Diagnostic, Level, Safety
from dataloader_lint.output import listing
from dataloader_lint.output import notes as small
from dataloader_lint.output.levels import counted, not_shown, plural
from dataloader_lint.output.paint import Paint
from dataloader_lint.output.text import cut, line_of, wrapped

_SHOWN = 3
# More problems than this are summed up by rule, however large the screen.
_MOST_LISTED = 20
# Fewer problems than this are solved rather than put into a baseline.
_FOR_A_BASELINE = 6
_PROBLEMS = (Level.ERROR, Level.WARNING)
_TITLES = {
    Level.ERROR: ("Errors", "raise, hang, or give wrong data"),
    Level.WARNING: ("Warnings", "fail where workers are spawned: macOS, Windows, Python 3.14"),
    Level.MEMORY: ("Memory", "costs memory or open files in every worker"),
    Level.SPEED: ("Speed", "costs time"),
    Level.OPINION: ("Opinion", "a matter of policy, such as a limit of your own"),
}
_MARGIN = " " * len(f"{1:>6}  DL301  ")

Lines = list[str]


@dataclass(frozen=True, slots=True)
class RuleLine:
    """What the overview says of a rule; `needs_spawning` is True if it says nothing where workers are forked."""

    name: str
    summary: str
    needs_spawning: bool


@dataclass(frozen=True, slots=True)
class Commands:
    """Command lines to type next: `full` and so on report the same findings of the same files, each in its way.

    An empty one is not offered. `explain` is followed by the code of a rule.
    """

    full: str
    explain: str
    fix: str
    write_baseline: str
    fork: str


def emit(
    diagnostics: Sequence[Diagnostic],
    about: Callable[[str], RuleLine],
    full: Callable[[Sequence[Diagnostic]], Iterator[str]],
    commands: Commands,
    paint: Paint,
    width: int,
    rows: int | None = None,
    *,
    hidden: int = 0,
) -> Iterator[str]:
    """Yields the lines.

    `about` tells of a rule by its code, `full` shows findings in full, `width` and `rows` are those of the terminal,
    `hidden` is how many more findings the baseline holds.
    """
    problems = sorted(
        (one for one in diagnostics if one.level is not Level.NOTE), key=lambda one: (one.level.rank, one.sort_key)
    )
    notes = [one for one in diagnostics if one.level is Level.NOTE]
    head = [*_head(problems, notes, paint, width), *(wrapped(not_shown(hidden), width) if hidden else ()), ""]
    below = [*small.counts(notes, width), ""] if notes else []
    sums = _sums(problems, about, paint, width)
    last: Lines = []
    room: int | None = None
    for is_whole in (True, False):
        steps = _next(problems, notes, about, commands, paint, width, is_whole=is_whole)
        last = [paint("strong", "What next?"), *steps]
        # One line is left for the next prompt.
        room = None if rows is None else rows - len(head) - len(last) - 1
        if is_whole and len(problems) <= _MOST_LISTED:
            listed = _fitting(_listings(problems, paint, width), room, len(below))
            if listed is not None:
                left = None if room is None else room - len(listed)
                yield from [*head, *listed, *small.fitting(notes, paint, width, left)[0], *last]
                return
        summed = _fitting(sums, room, len(below))
        if summed is not None:
            left = None if room is None else room - len(summed) - len(below)
            yield from [*head, *summed, *below, *_in_full(problems, full, paint, left), *last]
            return
    # Not even a line for each rule below a title for each level: as many of the worst as fit, the others counted.
    room = max(1, room - len(below) - 1) if room is not None else len(problems)
    yield from [*head, *_worst_rules(problems, about, paint, width, room), "", *below, *last]


def _head(problems: Sequence[Diagnostic], notes: Sequence[Diagnostic], paint: Paint, width: int) -> Iterator[str]:
    files = plural(len({one.filename for one in problems}), "file")
    more = f"; {plural(len(notes), 'note')}" if notes else ""
    text = f"{plural(len(problems), 'problem')} in {files}: {counted(problems)}{more}."
    return (paint("strong", line) for line in wrapped(text, width))


def _fitting(versions: Sequence[Lines], room: int | None, below: int) -> Lines | None:
    """The first of several versions that leaves as many lines as are wanted below it."""
    return next((lines for lines in versions if room is None or len(lines) + below <= room), None)


def _listings(problems: Sequence[Diagnostic], paint: Paint, width: int) -> list[Lines]:
    """The problems one by one, in fewer and fewer lines, at last without headings."""
    by_level = {level: [one for one in problems if one.level is level] for level in _TITLES}
    sections = {
        level: (_title(level, paint, width), listing.versions(found, paint, width))
        for level, found in by_level.items()
        if found
    }
    spaced = [line for title, (whole, *_) in sections.values() for line in (*title, *whole, "")]
    made = [
        [line for title, several in sections.values() for line in (*title, *several[version])] for version in range(3)
    ]
    made.append([line for _, several in sections.values() for line in several[-1]])
    return [spaced, *([*lines, ""] for lines in made)]


def _sums(problems: Sequence[Diagnostic], about: Callable[[str], RuleLine], paint: Paint, width: int) -> list[Lines]:
    """The problems by rule, in fewer and fewer lines: with what each rule finds, without, and costs without places."""
    made: list[Lines] = [[], [], []]
    for level in _TITLES:
        found = [one for one in problems if one.level is level]
        if not found:
            continue
        title = _title(level, paint, width)
        made[0] += [*title, *_by_rule(found, about, paint, width, has_summaries=True), ""]
        lines = [*title, *_by_rule(found, about, paint, width, has_summaries=False), ""]
        made[1] += lines
        made[2] += lines if level in _PROBLEMS else _in_one_line(level, found, about, paint, width)
    made[2] += [""] if made[2][-1] else []
    return made


def _title(level: Level, paint: Paint, width: int) -> Lines:
    name, meaning = _TITLES[level]
    first, *rest = wrapped(f"{name} ({meaning})", width)
    return [
        f"{paint(level.value, name)}{paint('quiet', first[len(name) :])}",
        *(paint("quiet", line) for line in rest),
    ]


def _by_rule(
    found: Sequence[Diagnostic], about: Callable[[str], RuleLine], paint: Paint, width: int, *, has_summaries: bool
) -> Iterator[str]:
    for code, count in _by_code(found):
        rule = about(code)
        own = [one for one in found if one.code == code]
        files = len({one.filename for one in own})
        where = line_of(own[0]) if count == 1 else f"{plural(files, 'file')}, first {line_of(own[0])}"
        head = f"{count:>6}  {code}  "
        first, *rest = wrapped(f"{head}{rule.name}: {where}", width, _MARGIN, together=len(head))
        yield f"{count:>6}  {paint(own[0].level.value, code)}  {first[len(head) :]}"
        yield from rest
        if has_summaries:
            yield from (
                paint("quiet", line) for line in wrapped(_MARGIN + rule.summary, width, _MARGIN, together=len(_MARGIN))
            )


def _worst_rules(
    problems: Sequence[Diagnostic], about: Callable[[str], RuleLine], paint: Paint, width: int, room: int
) -> Iterator[str]:
    """A line for each rule, the worst first; the last of `room` lines counts what does not fit."""
    levels = {one.code: one.level for one in problems}
    counts = _by_code(problems)
    whole = list(_by_rule(problems, about, paint, width, has_summaries=False))
    if len(whole) <= room:
        yield from whole
        return
    shown = len(counts) if len(counts) <= room else room - 1
    for code, count in counts[:shown]:
        where = next(line_of(one) for one in problems if one.code == code)
        head = f"{count:>6}  {code}  "
        text = f"{about(code).name}: {where}"
        text = text if len(head) + len(text) <= width else cut(about(code).name, width - len(head))
        yield f"{count:>6}  {paint(levels[code].value, code)}  {text}"
    if shown < len(counts):
        rest = sum(count for _, count in counts[shown:])
        yield f"{rest:>6}  of {plural(len(counts) - shown, 'more rule' if shown else 'rule')}"


def _in_one_line(
    level: Level, found: Sequence[Diagnostic], about: Callable[[str], RuleLine], paint: Paint, width: int
) -> Iterator[str]:
    name = _TITLES[level][0]
    listed = ", ".join(f"{count} {code} {about(code).name}" for code, count in _by_code(found))
    first, *rest = wrapped(f"{name}: {listed}", width)
    yield f"{paint(level.value, name)}{first[len(name) :]}"
    yield from rest


def _by_code(found: Sequence[Diagnostic]) -> list[tuple[str, int]]:
    """The codes with the number of their findings, the worst first and then the most."""
    ranks = {one.code: one.level.rank for one in found}
    return sorted(Counter(one.code for one in found).items(), key=lambda item: (ranks[item[0]], -item[1], item[0]))


def _in_full(
    problems: Sequence[Diagnostic],
    full: Callable[[Sequence[Diagnostic]], Iterator[str]],
    paint: Paint,
    room: int | None,
) -> Iterator[str]:
    """A heading and the worst problems, each of another rule, as far as there is room."""
    shown: list[Lines] = []
    left = None if room is None else room - 2
    for one in list({one.code: one for one in reversed(problems)}.values())[::-1][:_SHOWN]:
        lines = list(full([one]))
        if left is not None and len(lines) > left:
            break
        left = None if left is None else left - len(lines)
        shown.append(lines)
    if shown:
        many = len(shown) > 1
        yield paint("strong", f"{len(shown)} of the worst:" if many else f"The worst of {len(problems)}:")
        yield ""
        for each in shown:
            yield from each


# Commands are aligned with those of at most so many characters.
_ALIGNED = 44
# So many of them are named where there is little room.
_FEW = 3


def _next(
    problems: Sequence[Diagnostic],
    notes: Sequence[Diagnostic],
    about: Callable[[str], RuleLine],
    commands: Commands,
    paint: Paint,
    width: int,
    *,
    is_whole: bool,
) -> Iterator[str]:
    """A line for each command, with what it does behind it or, where that does not fit, above it.

    Of what is not whole, there are only the first three commands, and only those that fit into a line.
    """
    safe = sum(1 for one in (*problems, *notes) if one.fix is not None and one.fix.safety is Safety.SAFE)
    spawned = sum(1 for one in problems if about(one.code).needs_spawning)
    # Each command, what it does, and the same in short.
    more = f", and {plural(len(notes), 'note')}" if notes else ""
    every = plural(len(problems), "problem")
    steps = [
        (commands.full, f"show {every} in full{more}", f"{len(problems)} in full{more}", f"{len(problems)} in full"),
        (f"{commands.explain} {problems[0].code}", "why, and what to do instead", "why"),
    ]
    if safe and commands.fix:
        steps.append((commands.fix, f"fix the {safe} marked [*] (`--diff` shows how)", f"fix {safe} ([*])"))
    if spawned and commands.fork:
        text = f"only Linux and Python < 3.14? {spawned} fewer"
        steps.append((commands.fork, text, f"only Linux: {spawned} fewer"))
    if len(problems) >= _FOR_A_BASELINE and commands.write_baseline:
        accept = "accept what is there"
        steps.append((commands.write_baseline, f"{accept}; `--baseline` then reports new ones only", accept))
    steps = steps if is_whole else steps[:_FEW]
    wide = max((len(line) for line, *_ in steps if len(line) <= _ALIGNED), default=0)
    for line, *texts in steps:
        room = width - max(wide, len(line)) - len("    ")
        behind = next((text for text in texts if len(text) <= room), "")
        if behind:
            yield f"  {paint('help', line)}{' ' * (wide - len(line))}  {behind}"
        elif is_whole:
            yield f"  {next((text for text in texts if len(text) < width - 3), texts[-1])}:"
            yield f"    {paint('help', line)}"
        elif len(line) <= width - 2:
            yield f"  {paint('help', line)}"
