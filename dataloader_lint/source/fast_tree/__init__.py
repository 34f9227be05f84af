"""A LibCST tree with only what carries meaning, made with Python's own parser, which is some ten times as fast.

Most files that are opened have nothing to be reported and nothing to be fixed, so their layout is never needed.
Such a tree has the nodes of LibCST's own, without blank space, comments, commas and parentheses. Where these are
needed, LibCST parses the text, and `pairs` says which of its nodes corresponds to which.
"""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from dataloader_lint.source.fast_tree.nodes import UnlikeError
from dataloader_lint.source.fast_tree.pairing import is_bare, pairs
from dataloader_lint.source.fast_tree.statements import Statements

if TYPE_CHECKING:
    import libcst as cst

__all__ = ["UnlikeError", "bare_tree", "is_bare", "pairs", "parse_as_python"]


def bare_tree(text: str, parsed: ast.Module | None = None) -> cst.Module:
    """The bare tree of a module, made from what Python has parsed it into, if that is given.

    Raises UnlikeError where the whole one is needed, be it to tell what is wrong.
    """
    try:
        return Statements(text).module(parsed or parse_as_python(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnlikeError(str(error)) from None


def parse_as_python(text: str) -> ast.Module:
    """What Python makes of a text, with the errors that `ast.parse` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python thinks of the escapes in this file is not our business
        return ast.parse(text)
