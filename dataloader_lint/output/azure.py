"""Logging commands that Azure Pipelines shows as issues of a build.

https://learn.microsoft.com/en-us/azure/devops/pipelines/scripts/logging-commands#logissue-log-an-error-or-warning
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output.levels import NAMES
from dataloader_lint.output.places import cell_prefix, path_from
from dataloader_lint.output.text import neutralise

_ESCAPES = (("%", "%AZP25"), ("\r", "%0D"), ("\n", "%0A"), (";", "%3B"), ("]", "%5D"))


def emit(diagnostics: Iterable[Diagnostic], root: str) -> Iterator[str]:
    """Yields one command a finding."""
    for one in diagnostics:
        values = {"type": NAMES[one.level].azure, "sourcepath": neutralise(path_from(root, one.filename))}
        if one.cell is None:
            values |= {"linenumber": str(one.start.line), "columnnumber": str(one.start.column + 1)}
        values["code"] = one.code
        properties = "".join(f"{name}={_property(value)};" for name, value in values.items())
        yield f"##vso[task.logissue {properties}]{neutralise(cell_prefix(one) + one.whole_message)}"


def _property(text: str) -> str:
    for character, escape in _ESCAPES:
        text = text.replace(character, escape)
    return text
