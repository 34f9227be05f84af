"""Where the command's words go: standard output, standard error, their width and colours."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from dataloader_lint.output.paint import Paint


_color = "auto"


def use_color(choice: str) -> None:
    """Take over what `--color` says: auto, always or never."""
    global _color  # noqa: PLW0603
    _color = choice


def width(elsewhere: int) -> int:
    """How many columns the terminal has, or what to assume where the output goes elsewhere."""
    try:
        return max(40, os.get_terminal_size(sys.stdout.fileno()).columns or elsewhere)
    except (OSError, ValueError):
        return elsewhere


def height() -> int | None:
    """How many lines the terminal has; None where the output goes elsewhere."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).lines or None if sys.stdout.isatty() else None
    except (OSError, ValueError):
        return None


# Of these it is known that they show hyperlinks.
_LINKING_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "WarpTerminal"})
_FIRST_LINKING_VTE = 5000


def has_links() -> bool:
    """True if the output goes to a terminal that shows hyperlinks (OSC 8), as far as its environment says."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ or _color == "never":
        return False
    vte = os.environ.get("VTE_VERSION", "")
    return (
        os.environ.get("TERM_PROGRAM", "") in _LINKING_PROGRAMS
        or (vte.isdigit() and int(vte) >= _FIRST_LINKING_VTE)
        or "WT_SESSION" in os.environ
        or "KITTY_WINDOW_ID" in os.environ
    )


def paint_for(stream: TextIO) -> Paint:
    """Colors if the stream is a terminal, unless `--color`, NO_COLOR or FORCE_COLOR says otherwise."""
    from dataloader_lint.output import paint

    return paint.choose(stream, os.environ, _color)


def show(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Print lines, to standard output where no stream is given."""
    stream = stream or sys.stdout
    if hasattr(stream, "reconfigure"):  # an arrow or a name that the terminal cannot show must not end the run
        stream.reconfigure(errors="backslashreplace")
    for line in lines:
        print(line, file=stream)
    stream.flush()


def complain(message: str) -> None:
    """Say on standard error, in one line, what is wrong."""
    from dataloader_lint.output.text import fitted, neutralise

    for line in fitted(f"dataloader-lint: {neutralise(message)}", sys.stderr):
        print(line, file=sys.stderr)
    sys.stderr.flush()
