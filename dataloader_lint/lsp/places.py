"""Places in a text as the linter counts them and as editors do.

The linter counts lines from 1 and columns in characters, editors lines from 0 and columns in the code units that client
and server agreed on, UTF-16 unless the client knows better. Lines end where Python says so: a form feed ends none.
"""

from __future__ import annotations

import difflib

from lsprotocol import types

from dataloader_lint.diagnostics import Position, TextEdit
from dataloader_lint.source.decoding import line_starts, split_lines

ENCODINGS = {
    types.PositionEncodingKind.Utf8: ("utf-8", 1),
    types.PositionEncodingKind.Utf16: ("utf-16-le", 2),
    types.PositionEncodingKind.Utf32: ("utf-32-le", 4),
}


class Places:
    """Turns places of one text into those of the client and back."""

    def __init__(self, text: str, units: types.PositionEncodingKind | str) -> None:
        self._text = text
        self._lines = split_lines(text)
        self._encoding, self._width = ENCODINGS[types.PositionEncodingKind(units)]

    def range(self, start: Position, end: Position) -> types.Range:
        """From `start` up to `end`, for the client."""
        return types.Range(self._there(start), self._there(end))

    def edit(self, one: TextEdit) -> types.TextEdit:
        """An edit, for the client."""
        return types.TextEdit(self.range(one.start, one.end), one.content)

    def here(self, position: types.Position) -> Position:
        """A place of the client's, at the nearest character before it."""
        if position.line >= len(self._lines):
            return Position(len(self._lines), len(self._lines[-1]))
        encoded = self._encode(self._lines[position.line])
        before = encoded[: position.character * self._width].decode(self._encoding, "ignore")
        return Position(position.line + 1, len(before))

    def changes(self, new: str) -> list[types.TextEdit]:
        """The edits that make `new` of the text, line by line, so that cursors and folds elsewhere stay."""
        starts, before = line_starts(self._text), _with_ends(self._text)
        after = _with_ends(new)
        edits = []
        for kind, first, last, from_, to in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if kind != "equal":
                place = types.Range(self._line(first, starts), self._line(last, starts))
                edits.append(types.TextEdit(place, "".join(after[from_:to])))
        return edits

    def _line(self, number: int, starts: list[int]) -> types.Position:
        """Where a line begins (counted from 0); the end of the text behind the last one."""
        if number < len(starts):
            return types.Position(number, 0)
        return self._there(Position(len(self._lines), len(self._lines[-1])))

    def _there(self, place: Position) -> types.Position:
        line = self._lines[place.line - 1] if place.line <= len(self._lines) else ""
        return types.Position(place.line - 1, len(self._encode(line[: place.column])) // self._width)

    def _encode(self, text: str) -> bytes:
        return text.encode(self._encoding, "surrogatepass")


def _with_ends(text: str) -> list[str]:
    """The lines of a text with their ends."""
    starts = line_starts(text)
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
