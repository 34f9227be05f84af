"""What fixing would change, as a unified diff that `patch -p0` and `git apply -p0` read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from dataloader_lint.output.paint import Paint
from dataloader_lint.output.text import draw_line

_LINES = re.compile(r"[^\n]*\n|[^\n]+")


def emit(name: str, before: str, after: str, paint: Paint, *, for_eyes: bool = False) -> Iterator[str]:
    """Yields the lines of the diff without their ends; carriage returns stay, as they are part of the content.

    With `for_eyes`, on a terminal, whatever could act on it is spelled out; who applies the diff needs it as it is.
    """
    old, new = _LINES.findall(before), _LINES.findall(after)
    for line in difflib.unified_diff(old, new, name, name):
        bare = line.removesuffix("\n")
        yield paint(_style(line), _drawn(bare) if for_eyes else bare)
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _drawn(line: str) -> str:
    drawn = draw_line(line.removesuffix("\r"))[0]
    return drawn.replace("::", r"\x3a:", 1) if drawn.lstrip().startswith("::") else drawn


def _style(line: str) -> str:
    if line.startswith(("---", "+++")):
        return "strong"
    if line.startswith("@@"):
        return "help"
    return "added" if line.startswith("+") else "removed" if line.startswith("-") else "context"
