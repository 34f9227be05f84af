"""What a file would become, as a diff."""

from __future__ import annotations

import sys

from dataloader_lint.cli.terminal import paint_for, show
from dataloader_lint.output import diff
from dataloader_lint.output.text import shown_path
from dataloader_lint.source import notebooks
from dataloader_lint.source.decoding import decode


def show_diff(path: str, old: bytes, new: bytes) -> None:
    """Print what changed in a file, of a notebook cell by cell."""
    name, paint, for_eyes = shown_path(path), paint_for(sys.stdout), sys.stdout.isatty()
    if not path.endswith(notebooks.SUFFIX):
        show(diff.emit(name, decode(old), decode(new), paint, for_eyes=for_eyes))
        return
    for number, before, after in notebooks.changed_cells(old, new):
        # Few cells end with a newline, and nobody wants to hear of it.
        old_cell, new_cell = before.rstrip("\n") + "\n", after.rstrip("\n") + "\n"
        show(diff.emit(f"{name}:cell {number}", old_cell, new_cell, paint, for_eyes=for_eyes))
