"""A bare tree held against a whole one of the same text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from dataloader_lint.source.fast_tree.nodes import SHARED, Node, UnlikeError

_FORMATTED = (cst.FormattedString, cst.FormattedStringExpression)


def is_bare(module: cst.Module) -> bool:
    """True if a tree lacks all that says how the module is laid out."""
    return not hasattr(module, "header")


def pairs(bare: Node, whole: Node) -> Iterator[tuple[Node, Node]]:
    """Each node of a tree, mostly a bare one, with the one that stands in its place in a whole one.

    Raises UnlikeError where the trees differ.
    """
    stack = [(bare, whole)]
    while stack:
        mine, other = stack.pop()
        if type(mine) is not type(other):
            raise UnlikeError(f"{type(mine).__name__} for {type(other).__name__}")
        yield mine, other
        for field in mine.__slots__:
            own = getattr(mine, field, None)
            if isinstance(own, Node) and id(own) not in SHARED:
                stack.append((own, getattr(other, field)))
            elif isinstance(own, (list, tuple)):
                theirs: Sequence[Node] = getattr(other, field) or ()
                if type(mine) in _FORMATTED:  # texts may be cut differently, expressions may not
                    own, theirs = _expressions(own), _expressions(theirs)
                if len(own) != len(theirs):
                    raise UnlikeError(f"{len(own)} for {len(theirs)} of {field} in {type(mine).__name__}")
                stack.extend(zip(own, theirs, strict=True))


def _expressions(parts: Sequence[Node]) -> list[Node]:
    return [part for part in parts if type(part) is cst.FormattedStringExpression]
