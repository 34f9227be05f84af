"""Notes below a report in full: each of them, as whole as fits the screen, else how many there are of each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output import concise, listing
from dataloader_lint.output.levels import plural
from dataloader_lint.output.paint import Paint
from dataloader_lint.output.text import wrapped

TITLE = "Notes (true, but small or of unknown size)"


def emit(notes: Sequence[Diagnostic], paint: Paint, *, unsafe: bool = False) -> Iterator[str]:
    """Yields a line for each note, for what reads the output."""
    if notes:
        yield paint("strong", "Notes:")
        yield from concise.emit(notes, paint, unsafe=unsafe)
        yield ""


def fitting(
    notes: Sequence[Diagnostic], paint: Paint, width: int, room: int | None, *, unsafe: bool = False
) -> tuple[list[str], bool]:
    """The lines for a terminal of `width` columns with `room` for so many, and True if they hold each note whole.

    Without `room` all are wanted, and whole.
    """
    if not notes:
        return [], True
    for number, lines in enumerate(listing.versions(notes, paint, width, unsafe=unsafe)):
        if room is None or len(lines) + 2 <= room:
            return [paint("strong", f"{TITLE}:"), *lines, ""], not number
    return [*counts(notes, width), ""], False


def counts(notes: Sequence[Diagnostic], width: int) -> list[str]:
    """How many notes there are of each rule."""
    by_code = Counter(one.code for one in notes).most_common()
    listed = ", ".join(f"{count} {code}" for code, count in by_code)
    return wrapped(f"{plural(len(notes), 'note')}, shown by `--full`: {listed}", width)
