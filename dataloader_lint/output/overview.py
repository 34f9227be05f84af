"""The first look at an old code base: what there is, worst first, three findings in full, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dataloader_lint.diagnostics import Diagnostic, Level, Safety
from dataloader_lint.output.levels import MEANINGS, counted, plural
from dataloader_lint.output.paint import Paint

_SHOWN = 3
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
) -> Iterator[str]:
    """Yields the lines.

    `about` tells of a rule by its code, `full` shows findings in full, `command` writes a command line with some more
    options, `width` is that of the terminal.
    """
    problems = [one for one in diagnostics if one.level is not Level.NOTE]
    files = len({one.filename for one in problems})
    total = f"{len(problems)} problems in {files} file{'' if files == 1 else 's'}"
    notes = f"; {plural(len(diagnostics) - len(problems), 'note')}" if len(problems) < len(diagnostics) else ""
    yield paint("strong", f"{total}: {counted(problems)}{notes}.")
    yield ""
    for level in Level:
        yield from _of_level(level, [one for one in diagnostics if one.level is level], about, paint, width)
    shown = _worst(problems)
    yield paint("strong", f"The worst of {len(problems)}:" if len(shown) == 1 else f"{len(shown)} of the worst:")
    yield ""
    yield from full(shown)
    yield paint("strong", "What next?")
    yield from _next(diagnostics, about, command, paint)


def _of_level(
    level: Level, found: Sequence[Diagnostic], about: Callable[[str], RuleLine], paint: Paint, width: int
) -> Iterator[str]:
    if not found:
        return
    yield f"{paint(level.value, _TITLES[level])} {paint('quiet', f'({MEANINGS[level]})')}"
    for code, count in sorted(Counter(one.code for one in found).items(), key=lambda item: (-item[1], item[0])):
        rule = about(code)
        text = f"{rule.name}: {rule.summary}"
        room = width - len(f"{count:>6}  {code}  ")
        text = text if len(text) <= room else f"{text[: max(room - 1, 0)]}…"
        yield f"{count:>6}  {paint(level.value, code)}  {text}"
    yield ""


def _worst(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """A few findings of the worst levels, of as many rules as there are."""
    ordered = sorted(diagnostics, key=lambda one: (one.level.rank, one.sort_key))
    first = list({one.code: one for one in reversed(ordered)}.values())[::-1]
    worst = sorted(first, key=lambda one: (one.level.rank, one.sort_key))
    return worst[:_SHOWN]


def _next(
    diagnostics: Sequence[Diagnostic], about: Callable[[str], RuleLine], command: Callable[..., str], paint: Paint
) -> Iterator[str]:
    safe = sum(1 for one in diagnostics if one.fix is not None and one.fix.safety is Safety.SAFE)
    left = sum(1 for one in diagnostics if not about(one.code).needs_spawning)
    steps = [(command("--full"), f"show all {len(diagnostics)}")]
    if safe:
        steps.append((command("--fix"), f"fix {safe} safely (`--diff` shows how)"))
    steps.append(
        (command("--write-baseline", "dataloader-lint.json"), "report only new ones from now on (`--baseline`)")
    )
    if left < len(diagnostics):
        steps.append((command("--start-method", "fork"), f"Linux only and Python < 3.14? This leaves {left}"))
    wide = max(len(line) for line, _ in steps)
    for line, text in steps:
        yield f"  {paint('help', line)}{' ' * (wide - len(line))}  {text}"
