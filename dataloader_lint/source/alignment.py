"""Where the code that LibCST writes stands in the text that it was parsed from.

LibCST does not give every file back as it was: it drops lines that hold only a backslash, form feeds before statements,
and a carriage return at the end. All of these are blank space to Python, so the n-th character that is none of them is
the same one in the code and in the text. Where that does not hold, nothing can be said about places.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from dataloader_lint.source.decoding import UnreadableError, line_starts

# A backslash counts as blank because it is one at the end of a line; elsewhere it is part of a string on both sides.
_VISIBLE = re.compile(r"[^ \t\f\r\n\\]+")


class Alignment:
    """Takes offsets in generated code to offsets in a text that differs from it in blank space and backslashes only."""

    def __init__(self, code: str, text: str) -> None:
        """Raises UnreadableError, with the first line that differs, where the two hold other characters as well."""
        self._code = _Runs(code)
        self._text = _Runs(text)
        difference = self._code.first_difference(self._text)
        if difference is not None:
            line = bisect_right(line_starts(text), difference)
            raise UnreadableError(
                "LibCST does not give this line back as it is written, so no position in this file is known",
                "write it in another way, or exclude the file",
                line,
            )

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span in the text of one in the code, from its first visible character to its last one.

        A span of blank space begins and ends where the visible character before it ends.
        """
        first, last = self._code.count_before(start), self._code.count_before(end)
        behind = self._text.offset_of(last - 1) + 1 if last else 0
        return (self._text.offset_of(first), behind) if first < last else (behind, behind)


class _Runs:
    """The visible characters of a text, in runs without blank space."""

    def __init__(self, text: str) -> None:
        found = list(_VISIBLE.finditer(text))
        self._runs = [run.group() for run in found]
        self._starts = [run.start() for run in found]
        self._ends = [run.end() for run in found]
        self._counts = [0, *accumulate(len(run) for run in self._runs)]

    def first_difference(self, other: _Runs) -> int | None:
        """The offset in the other text of the first visible character that is not the same here; None if all are."""
        mine, theirs = "".join(self._runs), "".join(other._runs)
        if mine == theirs:
            return None
        same = next((number for number, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), len(mine))
        return other.offset_of(min(same, len(theirs) - 1)) if theirs else 0

    def count_before(self, offset: int) -> int:
        """How many visible characters stand before an offset."""
        run = bisect_right(self._starts, offset) - 1
        return 0 if run < 0 else self._counts[run] + min(offset, self._ends[run]) - self._starts[run]

    def offset_of(self, number: int) -> int:
        """Where a visible character stands, counted from 0."""
        run = bisect_right(self._counts, number) - 1
        return self._starts[run] + number - self._counts[run]
