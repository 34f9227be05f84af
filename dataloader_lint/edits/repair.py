"""What a repair is made of. Free of LibCST, so that naming these types costs nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from dataloader_lint.diagnostics import Fix, Position, Safety, TextEdit


class RefusedError(Exception):
    """Raised by the helpers where they cannot be sure; the finding then stays without a repair."""


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the text from `start` up to `end` (offsets in the decoded file) by `content`; insert where equal.

    Of insertions at one place those of lower `rank` come first.
    """

    start: int
    end: int
    content: str
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Repair:
    """The fix of one finding: all `edits` or none of them. `title` says in the imperative what they do."""

    safety: Safety
    title: str
    edits: tuple[Edit, ...]


def fix_of(repair: Repair, starts: Sequence[int]) -> Fix:
    """A repair of a text, whose lines begin at `starts`, as diagnostics carry it."""

    def place(offset: int) -> Position:
        line = bisect_right(starts, offset) - 1
        return Position(line + 1, offset - starts[line])

    edits = sorted(dict.fromkeys(repair.edits), key=_order)
    return Fix(
        repair.safety, repair.title, tuple(TextEdit(place(one.start), place(one.end), one.content) for one in edits)
    )


def _order(edit: Edit) -> tuple[int, int, int]:
    return (edit.start, edit.end, edit.rank)


def splice(text: str, edits: list[Edit]) -> str:
    """The text with all edits applied. They must not overlap; insertions at one place keep their order."""
    parts: list[str] = []
    position = 0
    for edit in sorted(edits, key=_order):
        if edit.start < position:
            raise ValueError("edits overlap")
        parts += (text[position : edit.start], edit.content)
        position = edit.end
    parts.append(text[position:])
    return "".join(parts)
