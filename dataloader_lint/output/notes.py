"""Notes below a report in full: a line each as far as they fit, else how many there are of each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output import concise
from dataloader_lint.output.levels import plural
from dataloader_lint.output.paint import Paint


def emit(
    notes: Sequence[Diagnostic], paint: Paint, room: int | None, *, unsafe: bool = False, width: int | None = None
) -> Iterator[str]:
    """Yields the lines. `room` is how many lines fit, of `width` columns; None where all are wanted, and whole."""
    if not notes:
        return
    if room is None or len(notes) + 2 <= room:
        yield paint("strong", "Notes:")
        yield from concise.emit(notes, paint, unsafe=unsafe, width=width)
        yield ""
        return
    counts = Counter(one.code for one in notes).most_common()
    listed = ", ".join(f"{count} {paint('note', code)}" for code, count in counts)
    yield f"{plural(len(notes), 'note')}, which {paint('help', '--notes')} shows: {listed}"
    yield ""
