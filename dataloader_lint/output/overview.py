"""The first look at an old code base: what there is, worst first, some findings in full, and what to do next.

It fits the screen: problems have a line for each rule and are shown in full as far as there is room, costs and notes
have one line for each level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dataloader_lint.diagnostics import Diagnostic, Level, Safety
from dataloader_lint.output.levels import MEANINGS, counted, plural
from dataloader_lint.output.paint import Paint

_SHOWN = 3
_PROBLEMS = (Level.ERROR, Level.WARNING)
# Headings of levels, which the text below them explains.
_TITLES = {
    Level.ERROR: "Errors",
    Level.WARNING: "Warnings",
    Level.MEMORY: "Memory",
    Level.SPEED: "Speed",
    Level.OPINION: "Opinion",
    Level.NOTE: "Notes",
}


@dataclass(frozen=True, slots=True)
class RuleLine:
    """What the overview says of a rule; `needs_spawning` is True if it says nothing where workers are forked."""

    name: str
    summary: str
    needs_spawning: bool


def emit(
    diagnostics: Sequence[Diagnostic],
    about: Callable[[str], RuleLine],
    full: Callable[[Sequence[Diagnostic]], Iterator[str]],
    command: Callable[..., str],
    paint: Paint,
    width: int,
    rows: int | None = None,
) -> Iterator[str]:
    """Yields the lines.

    `about` tells of a rule by its code, `full` shows findings in full, `command` writes a command line with some more
    options, `width` and `rows` are those of the terminal.
    """
    problems = [one for one in diagnostics if one.level is not Level.NOTE]
    files = len({one.filename for one in problems})
    total = f"{len(problems)} problems in {files} file{'' if files == 1 else 's'}"
    notes = f"; {plural(len(diagnostics) - len(problems), 'note')}" if len(problems) < len(diagnostics) else ""
    lines = [paint("strong", f"{total}: {counted(problems)}{notes}."), ""]
    for level in Level:
        found = [one for one in diagnostics if one.level is level]
        make = _of_level if level in _PROBLEMS else _in_one_line
        lines += make(level, found, about, paint, width) if found else ()
    lines += [""] if lines[-1] else ()
    last = [paint("strong", "What next?"), *_next(diagnostics, about, command, paint, width)]
    room = None if rows is None else rows - len(lines) - len(last) - _AROUND
    shown = _that_fit(_worst(problems), full, room)
    yield from lines
    if shown:
        many = len(shown) > 1
        yield paint("strong", f"{len(shown)} of the worst:" if many else f"The worst of {len(problems)}:")
        yield ""
        for each in shown:
            yield from each
    yield from last


# The heading of what is shown in full, and the next prompt.
_AROUND = 4


def _that_fit(
    worst: Sequence[Diagnostic], full: Callable[[Sequence[Diagnostic]], Iterator[str]], room: int | None
) -> list[list[str]]:
    """The lines of the worst findings, as many as there is room for."""
    shown: list[list[str]] = []
    for one in worst:
        lines = list(full([one]))
        if room is not None and len(lines) > room:
            break
        room = None if room is None else room - len(lines)
        shown.append(lines)
    return shown


def _of_level(
    level: Level, found: Sequence[Diagnostic], about: Callable[[str], RuleLine], paint: Paint, width: int
) -> Iterator[str]:
    meaning = _cut(f"({MEANINGS[level]})", width - len(_TITLES[level]) - 1)
    yield f"{paint(level.value, _TITLES[level])} {paint('quiet', meaning)}"
    for code, count in _by_code(found):
        rule = about(code)
        head = f"{count:>6}  {paint(level.value, code)}  "
        yield head + _cut(f"{rule.name}: {rule.summary}", width - len(f"{count:>6}  {code}  "))
    yield ""


def _in_one_line(
    level: Level, found: Sequence[Diagnostic], about: Callable[[str], RuleLine], paint: Paint, width: int
) -> Iterator[str]:
    text = ", ".join(f"{count} {code} {about(code).name}" for code, count in _by_code(found))
    yield f"{paint(level.value, _TITLES[level])}: {_cut(text, width - len(_TITLES[level]) - 2)}"


def _by_code(found: Sequence[Diagnostic]) -> list[tuple[str, int]]:
    """The codes with the number of their findings, the most first."""
    return sorted(Counter(one.code for one in found).items(), key=lambda item: (-item[1], item[0]))


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: max(room - 1, 0)]}…"


def _worst(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """A few findings of the worst levels, of as many rules as there are."""
    ordered = sorted(diagnostics, key=lambda one: (one.level.rank, one.sort_key))
    first = list({one.code: one for one in reversed(ordered)}.values())[::-1]
    worst = sorted(first, key=lambda one: (one.level.rank, one.sort_key))
    return worst[:_SHOWN]


def _next(
    diagnostics: Sequence[Diagnostic],
    about: Callable[[str], RuleLine],
    command: Callable[..., str],
    paint: Paint,
    width: int,
) -> Iterator[str]:
    safe = sum(1 for one in diagnostics if one.fix is not None and one.fix.safety is Safety.SAFE)
    left = sum(1 for one in diagnostics if not about(one.code).needs_spawning)
    # Each command, what it does, and the same in short.
    steps = [(command("--full"), f"show all {len(diagnostics)}", f"show all {len(diagnostics)}")]
    if safe:
        steps.append((command("--fix"), f"fix {safe} safely (`--diff` shows how)", f"fix {safe} safely"))
    baseline = command("--write-baseline", "dataloader-lint.json")
    steps.append((baseline, "report only new ones from now on (`--baseline`)", "report only new ones"))
    if left < len(diagnostics):
        forked = command("--start-method", "fork")
        steps.append((forked, f"Linux only and Python < 3.14? This leaves {left}", f"only on Linux? {left} left"))
    wide = max(len(line) for line, _, _ in steps)
    room = width - wide - len("    ")
    if room < max(len(short) for _, _, short in steps):  # long paths: commands stay whole, to be copied
        for line, text, _ in steps:
            yield f"  {_cut(text, width - 3)}:"
            yield f"    {paint('help', line)}"
        return
    for line, text, short in steps:
        fitting = text if len(text) <= room else short
        yield f"  {paint('help', line)}{' ' * (wide - len(line))}  {fitting}"
