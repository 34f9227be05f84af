"""Where findings are, as services that show them beside the code want to be told."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from dataloader_lint.diagnostics import Diagnostic

Lines = Callable[[Diagnostic], Sequence[str]]
"""The lines of the file (or of the notebook's cell) that a finding is in; empty where they cannot be read."""

_CHECKOUTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")  # what GitHub and GitLab call the folder of the repository


def root_folder(environment: Mapping[str, str]) -> str:
    """What paths in reports count from: the checkout that a CI service names, if we are in it, or else this folder."""
    here = os.getcwd()
    for name in _CHECKOUTS:
        checkout = environment.get(name)
        if checkout and os.path.isabs(checkout) and _below(here, checkout) is not None:
            return os.path.normpath(checkout)
    return here


def path_from(root: str, filename: str) -> str:
    """A file's path with forward slashes, relative where it lies below `root`, and absolute elsewhere."""
    path = os.path.abspath(filename)
    below = _below(path, root)
    return (path if below is None else below).replace(os.sep, "/")


def cell_prefix(one: Diagnostic) -> str:
    """What goes before the message of a finding in a notebook, where a line of the file would mean nothing."""
    return f"cell {one.cell}, line {one.start.line}: " if one.cell is not None else ""


def _below(path: str, folder: str) -> str | None:
    folder = os.path.normpath(folder)
    if path == folder:
        return "."
    inside = folder.rstrip(os.sep) + os.sep
    return path.removeprefix(inside) if path.startswith(inside) else None
