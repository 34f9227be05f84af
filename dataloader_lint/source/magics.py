"""What IPython understands in a cell and Python does not: magics, shell lines and help, replaced line by line.

The Python that is left keeps its lines, and a note of every replaced piece leads back to the text of the cell.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Generator, Iterator
from dataclasses import dataclass

# Cell magics that run the cell in the notebook's own names. What all others do with it is not known to be Python, or it
# runs in another process or goes into a file.
_RUNNING = frozenset({"capture", "debug", "prun", "time", "timeit"})
_STATEMENT = "pass"
_VALUE = "get_ipython()"  # something that nothing is known about

_NEWLINE = r"(?>\r\n|\r|\n)"  # which nothing may take for two
_LINE_END = re.compile(_NEWLINE)
_LINE = re.compile(rf"[^\r\n]*(?:{_NEWLINE}|\Z)")
# With the lines that follow a backslash at the end.
_LONG_LINE = re.compile(rf"(?:[^\\\r\n]|\\(?!{_NEWLINE})|\\{_NEWLINE})*")
_BLANK = re.compile(r"\s*")
_INDENTATION = re.compile(r"[ \t\f]*")
_MARGIN = re.compile(rf"(?:[ \t]*{_NEWLINE})*([ \t]+)\S")
_BEHIND_HELP = re.compile(r"[? \t;]*")
_CELL_MAGIC = re.compile(r"%%([A-Za-z_]\w*)(?=\s|\Z)")
_TIMED = re.compile(r"%time[ \t]+(?=\S)")
# What ends a logical line, brackets, what hides them, and what only IPython knows.
_TOKEN = re.compile(
    rf"""(?P<comment>\#[^\r\n]*)
    | (?P<quotes>\"\"\"|''') (?:\\.|(?!(?P=quotes)).)* (?:(?P=quotes)|\Z)
    | "(?:\\.|[^"\\\r\n])*"? | '(?:\\.|[^'\\\r\n])*'?
    | (?P<joined>\\{_NEWLINE})
    | (?P<open>[(\[{{]) | (?P<close>[)\]}}])
    | (?P<end>{_NEWLINE})
    | (?P<assigned>(?<![=!<>:])=[ \t]*)(?=[!%])
    | (?P<help>\?)""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Hidden:
    """A piece of a cell that stands differently in its Python: from `start` to `end` there, `original` in the cell."""

    start: int
    end: int
    original: str

    def shifted(self, by: int) -> Hidden:
        """The same piece further down in a longer text."""
        return Hidden(self.start + by, self.end + by, self.original)


def to_python(cell: str) -> tuple[str, tuple[Hidden, ...]]:
    """The Python of a cell, with as many lines, and where it differs from the cell.

    Nothing of a cell is left whose magic runs something else. A cell that is no Python in other ways stays as it is.
    """
    first = _BLANK.match(cell)
    assert first is not None
    begin = first.end()
    magic = _CELL_MAGIC.match(cell, begin)
    if magic is not None and magic[1] not in _RUNNING:
        return blanked(cell)
    replaced: list[tuple[int, int, str]] = []
    if magic is not None:
        line = _LINE.match(cell, begin)
        assert line is not None
        end = begin + len(line.group().rstrip("\r\n"))
        replaced.append((begin, end, _STATEMENT))
        begin = line.end()
    replaced += _escapes(cell, begin)
    ends = [end for _, end, _ in replaced]  # in order, as these do not overlap
    margins = []
    for margin in _margins(cell):
        behind = bisect_right(ends, margin[0])
        if behind == len(replaced) or replaced[behind][0] >= margin[1]:
            margins.append(margin)
    return _replace(cell, sorted([*replaced, *margins]))


def blanked(cell: str) -> tuple[str, tuple[Hidden, ...]]:
    """A cell with nothing left but its lines."""
    ends = "\n" * len(_LINE_END.findall(cell))
    return ends, (Hidden(0, len(ends), cell),)


def _replace(cell: str, pieces: list[tuple[int, int, str]]) -> tuple[str, tuple[Hidden, ...]]:
    parts: list[str] = []
    hidden: list[Hidden] = []
    position = length = 0
    for start, end, shown in pieces:
        parts += (cell[position:start], shown)
        length += start - position
        hidden.append(Hidden(length, length + len(shown), cell[start:end]))
        length += len(shown)
        position = end
    parts.append(cell[position:])
    return "".join(parts), tuple(hidden)


def _margins(cell: str) -> Iterator[tuple[int, int, str]]:
    """The indentation of a cell that is indented as a whole, which IPython takes away."""
    text = cell.lstrip("\r\n")
    found = _MARGIN.match(text)
    if found is None:
        return
    margin = found[1]
    for line in _LINE.finditer(cell):
        if line.group().startswith(margin) and line.group().strip():
            yield line.start(), line.start() + len(margin), ""


def _escapes(cell: str, begin: int) -> Iterator[tuple[int, int, str]]:
    """The magics, shell lines and questions from an offset on, each as start, end and what takes its place."""
    position = begin
    while position < len(cell):
        indentation = _INDENTATION.match(cell, position)
        assert indentation is not None
        position = indentation.end()
        timed = _TIMED.match(cell, position)
        if timed is not None:  # the statement behind it runs as it stands
            yield position, timed.end(), ""
            position = timed.end()
        if cell[position : position + 1] in tuple("!%?,;/"):
            end = _long_line_end(cell, position)
            yield position, end, _with_lines(_STATEMENT, cell[position:end])
            position = _next_line(cell, end)
            continue
        position = yield from _logical_line(cell, position)


def _logical_line(cell: str, begin: int) -> Generator[tuple[int, int, str], None, int]:
    """Yield what Python does not know in a logical line, and return where the next one begins."""
    depth = 0
    position = begin
    while (token := _TOKEN.search(cell, position)) is not None:
        position = token.end()
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth = max(0, depth - 1)
        elif token["end"] and not depth:
            return position
        elif token["assigned"] and not depth:
            end = _long_line_end(cell, position)
            yield position, end, _with_lines(_VALUE, cell[position:end])
            return _next_line(cell, end)
        elif token["help"] and not depth:
            position = _end_of_match(_BEHIND_HELP, cell, position)
            if cell[position : position + 1] in ("", "\r", "\n"):
                yield begin, position, _with_lines(_STATEMENT, cell[begin:position])
                return _next_line(cell, position)
    return len(cell)


def _with_lines(shown: str, original: str) -> str:
    """What takes the place of some text, with as many lines."""
    return shown + "\n" * len(_LINE_END.findall(original))


def _long_line_end(cell: str, position: int) -> int:
    return _end_of_match(_LONG_LINE, cell, position)


def _next_line(cell: str, position: int) -> int:
    return _end_of_match(_LINE, cell, position)


def _end_of_match(pattern: re.Pattern[str], cell: str, position: int) -> int:
    found = pattern.match(cell, position)
    assert found is not None
    return found.end()
