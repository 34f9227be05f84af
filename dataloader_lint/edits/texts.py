"""What edits are applied to: the text of a file, or the cells of a notebook. Both refuse what would break them."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from dataloader_lint.edits.repair import Edit, splice
from dataloader_lint.source.cells import Module, join


@dataclass(frozen=True, slots=True)
class PlainText:
    """The text of a Python file, and the encoding that it is written in."""

    text: str
    encoding: str

    def spliced(self, edits: Sequence[Edit]) -> PlainText | None:
        """The text with edits applied; None where it could not be encoded, or would compile no more."""
        text = splice(self.text, list(edits))
        if not _can_be_encoded(text, self.encoding) or (_compiles(self.text) and not _compiles(text)):
            return None
        return PlainText(text, self.encoding)


@dataclass(frozen=True, slots=True)
class CellText:
    """The cells of a notebook, edited as the one module that they make."""

    cells: Module

    @property
    def text(self) -> str:
        return self.cells.text

    def spliced(self, edits: Sequence[Edit]) -> CellText | None:
        """The cells with edits applied; None where that means something else to IPython, or a cell compiles no more."""
        texts = self.cells.spliced([(each.start, each.end, each.content) for each in edits])
        if texts is None:
            return None
        after = join(texts)
        if after.text != splice(self.text, list(edits)):
            return None
        pairs = zip(self.cells.parts(), after.parts(), strict=True)
        if any(_compiles(old, _AWAITING) and not _compiles(new, _AWAITING) for old, new in pairs if old != new):
            return None
        return CellText(after)


_AWAITING = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def _can_be_encoded(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeError:
        return False
    return True


def _compiles(text: str, flags: int = 0) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of the file's other lines is not our business
            compile(text, "<fixed>", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
