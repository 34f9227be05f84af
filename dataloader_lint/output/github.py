"""Workflow commands that GitHub Actions shows as annotations beside the changed lines.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output.levels import NAMES
from dataloader_lint.output.places import path_from
from dataloader_lint.output.text import neutralise, shown_place


def emit(diagnostics: Iterable[Diagnostic], name_of: Callable[[str], str], root: str) -> Iterator[str]:
    """Yields one command a finding. The message names the place again, for whoever reads the log instead."""
    for one in diagnostics:
        values = {"title": f"{one.code} {name_of(one.code)}", "file": neutralise(path_from(root, one.filename))}
        if one.cell is None:
            values |= {"line": str(one.start.line), "endLine": str(one.end.line)}
            if one.start.line == one.end.line:  # columns of two lines are not understood
                values |= {"col": str(one.start.column + 1), "endColumn": str(one.end.column + 1)}
        properties = ",".join(f"{name}={_property(value)}" for name, value in values.items())
        command, text = NAMES[one.level].github, f"{shown_place(one)}: {one.code} {neutralise(one.whole_message)}"
        yield f"::{command} {properties}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
