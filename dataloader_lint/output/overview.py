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
from dataloader_lint.output.text import line_of, wrapped

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
    head = [*_head(problems, notes, paint, width), *([not_shown(hidden)] if hidden else ()), ""]
    last = [paint("strong", "What next?"), *_next(problems, notes, about, commands, paint, width)]
    below = small.counts(notes, width) if notes else []
    below += [""] if notes else []
    # One line is left for the next prompt.
    room = None if rows is None else rows - len(head) - len(last) - 1
    listed = _fitting(_listings(problems, paint, width), room, len(below)) if len(problems) <= _MOST_LISTED else None
    yield from head
    if listed is not None:
        yield from listed
        yield from small.fitting(notes, paint, width, None if room is None else room - len(listed))[0]
    else:
        sums = _sums(problems, about, paint, width)
        summed = _fitting(sums, room, len(below)) or sums[-1]
        yield from [*summed, *below]
        room = None if room is None else room - len(summed) - len(below)
        yield from _in_full(problems, full, paint, room)
    yield from last


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


def _in_one_line(
    level: Level, found: Sequence[Diagnostic], about: Callable[[str], RuleLine], paint: Paint, width: int
) -> Iterator[str]:
    name = _TITLES[level][0]
    listed = ", ".join(f"{count} {code} {about(code).name}" for code, count in _by_code(found))
    first, *rest = wrapped(f"{name}: {listed}", width)
    yield f"{paint(level.value, name)}{first[len(name) :]}"
    yield from rest


def _by_code(found: Sequence[Diagnostic]) -> list[tuple[str, int]]:
    """The codes with the number of their findings, the most first."""
    return sorted(Counter(one.code for one in found).items(), key=lambda item: (-item[1], item[0]))


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


def _next(
    problems: Sequence[Diagnostic],
    notes: Sequence[Diagnostic],
    about: Callable[[str], RuleLine],
    commands: Commands,
    paint: Paint,
    width: int,
) -> Iterator[str]:
    """A line for each command, with what it does behind it or, where that does not fit, above it."""
    safe = sum(1 for one in (*problems, *notes) if one.fix is not None and one.fix.safety is Safety.SAFE)
    spawned = sum(1 for one in problems if about(one.code).needs_spawning)
    # Each command, what it does, and the same in short.
    more = f", and {plural(len(notes), 'note')}" if notes else ""
    steps = [
        (commands.full, f"show {plural(len(problems), 'problem')} in full{more}", f"{len(problems)} in full{more}"),
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
    wide = max((len(line) for line, _, _ in steps if len(line) <= _ALIGNED), default=0)
    for line, *texts in steps:
        room = width - max(wide, len(line)) - len("    ")
        behind = next((text for text in texts if len(text) <= room), "")
        if behind:
            yield f"  {paint('help', line)}{' ' * (wide - len(line))}  {behind}"
        else:
            yield f"  {texts[0] if len(texts[0]) < width - 3 else texts[1]}:"
            yield f"    {paint('help', line)}"
