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


def show_paged(lines: Iterable[str]) -> None:
    """Print lines to standard output, through a pager where they are more than the terminal has.

    As for git, PAGER names the pager and `cat` or nothing stands for none; NO_PAGER and CI have none at all.
    """
    several = list(lines)
    rows, command = height(), _pager()
    if rows is None or not command or sum(line.count("\n") + 1 for line in several) < rows:
        show(several)
        return
    import subprocess
    from contextlib import suppress

    environment = {"LESS": "FRX", **os.environ}  # colors, and what was read stays on the screen
    text = "".join(f"{line}\n" for line in several).encode(sys.stdout.encoding, "backslashreplace")
    pager = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env=environment)
    if pager.stdin is not None:
        with suppress(KeyboardInterrupt, BrokenPipeError), pager.stdin as stream:
            stream.write(text)
    while pager.poll() is None:
        # Ctrl-C is for the pager, which goes on: left alone, it would share the terminal with the shell.
        with suppress(KeyboardInterrupt):
            pager.wait()


def _pager() -> str:
    """The command of the pager; empty if there is none, or none that can be run."""
    if "NO_PAGER" in os.environ or "CI" in os.environ or os.environ.get("TERM") == "dumb":
        return ""
    import shutil

    wanted = os.environ.get("PAGER", "less").strip()
    if wanted in ("", "cat"):
        return ""
    program = next((word for word in wanted.split() if "=" not in word), "")  # as in `LESS=R less`
    return wanted if shutil.which(program) else ""


def complain(message: str) -> None:
    """Say on standard error, in one line, what is wrong."""
    from dataloader_lint.output.text import fitted, neutralise

    for line in fitted(f"dataloader-lint: {neutralise(message)}", sys.stderr):
        print(line, file=sys.stderr)
    sys.stderr.flush()
