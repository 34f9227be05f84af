"""Problem, place, source with the finding marked, advice, the chain of steps that shows it, link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from dataloader_lint.diagnostics import Diagnostic, Position
from dataloader_lint.output.copies import named, with_copies
from dataloader_lint.output.paint import Paint
from dataloader_lint.output.places import Lines
from dataloader_lint.output.text import draw_line, marker, neutralise, shown_place, wrapped

_CONTEXT = 2
_MOST_MARKED_LINES = 8


def emit(
    diagnostics: Iterable[Diagnostic],
    lines_of: Lines,
    url_of: Callable[[str], str],
    paint: Paint,
    width: int,
    *,
    unsafe: bool = False,
    columns: int | None = None,
    has_links: bool = False,
) -> Iterator[str]:
    """Yields the lines of the report.

    `width` is how many columns of source fit beside the line numbers, `unsafe` whether unsafe fixes count as fixable.
    What is the same in several files is shown once. Text is broken between words into lines of `columns`, in a
    terminal; one that `has_links` gets names of pages in place of their addresses.
    """

    def filled(label: str, painted: str, text: str, style: str = "") -> Iterator[str]:
        whole = f"{label} {neutralise(text)}"
        lines = [whole] if columns is None else wrapped(whole, columns)
        for number, line in enumerate(lines):
            rest = line if number else line[len(label) :]
            yield ("" if number else painted) + (paint(style, rest) if style else rest)

    for one, copies in with_copies(diagnostics, lines_of, unsafe=unsafe):
        level = one.level.value
        mark = marker(one, unsafe=unsafe)
        head = f"{paint(level, one.code)}{paint('help', mark)} {paint(level, level)}:"
        yield from filled(f"{one.code}{mark} {level}:", head, one.problem, "strong")
        lines = lines_of(one)
        numbers = _line_numbers(one, len(lines))
        gutter = " " * len(str(numbers[-1] if numbers else one.start.line))
        arrow = f"{gutter}-->"
        yield from filled(
            arrow, f"{gutter}{paint('place', '-->')}", f"{shown_place(one)}{f' {one.also}' if one.also else ''}"
        )
        if numbers:
            edge = paint("edge", f"{gutter} |")
            yield edge
            yield from _snippet(one, lines, numbers, gutter, paint, width)
            yield edge
        if copies:
            yield from filled("also in:", paint("quiet", "also in:"), named(copies))
        if one.advice:
            yield from filled("help:", paint("help", "help:"), one.advice)
        for reason in one.because:
            yield from filled("because:", paint("quiet", "because:"), f"{reason.text} ({shown_place(reason)})")
        yield paint("quiet", _docs(one.code, url_of(one.code), columns, has_links=has_links))
        yield ""


def _docs(code: str, url: str, columns: int | None, *, has_links: bool) -> str:
    """Where the page of a rule is; what shows it, where a terminal would break its address."""
    shown = f"docs: {url}"
    if has_links:
        return f"docs: {linked(url)}"
    return shown if columns is None or len(shown) <= columns else f"docs: dataloader-lint --explain {code}"


def linked(url: str) -> str:
    """The name of a page as a hyperlink of terminals (OSC 8)."""
    return f"\x1b]8;;{url}\x1b\\{url.rstrip('/').rpartition('/')[2]}\x1b]8;;\x1b\\"


def _line_numbers(one: Diagnostic, total: int) -> list[int]:
    """The lines to show: the marked ones with some around them, without blank ones at either end."""
    if one.start.line > total:
        return []
    last = min(max(one.end.line, one.start.line), total)
    return list(range(max(1, one.start.line - _CONTEXT), min(total, last + _CONTEXT) + 1))


def _snippet(
    one: Diagnostic, lines: Sequence[str], numbers: list[int], gutter: str, paint: Paint, width: int
) -> Iterator[str]:
    start, end = one.start, one.end
    while numbers[0] < start.line and not lines[numbers[0] - 1].strip():
        numbers = numbers[1:]
    while numbers[-1] > end.line and not lines[numbers[-1] - 1].strip():
        numbers = numbers[:-1]
    left = _left_edge(lines, start, end, width)
    spread = end.line > start.line
    skipped = range(start.line + _MOST_MARKED_LINES - 3, end.line - 1)
    skipped = skipped if end.line - start.line >= _MOST_MARKED_LINES else range(0)
    begins_line = not lines[start.line - 1][: start.column].strip()
    for number in numbers:
        if number in skipped:
            if number == skipped[0]:
                yield f"{paint('edge', '...')} {paint('mark', '|')}"
            continue
        source, columns = widen(lines[number - 1], left, width)
        rail = ""
        if spread:
            inside = start.line < number <= end.line
            rail = "| " if inside else "/ " if number == start.line and begins_line else "  "
        label = paint("edge", f"{number:>{len(gutter)}} |")
        yield f"{label} {paint('mark', rail) if rail.strip() else rail}{source}".rstrip()
        marks = _marks(number, start, end, columns, left, begins_line)
        if marks:
            yield f"{paint('edge', f'{gutter} |')} {paint('mark', marks)}"


def _marks(number: int, start: Position, end: Position, columns: list[int], left: int, begins_line: bool) -> str:
    """What stands below a line: carets below a finding on one line, else the corners of the rail beside it."""

    def column(of: int) -> int:
        return columns[min(max(of - left, 0), len(columns) - 1)]

    if start.line == end.line:
        if number != start.line:
            return ""
        first = column(start.column)
        return " " * first + "^" * max(1, column(end.column) - first)
    if number == start.line and not begins_line:
        return " " + "_" * (column(start.column) + 1) + "^"
    if number == end.line:
        return "|" + "_" * max(column(end.column), 1) + "^"
    return ""


def _left_edge(lines: Sequence[str], start: Position, end: Position, width: int) -> int:
    """From which character on the lines are shown, so that the marked place of a long line is in sight."""
    marked_to = end.column if end.line == start.line else len(lines[start.line - 1])
    if marked_to <= width:
        return 0
    room = width - (marked_to - start.column) - 1  # for what stands ahead, the last of it an ellipsis
    if room < 1:
        return 0 if start.column <= width // 2 else start.column - width // 3
    return max(start.column - min(width // 3, room), 0)


def widen(line: str, left: int, width: int) -> tuple[str, list[int]]:
    """The part of a line that fits, with an ellipsis where something is left out."""
    source, columns = draw_line(line[left : left + width])
    if left:
        source = "…" + source[1:]
    return source + ("…" if len(line) > left + width else ""), columns
