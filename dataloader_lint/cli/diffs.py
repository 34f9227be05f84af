"""What a file would become, as a diff."""

from __future__ import annotations

import os
import sys

from dataloader_lint.cli.terminal import complain, paint_for, show
from dataloader_lint.output import diff
from dataloader_lint.output.paint import plain
from dataloader_lint.output.text import holds_command, shown_path
from dataloader_lint.source import notebooks
from dataloader_lint.source.decoding import decode

# What CI services that read commands from logs are known by.
_SERVICES = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")


def show_diff(path: str, old: bytes, new: bytes) -> None:
    """Print what changed in a file, of a notebook cell by cell."""
    name = shown_path(path)
    if not path.endswith(notebooks.SUFFIX):
        _show(name, decode(old), decode(new))
        return
    for number, before, after in notebooks.changed_cells(old, new):
        # Few cells end with a newline, and nobody wants to hear of it.
        _show(f"{name}:cell {number}", before.rstrip("\n") + "\n", after.rstrip("\n") + "\n")


def _show(name: str, old: str, new: str) -> None:
    paint, for_eyes = paint_for(sys.stdout), sys.stdout.isatty()
    if not for_eyes and any(service in os.environ for service in _SERVICES):
        # What reads the log would carry out what stands there.
        for_eyes = holds_command("\n".join(diff.emit(name, old, new, plain)))
        if for_eyes:
            complain(f"{name}: the diff holds what CI services take for a command; as shown here it cannot be applied")
    show(diff.emit(name, old, new, paint, for_eyes=for_eyes))
